// From descriptions to the document of a model file.

import CairnModel
import Foundation

/// Makes a document of a model, and notes what a model file can't say.
struct DocumentWriter {
  private var notes: [ModelNote] = []
  private var entityName: String?
  private var propertyName: String?

  static func document(of model: NSManagedObjectModel) -> ModelDocument {
    var writer = DocumentWriter()
    var document = ModelDocument(entities: model.entities.map { writer.entity($0) })
    document.configurations = model.configurations.map { name in
      ModelDocument.Configuration(
        name, entityNames: (model.entitiesByConfiguration[name] ?? []).compactMap(\.name))
    }
    document.fetchRequests = model.templates.keys.sorted().compactMap { name in
      (writer.entityName, writer.propertyName) = (name, nil)
      return model.templates[name].map { writer.request($0, named: name) }
    }
    document.versionIdentifiers = model.versionIdentifiers.compactMap { $0.base as? String }.sorted()
    document.notes = writer.notes
    return document
  }

  /// An entity with the ancestors that its version hash hangs on.
  static func document(of entity: NSEntityDescription) -> ModelDocument {
    var writer = DocumentWriter()
    return ModelDocument(entities: entity.lineage.map { writer.entity($0) })
  }

  static func property(_ property: NSPropertyDescription) -> ModelDocument.Property? {
    var writer = DocumentWriter()
    return writer.property(property)
  }

  private mutating func lose(_ message: String) {
    notes.append(ModelNote(.warning, message, entity: entityName, property: propertyName))
  }

  // MARK: Entities

  private mutating func entity(_ source: NSEntityDescription) -> ModelDocument.Entity {
    (entityName, propertyName) = (source.name, nil)
    var entity = ModelDocument.Entity(source.name ?? "", isAbstract: source.isAbstract, isSyncable: true)
    let className = source.managedObjectClassName ?? "NSManagedObject"
    if className != "NSManagedObject" {
      entity.isClassInCurrentModule = className.hasPrefix(".")
      entity.className = entity.isClassInCurrentModule ? String(className.dropFirst()) : className
    }
    entity.superentity = source.superentity?.name ?? source.superentityName
    entity.renamingIdentifier = source.renamingIdentifier == source.name ? nil : source.renamingIdentifier
    entity.versionHashModifier = source.versionHashModifier
    entity.uniquenessConstraints = source.constraintNames.map { $0.compactMap { $0 } }
    entity.compoundIndexes = source.compoundIndexes.map { $0.compactMap(NSEntityDescription.propertyName) }
    entity.userInfo = userInfo(source.userInfo)
    if let expression = source.givenDisplayName {
      entity.coreSpotlightDisplayNameExpression = text(expression.tree)
    }
    entity.fetchIndexes = source.indexes.map { index($0) }
    entity.properties = source.ownProperties.compactMap { property($0) }
    return entity
  }

  private mutating func index(_ source: NSFetchIndexDescription) -> ModelDocument.FetchIndex {
    ModelDocument.FetchIndex(
      source.name,
      elements: source.elements.compactMap { element in
        let kind: ModelDocument.FetchIndex.Element.Kind = element.collationType == .rTree ? .rTree : .binary
        guard let subject = subject(element) else { return nil }
        return .init(subject, kind: kind, isAscending: element.isAscending)
      },
      partialPredicate: source.partialIndexPredicate.flatMap { text($0) })
  }

  private mutating func subject(
    _ element: NSFetchIndexElementDescription
  ) -> ModelDocument.FetchIndex.Element.Subject? {
    guard let computed = element.property as? NSExpressionDescription else {
      return .property(element.propertyName ?? "")
    }
    guard let expression = computed.expression.flatMap({ text($0.tree) }) else { return nil }
    return .expression(expression, .init(rawValue: Int(computed.resultType.rawValue)) ?? .undefined)
  }

  // MARK: Properties

  private mutating func property(_ source: NSPropertyDescription) -> ModelDocument.Property? {
    propertyName = source.name
    switch source {
    case let source as NSAttributeDescription: return .attribute(attribute(source))
    case let source as NSRelationshipDescription: return .relationship(relationship(source))
    case let source as NSFetchedPropertyDescription: return fetched(source).map { .fetched($0) }
    default:
      lose("an expression is no property of an entity")
      return nil
    }
  }

  private mutating func attribute(_ source: NSAttributeDescription) -> ModelDocument.Attribute {
    var made = ModelDocument.Attribute(
      source.name, source.type.kind ?? .undefined, isOptional: source.isOptional,
      isTransient: source.isTransient, isSyncable: true)
    made.defaultValue = defaultValue(of: source)
    made.validation = validation(of: source)
    made.allowsExternalBinaryDataStorage = source.allowsExternalBinaryDataStorage
    made.preservesValueInHistoryOnDeletion = source.preservesValueInHistoryOnDeletion
    made.isIndexedBySpotlight = source.isIndexedBySpotlight
    made.allowsCloudEncryption = source.allowsCloudEncryption
    made.isIndexed = source.isIndexed
    made.valueTransformerName = source.valueTransformerName
    if source.attributeValueClassName != source.type.valueClassName {
      made.customClassName = source.attributeValueClassName
    }
    if let derived = source as? NSDerivedAttributeDescription,
      let text = derived.derivationExpression.flatMap({ text($0.tree) })
    {
      made.derivation = .init(text, filteringPredicate: derived.filteringPredicate.flatMap { self.text($0) })
    }
    if let composite = source as? NSCompositeAttributeDescription {
      if let fault = composite.nestingFault() {
        lose(fault)
      } else {
        made.elements = composite.elements.map { attribute($0) }
      }
    }
    made.renamingIdentifier = source.renamingIdentifier == source.name ? nil : source.renamingIdentifier
    made.versionHashModifier = source.versionHashModifier
    made.userInfo = userInfo(source.userInfo)
    return made
  }

  private mutating func defaultValue(of source: NSAttributeDescription) -> Value {
    guard let given = source.defaultValue else { return .null }
    guard let type = ValueType(source.type), let value = Value(given, for: type) else {
      lose("a model file has no words for the default value \(given)")
      return .null
    }
    return value
  }

  private mutating func validation(of source: NSAttributeDescription) -> ModelDocument.Validation {
    var made = ModelDocument.Validation()
    for validation in source.validations {
      let rule = ValidationRule(validation.predicate.tree)
      // What an inspector's field says is the rule alone, with its own error and no words.
      if validation.message == nil, validation.code == rule.errorCode(isDate: source.type == .date),
        made.take(rule, of: source.type.kind ?? .undefined)
      {
        continue
      }
      guard let text = text(validation.predicate) else { continue }
      made.others.append(.init(text, warning: validation.message ?? String(validation.code)))
    }
    return made
  }

  private mutating func relationship(_ source: NSRelationshipDescription) -> ModelDocument.Relationship {
    var made = ModelDocument.Relationship(
      source.name, to: source.currentDestinationName ?? "", inverse: source.currentInverseName,
      inverseEntity: source.inverseRelationship?.owner?.name, isOptional: source.isOptional,
      isTransient: source.isTransient, minCount: source.minCount, maxCount: source.maxCount,
      isOrdered: source.isOrdered, isSyncable: true)
    made.deleteRule = SchemaDeleteRule(rawValue: Int(source.deleteRule.rawValue)) ?? .nullify
    made.isIndexed = source.isIndexed
    made.isIndexedBySpotlight = source.isIndexedBySpotlight
    made.renamingIdentifier = source.renamingIdentifier == source.name ? nil : source.renamingIdentifier
    made.versionHashModifier = source.versionHashModifier
    made.userInfo = userInfo(source.userInfo)
    if !source.validationPredicates.isEmpty { lose("a model file has no validation of relationships") }
    return made
  }

  private mutating func fetched(_ source: NSFetchedPropertyDescription) -> ModelDocument.FetchedProperty? {
    guard let request = source.fetchRequest else {
      lose("a fetched property without a request isn't kept")
      return nil
    }
    var made = ModelDocument.FetchedProperty(
      source.name, isOptional: source.isOptional, isSyncable: true,
      request: self.request(request, named: ModelDocument.FetchedProperty.requestName))
    made.renamingIdentifier = source.renamingIdentifier == source.name ? nil : source.renamingIdentifier
    made.versionHashModifier = source.versionHashModifier
    made.userInfo = userInfo(source.userInfo)
    return made
  }

  // MARK: Requests, formats, user infos

  private mutating func request(
    _ source: NSFetchRequest<NSFetchRequestResult>, named name: String
  ) -> ModelDocument.FetchRequest {
    let resultType = ModelDocument.FetchRequest.ResultType(rawValue: Int(source.resultType.rawValue))
    if resultType == nil { lose("a fetch request's results are of one type: \(source.resultType.rawValue)") }
    if source.shouldRefreshRefetchedObjects {
      lose("a model file doesn't say whether a fetch request refreshes objects")
    }
    if source.propertiesToFetch?.isEmpty == true {
      lose("a model file has no empty list of properties to fetch: it would mean all of them")
    }
    return ModelDocument.FetchRequest(
      name, entity: source.entityName ?? "", predicate: source.predicate.flatMap { text($0) },
      fetchLimit: source.fetchLimit, fetchOffset: source.fetchOffset, fetchBatchSize: source.fetchBatchSize,
      resultType: resultType ?? .managedObject, includesSubentities: source.includesSubentities,
      includesPropertyValues: source.includesPropertyValues,
      includesPendingChanges: source.includesPendingChanges,
      returnsObjectsAsFaults: source.returnsObjectsAsFaults,
      returnsDistinctResults: source.returnsDistinctResults,
      sortDescriptors: (source.sortDescriptors ?? []).compactMap { sortKey($0) },
      propertiesToFetch: columns(source.propertiesToFetch),
      propertiesToGroupBy: columns(source.propertiesToGroupBy),
      havingPredicate: source.havingPredicate.flatMap { text($0) },
      relationshipKeyPathsForPrefetching: source.relationshipKeyPathsForPrefetching ?? [])
  }

  private mutating func sortKey(_ descriptor: NSSortDescriptor) -> ModelDocument.FetchRequest.SortKey? {
    guard let key = descriptor.key else {
      lose("a sort descriptor without a key isn't kept")
      return nil
    }
    guard let selector = descriptor.selector else {
      lose("the sort descriptor of \(key) compares with a block, and isn't kept")
      return nil
    }
    return .init(
      key, isAscending: descriptor.ascending, selector: selector == .compare ? nil : selector.name)
  }

  /// The names of a request's columns, of which a model file has no computed ones.
  private mutating func columns(_ columns: [Any]?) -> [String] {
    (columns ?? []).compactMap { column in
      if !(column is NSExpressionDescription), let name = NSEntityDescription.propertyName(column) {
        return name
      }
      lose("a model file has only names of a fetch request's columns: \(column) isn't kept")
      return nil
    }
  }

  /// nil for what has no text, as a block has none.
  private mutating func text(_ predicate: NSPredicate) -> String? {
    let tree = predicate.tree
    let text = tree.canonicalFormat
    if let parsed = try? NSPredicate(parsing: text), parsed.tree == tree { return text }
    lose("the predicate \(text) has no text that means the same")
    return nil
  }

  private mutating func text(_ tree: ExpressionTree) -> String? {
    let text = tree.canonicalFormat
    if let parsed = try? NSExpression(parsing: text), parsed.tree == tree { return text }
    lose("the expression \(text) has no text that means the same")
    return nil
  }

  private mutating func userInfo(_ source: [AnyHashable: Any]?) -> [String: String] {
    var made: [String: String] = [:]
    for (key, value) in source ?? [:] {
      guard let key = key.base as? String, let value = value as? String else {
        lose("a model file's user info is made of texts: \"\(key)\" isn't kept")
        continue
      }
      made[key] = value
    }
    return made
  }
}
