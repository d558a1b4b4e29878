// Writes a document as a `.mom`.

public import Foundation

extension ModelDocument {
  /// The document as a compiled model: what `reduced(to: .compiled)` has kept of it.
  ///
  /// Throws `ModelFileError` for a predicate or expression whose text can't be parsed, a relationship to an entity
  /// that isn't there, or whatever else an archive can't hold; `check()` finds these beforehand.
  public func compiledData() throws -> Data {
    var writer = ModelArchiveWriter(document: compiled)
    return try writer.write()
  }
}

/// Writes the objects of one model.
struct ModelArchiveWriter {
  let document: ModelDocument
  var archive = ArchiveWriter()
  /// The numbers of entities by name, and of properties by the names of entity and property.
  private var entityNumbers: [String: Int] = [:]
  private var propertyNumbers: [String: [String: Int]] = [:]
  private let entities: [String: ModelDocument.Entity]
  /// The keys of an object of its own, which real files share too.
  private var noUserInfo: Int?

  init(document: ModelDocument) {
    self.document = document
    entities = Dictionary(document.entities.map { ($0.name, $0) }) { first, _ in first }
  }

  mutating func write() throws -> Data {
    let root = archive.reserve()
    guard entities.count == document.entities.count else {
      throw unwritable("two entities have the same name", nil)
    }
    for entity in document.entities {
      entityNumbers[entity.name] = archive.reserve()
      var numbers: [String: Int] = [:]
      for property in entity.properties {
        guard numbers.updateValue(archive.reserve(), forKey: property.name) == nil else {
          throw unwritable("two properties have the name \(property.name)", entity.name)
        }
      }
      propertyNumbers[entity.name] = numbers
    }
    for entity in document.entities { try write(entity, root: root) }
    let entities = archive.dictionary(document.entities.map { ($0.name, entityNumbers[$0.name] ?? 0) })
    var fields: [(String, ArchiveWriter.Field)] = [
      ("NSEntities", .reference(entities)), ("NSFetchRequestTemplates", .reference(try templates())),
      (
        "NSVersionIdentifiers",
        .reference(archive.list(document.versionIdentifiers.map { archive.string($0) }, "NSSet"))
      ),
    ]
    if !document.configurations.isEmpty {
      var members: [(key: String, value: Int)] = []
      for configuration in document.configurations {
        let numbers = try configuration.entityNames.map { try entityNumber($0, configuration.name) }
        members.append((configuration.name, archive.list(numbers, "NSSet")))
      }
      fields.append(("NSConfigurations", .reference(archive.dictionary(members))))
    }
    archive.fill(root, "NSManagedObjectModel", fields)
    return archive.file(root: root)
  }

  private mutating func templates() throws -> Int {
    if document.fetchRequests.isEmpty { return ArchiveWriter.null }
    var members: [(key: String, value: Int)] = []
    for request in document.fetchRequests {
      members.append((request.name, try fetchRequest(request, request.name, nil)))
    }
    return archive.dictionary(members)
  }

  func entityNumber(_ name: String, _ owner: String) throws -> Int {
    guard let number = entityNumbers[name] else { throw unwritable("there is no entity \(name)", owner) }
    return number
  }

  /// The number of a property, looked for in the entity and its superentities.
  private func propertyNumber(_ name: String, of entity: String) -> Int? {
    var next: String? = entity
    for _ in 0...ModelDocument.inheritanceDepthLimit {
      guard let owner = next else { return nil }
      if let number = propertyNumbers[owner]?[name] { return number }
      next = entities[owner]?.superentity
    }
    return nil
  }

  func unwritable(_ message: String, _ entity: String?, _ property: String? = nil) -> ModelFileError {
    let place = entity.map { $0 + (property.map { "." + $0 } ?? "") + ": " } ?? ""
    return ModelFileError(
      .unwritable, file: "mom", place + message, remedy: "see what `cairn model check` says of the model")
  }

  /// Runs what throws `UnarchivableTree` or a parser's error.
  mutating func archived(
    _ text: String, _ entity: String?, _ property: String?, _ body: (inout ArchiveWriter) throws -> Int
  ) throws -> Int {
    do {
      return try body(&archive)
    } catch let error as UnarchivableTree {
      throw unwritable("\"\(text)\" has \(error.what), which no compiled model can hold", entity, property)
    } catch {
      throw unwritable("\"\(text)\" can't be parsed (\(error))", entity, property)
    }
  }

  mutating func predicate(_ text: String?, _ entity: String?, _ property: String? = nil) throws -> Int {
    guard let text else { return ArchiveWriter.null }
    return try archived(text, entity, property) { try $0.predicate(PredicateFormat.parse(text)) }
  }

  mutating func expression(_ text: String?, _ entity: String?, _ property: String? = nil) throws -> Int {
    guard let text else { return ArchiveWriter.null }
    return try archived(text, entity, property) { try $0.expression(PredicateFormat.parseExpression(text)) }
  }

  mutating func userInfo(_ userInfo: [String: String]) -> Int {
    if userInfo.isEmpty, let noUserInfo { return noUserInfo }
    let members = userInfo.sorted { $0.key < $1.key }.map { (key: $0.key, value: archive.string($0.value)) }
    let number = archive.dictionary(members, "NSDictionary")
    if userInfo.isEmpty { noUserInfo = number }
    return number
  }

  // MARK: Entities

  private mutating func write(_ entity: ModelDocument.Entity, root: Int) throws {
    let number = try entityNumber(entity.name, entity.name)
    for property in entity.properties {
      try write(property, of: entity, propertyNumbers[entity.name]?[property.name] ?? 0)
    }
    let properties = archive.dictionary(
      entity.properties.map { ($0.name, propertyNumbers[entity.name]?[$0.name] ?? 0) })
    let children = document.entities.filter { $0.superentity == entity.name }
    let subentities = archive.dictionary(children.map { ($0.name, entityNumbers[$0.name] ?? 0) })
    let parent = try entity.superentity.map { try entityNumber($0, entity.name) } ?? ArchiveWriter.null
    var fields: [(String, ArchiveWriter.Field)] = [
      ("NSEntityName", .reference(archive.string(entity.name))),
      ("NSClassNameForEntity", .reference(archive.string(entity.className))),
      ("NSManagedObjectModel", .reference(root)), ("NSProperties", .reference(properties)),
      ("NSSubentities", .reference(subentities)), ("NSSuperentity", .reference(parent)),
      ("NSUserInfo", .reference(userInfo(entity.userInfo))),
      ("NSVersionHashModifier", .reference(archive.string(entity.versionHashModifier))),
      ("NSRenamingIdentifier", .reference(archive.string(entity.renamingIdentifier ?? entity.name))),
    ]
    if entity.isAbstract { fields.append(("NSIsAbstract", .bool(true))) }
    if !entity.uniquenessConstraints.isEmpty {
      fields.append(("NSUniqueTuples", .reference(lists(entity.uniquenessConstraints))))
    }
    let compound = entity.compoundIndexes + entity.fetchIndexes.compactMap(\.propertyNames)
    if !compound.isEmpty { fields.append(("NSCompoundIndexes", .reference(lists(compound)))) }
    if !entity.fetchIndexes.isEmpty {
      var indexes: [Int] = []
      for index in entity.fetchIndexes { indexes.append(try fetchIndex(index, entity.name, number)) }
      fields.append(("NSFetchIndexDescriptions", .reference(archive.list(indexes, "NSMutableArray"))))
    }
    if let text = entity.coreSpotlightDisplayNameExpression {
      fields.append(("NSCoreSpotlightDisplayNameExpression", .reference(try expression(text, entity.name))))
    }
    archive.fill(number, "NSEntityDescription", fields)
  }

  private mutating func lists(_ lists: [[String]]) -> Int {
    let numbers = lists.map { names in
      let members = names.map { archive.string($0) }
      return archive.list(members, "NSMutableArray")
    }
    return archive.list(numbers, "NSMutableArray")
  }

  private mutating func fetchIndex(
    _ index: ModelDocument.FetchIndex, _ entity: String, _ owner: Int
  ) throws -> Int {
    let number = archive.reserve()
    var elements: [Int] = []
    for element in index.elements {
      var fields: [(String, ArchiveWriter.Field)] = [
        ("NSFetchIndexElementType", .integer(element.kind.rawValue)),
        ("NSAscending", .bool(element.isAscending)),
        ("NSFetchIndexDescription", .reference(number)),
      ]
      switch element.subject {
      case .property(let name): fields.append(("NSPropertyName", .reference(archive.string(name))))
      case .expression(let text, let kind):
        let body = try expression(text, entity)
        let description = archive.object(
          "NSExpressionDescription",
          [
            ("NSPropertyName", .reference(archive.string(text))), ("NSExpression", .reference(body)),
            ("NSExpressionResultType", .integer(kind.rawValue)),
          ])
        fields += [
          ("NSPropertyName", .reference(archive.string(text))), ("NSProperty", .reference(description)),
        ]
      }
      elements.append(archive.object("NSFetchIndexElementDescription", fields))
    }
    let condition = try predicate(index.partialPredicate, entity)
    archive.fill(
      number, "NSFetchIndexDescription",
      [
        ("NSIndexName", .reference(archive.string(index.name))),
        ("NSIndexElements", .reference(archive.list(elements))),
        ("NSPartialIndexPredicate", .reference(condition)), ("NSEntity", .reference(owner)),
      ])
    return number
  }

  // MARK: Properties

  /// The fields that every property has.
  private mutating func common(
    _ name: String, _ owner: Int, isOptional: Bool, isTransient: Bool, renamingIdentifier: String?,
    modifier: String?, userInfo: [String: String]
  ) -> [(String, ArchiveWriter.Field)] {
    // Bits that Core Data derives from the rest; a reader needs none of them.
    let bits = 0xF1 | (isOptional ? 2 : 0) | (isTransient ? 8 : 0)
    var fields: [(String, ArchiveWriter.Field)] = [
      ("NSPropertyName", .reference(archive.string(name))), ("NSEntity", .reference(owner)),
      ("_P", .integer(bits)),
      ("NSRenamingIdentifier", .reference(archive.string(renamingIdentifier ?? name))),
    ]
    if isOptional { fields.append(("NSIsOptional", .bool(true))) }
    if isTransient { fields.append(("NSIsTransient", .bool(true))) }
    if let modifier { fields.append(("NSVersionHashModifier", .reference(archive.string(modifier)))) }
    if !userInfo.isEmpty { fields.append(("NSUserInfo", .reference(self.userInfo(userInfo)))) }
    return fields
  }

  private mutating func write(
    _ property: ModelDocument.Property, of entity: ModelDocument.Entity, _ number: Int
  ) throws {
    let owner = try entityNumber(entity.name, entity.name)
    switch property {
    case .attribute(let attribute): try write(attribute, entity.name, owner, number)
    case .relationship(let relationship): try write(relationship, entity.name, owner, number)
    case .fetched(let fetched):
      let entityName = fetched.request.entity
      let request = try fetchRequest(fetched.request, entity.name, fetched.name)
      let fields =
        common(
          fetched.name, owner, isOptional: fetched.isOptional, isTransient: true,
          renamingIdentifier: fetched.renamingIdentifier, modifier: fetched.versionHashModifier,
          userInfo: fetched.userInfo) + [
          ("NSFetchRequest", .reference(request)),
          ("_NSFetchRequestEntityName", .reference(archive.string(entityName))),
          ("NSIsReadOnly", .bool(true)),
        ]
      archive.fill(number, "NSFetchedPropertyDescription", fields)
    }
  }

  private mutating func write(
    _ attribute: ModelDocument.Attribute, _ entity: String, _ owner: Int, _ number: Int
  ) throws {
    typealias Flag = ArchiveReader.AttributeFlag
    let flags =
      (attribute.allowsExternalBinaryDataStorage ? Flag.externalStorage : 0)
      | (attribute.preservesValueInHistoryOnDeletion ? Flag.preservedInHistory : 0)
    let defaultValue = try archived("the default value", entity, attribute.name) {
      try $0.value(attribute.defaultValue)
    }
    var fields =
      common(
        attribute.name, owner, isOptional: attribute.isOptional, isTransient: attribute.isTransient,
        renamingIdentifier: attribute.renamingIdentifier, modifier: attribute.versionHashModifier,
        userInfo: attribute.userInfo) + [
        ("NSAttributeType", .integer(attribute.kind.rawValue)),
        (
          "NSAttributeValueClassName",
          .reference(archive.string(attribute.customClassName ?? attribute.kind.valueClassName))
        ),
        ("NSDefaultValue", .reference(defaultValue)),
        ("NSValueTransformerName", .reference(archive.string(attribute.valueTransformerName))),
        ("NSFlagsKey", .integer(flags)),
      ]
    if attribute.isIndexed { fields.append(("NSIsIndexed", .bool(true))) }
    if attribute.isIndexedBySpotlight { fields.append(("NSIndexedBySpotlight", .bool(true))) }
    if attribute.allowsCloudEncryption { fields.append(("NSAllowsCloudEncryption", .bool(true))) }
    if attribute.isStoredInTruthFile { fields.append(("NSStoredInTruthFile", .bool(true))) }
    try addValidation(of: attribute, entity, to: &fields)
    var className = "NSAttributeDescription"
    if let derivation = attribute.derivation {
      className = "NSDerivedAttributeDescription"
      fields += [
        ("NSDerivationExpression", .reference(try expression(derivation.expression, entity, attribute.name))),
        (
          "NSFilteringPredicate",
          .reference(try predicate(derivation.filteringPredicate, entity, attribute.name))
        ), ("NSIsReadOnly", .bool(true)),
      ]
    } else if attribute.kind == .composite {
      className = "NSCompositeAttributeDescription"
      var elements: [Int] = []
      for element in attribute.elements {
        let elementNumber = archive.reserve()
        try write(element, entity, owner, elementNumber)
        elements.append(elementNumber)
      }
      fields.append(("NSElements", .reference(archive.list(elements))))
    }
    archive.fill(number, className, fields)
  }

  private mutating func addValidation(
    of attribute: ModelDocument.Attribute, _ entity: String, to fields: inout [(String, ArchiveWriter.Field)]
  ) throws {
    if attribute.validation.isEmpty { return }
    let rules: [(predicate: PredicateTree, warning: String?)]
    do {
      rules = try attribute.validation.predicates(for: attribute.kind)
    } catch {
      throw unwritable("a validation predicate can't be parsed (\(error))", entity, attribute.name)
    }
    var (predicates, warnings): ([Int], [Int]) = ([], [])
    for rule in rules {
      predicates.append(
        try archived(rule.predicate.canonicalFormat, entity, attribute.name) {
          try $0.predicate(rule.predicate)
        })
      let warning = rule.warning ?? ""
      warnings.append(
        Int64(warning).map { archive.integer($0) } ?? archive.string(warning))
    }
    fields += [
      ("NSValidationPredicates", .reference(archive.list(predicates))),
      ("NSValidationWarnings", .reference(archive.list(warnings))),
    ]
  }

  private mutating func write(
    _ relationship: ModelDocument.Relationship, _ entity: String, _ owner: Int, _ number: Int
  ) throws {
    let inverse = relationship.inverseName.flatMap { propertyNumber($0, of: relationship.destination) }
    let destination = try entityNumber(relationship.destination, entity)
    var fields =
      common(
        relationship.name, owner, isOptional: relationship.isOptional, isTransient: relationship.isTransient,
        renamingIdentifier: relationship.renamingIdentifier, modifier: relationship.versionHashModifier,
        userInfo: relationship.userInfo) + [
        ("NSDestinationEntity", .reference(destination)),
        ("_NSDestinationEntityName", .reference(archive.string(relationship.destination))),
        ("NSInverseRelationship", .reference(inverse ?? ArchiveWriter.null)),
        ("_NSInverseRelationshipName", .reference(archive.string(relationship.inverseName))),
        ("NSDeleteRule", .integer(relationship.deleteRule.rawValue)),
        ("NSMinCount", .integer(relationship.minCount)), ("NSMaxCount", .integer(relationship.maxCount)),
      ]
    if relationship.isOrdered { fields.append(("NSIsOrdered", .bool(true))) }
    if relationship.isIndexed { fields.append(("NSIsIndexed", .bool(true))) }
    if relationship.isIndexedBySpotlight { fields.append(("NSIndexedBySpotlight", .bool(true))) }
    if relationship.isStoredInTruthFile { fields.append(("NSStoredInTruthFile", .bool(true))) }
    archive.fill(number, "NSRelationshipDescription", fields)
  }

  private mutating func fetchRequest(
    _ request: ModelDocument.FetchRequest, _ entity: String, _ property: String?
  ) throws -> Int {
    typealias Flag = ArchiveReader.RequestFlag
    let flags =
      (request.returnsDistinctResults ? Flag.distinct : 0)
      | (request.includesSubentities ? Flag.subentities : 0)
      | (request.includesPropertyValues ? Flag.propertyValues : 0)
      | (request.returnsObjectsAsFaults ? Flag.asFaults : 0)
      | (request.includesPendingChanges ? Flag.pendingChanges : 0)
    var order: [Int] = []
    for key in request.sortDescriptors {
      order.append(
        archive.object(
          "NSSortDescriptor",
          [
            ("NSKey", .reference(archive.string(key.key))), ("NSAscending", .bool(key.isAscending)),
            ("NSSelector", .reference(archive.string(key.selector ?? "compare:"))),
            ("NSReverseNullOrder", .bool(false)),
          ]))
    }
    func names(_ names: [String]) -> Int {
      if names.isEmpty { return ArchiveWriter.null }
      let members = names.map { archive.string($0) }
      return archive.list(members)
    }
    let entityNumber = try entityNumber(request.entity, entity)
    let condition = try predicate(request.predicate, entity, property)
    let having = try predicate(request.havingPredicate, entity, property)
    return archive.object(
      "NSFetchRequest",
      [
        ("NSEntity", .reference(entityNumber)), ("NSPredicate", .reference(condition)),
        ("NSSortDescriptors", .reference(order.isEmpty ? ArchiveWriter.null : archive.list(order))),
        ("NSFetchLimit", .integer(request.fetchLimit)), ("NSFetchOffset", .integer(request.fetchOffset)),
        ("NSBatchSize", .integer(request.fetchBatchSize)),
        ("NSResultType", .integer(request.resultType.rawValue)), ("NSFetchRequestFlags", .integer(flags)),
        ("NSHasFetchRequestFlags", .bool(true)),
        ("NSValuesToFetch", .reference(names(request.propertiesToFetch))),
        ("NSValuesToGroupBy", .reference(names(request.propertiesToGroupBy))),
        ("NSHavingPredicate", .reference(having)),
        (
          "NSRelationshipKeyPathsForPrefetching",
          .reference(names(request.relationshipKeyPathsForPrefetching))
        ), ("NSAllocationType", .integer(0)),
      ])
  }
}

extension ModelDocument.AttributeKind {
  /// The class of this type's values in Objective-C.
  package var valueClassName: String? {
    switch self {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
    case .decimal: "NSDecimalNumber"
    case .string: "NSString"
    case .date: "NSDate"
    case .binaryData: "NSData"
    case .uuid: "NSUUID"
    case .uri: "NSURL"
    case .objectID: "NSManagedObjectID"
    case .composite: "NSDictionary"
    case .undefined, .transformable: nil
    }
  }
}
