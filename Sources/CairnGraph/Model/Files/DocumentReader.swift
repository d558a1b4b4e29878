// From the document of a model file to descriptions.

import CairnModel
import Foundation

/// Makes the descriptions that a document speaks of, and notes what can't be made of it.
struct DocumentReader {
  private let elementsByName: [String: [ModelDocument.Attribute]]
  private var budget = CompositeBudget()
  private var faults: [SchemaError.Fault] = []
  /// Where the part that is read stands.
  private var entityName = ""
  private var propertyName: String?

  /// Fills an empty model. Throws `SchemaError` for predicates and expressions that can't be parsed, composites that
  /// can't be put in line and entities of configurations that aren't there, all of them; what else is wrong is found
  /// when the model is validated or used.
  static func read(_ document: ModelDocument, into model: NSManagedObjectModel) throws {
    var reader = DocumentReader(document: document)
    let entities = document.entities.map { reader.entity($0) }
    for (made, source) in zip(entities, document.entities) { reader.addIndexes(of: source, to: made) }
    model.versionIdentifiers = Set(document.versionIdentifiers.map { AnyHashable($0) })
    model.assemble(entities)
    let byName = model.entitiesByName
    for configuration in document.configurations {
      (reader.entityName, reader.propertyName) = (configuration.name, nil)
      for name in configuration.entityNames where byName[name] == nil {
        reader.fault("the configuration has an entity \"\(name)\", which doesn't exist")
      }
      model.setEntities(
        configuration.entityNames.compactMap { byName[$0] }, forConfigurationName: configuration.name)
    }
    for request in document.fetchRequests {
      (reader.entityName, reader.propertyName) = (request.name, nil)
      model.setFetchRequestTemplate(reader.request(request), forName: request.name)
    }
    if !reader.faults.isEmpty { throw SchemaError(faults: reader.faults) }
  }

  private init(document: ModelDocument) {
    elementsByName = document.elementsByName
  }

  private mutating func fault(_ message: String) {
    faults.append(.init(entity: entityName, property: propertyName, message: message))
  }

  // MARK: Entities

  private mutating func entity(_ source: ModelDocument.Entity) -> NSEntityDescription {
    (entityName, propertyName) = (source.name, nil)
    let entity = NSEntityDescription()
    entity.name = source.name
    entity.managedObjectClassName = Self.className(of: source)
    entity.superentityName = source.superentity
    entity.isAbstract = source.isAbstract
    entity.uniquenessConstraints = source.uniquenessConstraints
    entity.compoundIndexes = source.compoundIndexes
    entity.versionHashModifier = source.versionHashModifier
    entity.userInfo = source.userInfo
    if let old = source.renamingIdentifier { entity.renamingIdentifier = old }
    if let text = source.coreSpotlightDisplayNameExpression, let expression = expression(text) {
      entity.coreSpotlightDisplayNameExpression = expression
    }
    entity.properties = source.properties.map { property($0) }
    return entity
  }

  private static func className(of source: ModelDocument.Entity) -> String {
    guard let name = source.className else { return "NSManagedObject" }
    if source.isClassInCurrentModule { return "." + name }
    return source.classModule.map { $0 + "." + name } ?? name
  }

  private mutating func addIndexes(of source: ModelDocument.Entity, to entity: NSEntityDescription) {
    (entityName, propertyName) = (source.name, nil)
    entity.indexes = source.fetchIndexes.map { index in
      let made = NSFetchIndexDescription(name: index.name, elements: index.elements.map { element($0) })
      made.partialIndexPredicate = index.partialPredicate.flatMap { predicate($0) }
      return made
    }
  }

  /// The element's property is a stand-in, exchanged for the entity's of that name when the model is put together.
  private mutating func element(
    _ source: ModelDocument.FetchIndex.Element
  ) -> NSFetchIndexElementDescription {
    let property: NSPropertyDescription
    switch source.subject {
    case .property(let name):
      property = NSPropertyDescription()
      property.name = name
    case .expression(let text, let kind):
      let made = NSExpressionDescription()
      made.name = text
      made.expression = expression(text)
      made.resultType = .init(rawValue: UInt(kind.rawValue))
      property = made
    }
    let made = NSFetchIndexElementDescription(
      property: property, collationType: source.kind == .rTree ? .rTree : .binary)
    made.isAscending = source.isAscending
    return made
  }

  // MARK: Properties

  private mutating func property(_ source: ModelDocument.Property) -> NSPropertyDescription {
    propertyName = source.name
    return switch source {
    case .attribute(let attribute): self.attribute(attribute, depth: 0)
    case .relationship(let relationship): Self.relationship(relationship)
    case .fetched(let fetched): self.fetched(fetched)
    }
  }

  private mutating func attribute(_ source: ModelDocument.Attribute, depth: Int) -> NSAttributeDescription {
    if depth == 0 { budget.beginAttribute() }
    let made: NSAttributeDescription
    if let derivation = source.derivation {
      let derived = NSDerivedAttributeDescription()
      derived.derivationExpression = expression(derivation.expression)
      derived.filteringPredicate = derivation.filteringPredicate.flatMap { predicate($0) }
      made = derived
    } else if source.kind == .composite {
      let composite = NSCompositeAttributeDescription()
      composite.elements = elements(of: source, depth: depth)
      made = composite
    } else {
      made = NSAttributeDescription()
    }
    if source.kind != .composite { made.type = .init(rawValue: UInt(source.kind.rawValue)) }
    made.defaultValue = source.defaultValue.keyValueForm
    made.allowsExternalBinaryDataStorage = source.allowsExternalBinaryDataStorage
    made.preservesValueInHistoryOnDeletion = source.preservesValueInHistoryOnDeletion
    made.allowsCloudEncryption = source.allowsCloudEncryption
    made.valueTransformerName = source.valueTransformerName
    if let name = source.customClassName {
      made.attributeValueClassName = source.customClassModule.map { $0 + "." + name } ?? name
    }
    made.name = source.name
    made.isOptional = source.isOptional
    made.isTransient = source.isTransient
    made.isIndexed = source.isIndexed
    made.isIndexedBySpotlight = source.isIndexedBySpotlight
    Self.finish(made, source.renamingIdentifier, source.versionHashModifier, source.userInfo)
    addValidation(source.validation, to: made)
    return made
  }

  /// Empty, and a fault, for what can't be put in line.
  private mutating func elements(
    of source: ModelDocument.Attribute, depth: Int
  ) -> [NSAttributeDescription] {
    let elements =
      source.elements.isEmpty
      ? source.compositeName.flatMap { elementsByName[$0] } ?? [] : source.elements
    let isTooDeep = depth >= CompositeBudget.depthLimit
    if !isTooDeep, budget.take(elements.count) { return elements.map { attribute($0, depth: depth + 1) } }
    // One fault an attribute is enough.
    let isSaid = faults.last.map { $0.entity == entityName && $0.property == propertyName } ?? false
    if !isSaid {
      fault(
        isTooDeep
          ? "the composite \"\(source.compositeName ?? source.name)\" has itself among its elements, or is "
            + "nested more than \(CompositeBudget.depthLimit) deep"
          : "its composites stand for too many elements")
    }
    return []
  }

  private mutating func addValidation(
    _ source: ModelDocument.Validation, to attribute: NSAttributeDescription
  ) {
    if !source.rules.isEmpty { attribute.addValidation(source.rules) }
    if source.others.isEmpty { return }
    var predicates = attribute.validationPredicates
    var warnings = attribute.validationWarnings
    for condition in source.others {
      guard let made = predicate(condition.predicate) else { continue }
      predicates.append(made)
      let warning = condition.warning ?? String(NSManagedObjectValidationError)
      warnings.append(Int(warning).map { NSNumber(value: $0) } ?? warning as Any)
    }
    attribute.setValidation(predicates, warnings: warnings)
  }

  private static func relationship(_ source: ModelDocument.Relationship) -> NSRelationshipDescription {
    let made = NSRelationshipDescription()
    made.name = source.name
    made.destinationName = source.destination
    made.inverseName = source.inverseName
    made.isOptional = source.isOptional
    made.isTransient = source.isTransient
    made.minCount = source.minCount
    made.maxCount = source.maxCount
    made.isOrdered = source.isOrdered
    made.deleteRule = NSDeleteRule(rawValue: UInt(source.deleteRule.rawValue)) ?? .nullifyDeleteRule
    made.isIndexed = source.isIndexed
    made.isIndexedBySpotlight = source.isIndexedBySpotlight
    finish(made, source.renamingIdentifier, source.versionHashModifier, source.userInfo)
    return made
  }

  private mutating func fetched(_ source: ModelDocument.FetchedProperty) -> NSFetchedPropertyDescription {
    let made = NSFetchedPropertyDescription()
    made.name = source.name
    made.isOptional = source.isOptional
    made.fetchRequest = request(source.request)
    Self.finish(made, source.renamingIdentifier, source.versionHashModifier, source.userInfo)
    return made
  }

  private static func finish(
    _ property: NSPropertyDescription, _ oldName: String?, _ modifier: String?, _ userInfo: [String: String]
  ) {
    if let oldName { property.renamingIdentifier = oldName }
    property.versionHashModifier = modifier
    property.userInfo = userInfo
  }

  // MARK: Requests and formats

  private mutating func request(
    _ source: ModelDocument.FetchRequest
  ) -> NSFetchRequest<NSFetchRequestResult> {
    let made = NSFetchRequest<NSFetchRequestResult>(entityName: source.entity)
    made.predicate = source.predicate.flatMap { predicate($0) }
    made.sortDescriptors =
      source.sortDescriptors.isEmpty
      ? nil
      : source.sortDescriptors.map { key in
        NSSortDescriptor(
          key: key.key, ascending: key.isAscending, selector: key.selector.map { Selector($0) })
      }
    made.fetchLimit = source.fetchLimit
    made.fetchOffset = source.fetchOffset
    made.includesSubentities = source.includesSubentities
    made.includesPendingChanges = source.includesPendingChanges
    made.resultType = NSFetchRequestResultType(rawValue: UInt(source.resultType.rawValue))
    made.fetchBatchSize = source.fetchBatchSize
    made.includesPropertyValues = source.includesPropertyValues
    made.returnsObjectsAsFaults = source.returnsObjectsAsFaults
    made.returnsDistinctResults = source.returnsDistinctResults
    made.propertiesToFetch = source.propertiesToFetch.isEmpty ? nil : source.propertiesToFetch
    made.propertiesToGroupBy = source.propertiesToGroupBy.isEmpty ? nil : source.propertiesToGroupBy
    made.havingPredicate = source.havingPredicate.flatMap { predicate($0) }
    made.relationshipKeyPathsForPrefetching =
      source.relationshipKeyPathsForPrefetching.isEmpty ? nil : source.relationshipKeyPathsForPrefetching
    return made
  }

  private mutating func predicate(_ text: String) -> NSPredicate? {
    do {
      return try NSPredicate(parsing: text)
    } catch {
      fault("the predicate \(text) can't be understood: \(error)")
      return nil
    }
  }

  private mutating func expression(_ text: String) -> NSExpression? {
    do {
      return try NSExpression(parsing: text)
    } catch {
      fault("the expression \(text) can't be understood: \(error)")
      return nil
    }
  }
}
