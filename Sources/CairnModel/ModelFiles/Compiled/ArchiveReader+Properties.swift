// Archived properties and fetch requests.

import Foundation

extension ArchiveReader {
  /// As `property`, read when it is listed first.
  mutating func knownProperty(_ object: ArchivedObject) throws -> ModelDocument.Property? {
    if let known = properties[object.number] {
      // As large in memory as a property just read, for two references in the file.
      try archive.cost.charge(8 + known.notes.count, object: object.number)
      notes += known.notes.map { note in
        var note = note
        note.entity = entity
        return note
      }
      return known.property
    }
    let count = notes.count
    let property = try property(object)
    properties[object.number] = (property, Array(notes[count...]))
    return property
  }

  /// nil for an inherited property, which its own entity has too.
  private mutating func property(_ object: ArchivedObject) throws -> ModelDocument.Property? {
    switch object.className {
    case "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription":
      return .attribute(try attribute(object))
    case "NSRelationshipDescription": return .relationship(try relationship(object))
    case "NSFetchedPropertyDescription": return .fetched(try fetchedProperty(object))
    case "_NSPropertyDescriptionProxy": return nil
    default: throw archive.fault("a property of the class \(object.className) isn't known", object.number)
    }
  }

  /// Core Data's bits of NSFlagsKey.
  enum AttributeFlag {
    static let externalStorage = 4
    static let preservedInHistory = 16
  }

  /// `owners` are the numbers of the composites that it is an element of.
  private mutating func attribute(
    _ object: ArchivedObject, owners: [Int] = []
  ) throws -> ModelDocument.Attribute {
    let flags = try object.integer("NSFlagsKey")
    let kind = try attributeKind(object, "NSAttributeType")
    var result = ModelDocument.Attribute(
      try object.required("NSPropertyName"), kind, isOptional: try object.flag("NSIsOptional"),
      isTransient: try object.flag("NSIsTransient"), defaultValue: try defaultValue(object, kind),
      validation: try validation(object, kind),
      allowsExternalBinaryDataStorage: flags & AttributeFlag.externalStorage != 0,
      preservesValueInHistoryOnDeletion: flags & AttributeFlag.preservedInHistory != 0,
      isIndexedBySpotlight: try object.flag("NSIndexedBySpotlight"),
      allowsCloudEncryption: try object.flag("NSAllowsCloudEncryption"),
      isStoredInTruthFile: try object.flag("NSStoredInTruthFile"),
      isIndexed: try object.flag("NSIsIndexed"),
      valueTransformerName: try object.string("NSValueTransformerName"),
      renamingIdentifier: try object.string("NSRenamingIdentifier"),
      versionHashModifier: try object.string("NSVersionHashModifier"), userInfo: try userInfo(object))
    let className = try object.string("NSAttributeValueClassName")
    if kind == .transformable || kind == .undefined { result.customClassName = className }
    if object.className == "NSDerivedAttributeDescription" {
      result.derivation = .init(
        try expressionText(object, "NSDerivationExpression") ?? "",
        filteringPredicate: try predicateText(object, "NSFilteringPredicate"))
    }
    guard kind == .composite else { return result }
    guard owners.count < CompositeBudget.depthLimit else {
      throw archive.fault("composites are nested too deep", object.number)
    }
    let owners = owners + [object.number]
    var seen = Set(owners)
    for number in try object.list("NSElements") {
      guard let element = archive.object(number), seen.insert(number).inserted else {
        throw archive.fault("NSElements should hold attributes, each once", object.number)
      }
      result.elements.append(try attribute(element, owners: owners))
    }
    return result
  }

  private mutating func defaultValue(
    _ object: ArchivedObject, _ kind: ModelDocument.AttributeKind
  ) throws -> Value {
    guard let value = try value(object, "NSDefaultValue") else {
      note("the default value is an object of a program's own class, and isn't kept")
      return .null
    }
    return kind.typed(value)
  }

  private mutating func validation(
    _ object: ArchivedObject, _ kind: ModelDocument.AttributeKind
  ) throws -> ModelDocument.Validation {
    let warnings = try object.list("NSValidationWarnings")
    var result = ModelDocument.Validation()
    for (i, number) in try object.list("NSValidationPredicates").enumerated() {
      guard let archived = archive.object(number) else {
        throw archive.fault("NSValidationPredicates should hold predicates", object.number)
      }
      let tree = try predicate(archived, depth: 0)
      var warning: String?
      if i < warnings.count {
        if case .number(let code) = archive.value(warnings[i]) { warning = String(code) }
        if let text = try archive.text(warnings[i]) { warning = text }
      }
      result.add(tree, warning: warning.nonEmpty, kind: kind)
    }
    return result
  }

  private mutating func relationship(_ object: ArchivedObject) throws -> ModelDocument.Relationship {
    let destination =
      try object.string("_NSDestinationEntityName")
      ?? object.object("NSDestinationEntity")?.required("NSEntityName")
    let inverse =
      try object.string("_NSInverseRelationshipName")
      ?? object.object("NSInverseRelationship")?.required("NSPropertyName")
    guard let rule = SchemaDeleteRule(rawValue: try object.integer("NSDeleteRule")) else {
      throw object.wrong("NSDeleteRule", "0, 1, 2 or 3")
    }
    return ModelDocument.Relationship(
      try object.required("NSPropertyName"), to: destination ?? "", inverse: inverse,
      isOptional: try object.flag("NSIsOptional"), isTransient: try object.flag("NSIsTransient"),
      minCount: try object.integer("NSMinCount"), maxCount: try object.integer("NSMaxCount"),
      isOrdered: try object.flag("NSIsOrdered"), deleteRule: rule,
      isIndexedBySpotlight: try object.flag("NSIndexedBySpotlight"),
      isStoredInTruthFile: try object.flag("NSStoredInTruthFile"),
      isIndexed: try object.flag("NSIsIndexed"),
      renamingIdentifier: try object.string("NSRenamingIdentifier"),
      versionHashModifier: try object.string("NSVersionHashModifier"), userInfo: try userInfo(object))
  }

  private mutating func fetchedProperty(_ object: ArchivedObject) throws -> ModelDocument.FetchedProperty {
    guard let request = try object.object("NSFetchRequest") else {
      throw archive.fault("a fetched property has no fetch request", object.number)
    }
    return ModelDocument.FetchedProperty(
      try object.required("NSPropertyName"), isOptional: try object.flag("NSIsOptional"),
      request: try fetchRequest(
        request, name: ModelDocument.FetchedProperty.requestName,
        entity: try object.string("_NSFetchRequestEntityName")),
      renamingIdentifier: try object.string("NSRenamingIdentifier"),
      versionHashModifier: try object.string("NSVersionHashModifier"), userInfo: try userInfo(object))
  }

  /// Core Data's bits of NSFetchRequestFlags. 30 is what a new request has; which of its bits is which is
  /// assumed.
  enum RequestFlag {
    static let distinct = 1
    static let subentities = 2
    static let propertyValues = 4
    static let asFaults = 8
    static let pendingChanges = 16
    static let usual = 30
  }

  mutating func fetchRequest(
    _ object: ArchivedObject, name: String, entity: String?
  ) throws -> ModelDocument.FetchRequest {
    let entityName =
      try object.object("NSEntity")?.string("NSEntityName") ?? object.string("NSEntityName") ?? entity
    let flags =
      object.has("NSFetchRequestFlags") ? try object.integer("NSFetchRequestFlags") : RequestFlag.usual
    guard let type = ModelDocument.FetchRequest.ResultType(rawValue: try object.integer("NSResultType"))
    else {
      throw object.wrong("NSResultType", "0, 1, 2 or 4")
    }
    var result = ModelDocument.FetchRequest(
      name, entity: entityName ?? "", predicate: try predicateText(object, "NSPredicate"),
      fetchLimit: try object.integer("NSFetchLimit"), fetchOffset: try object.integer("NSFetchOffset"),
      fetchBatchSize: try object.integer("NSBatchSize"), resultType: type,
      includesSubentities: flags & RequestFlag.subentities != 0,
      includesPropertyValues: flags & RequestFlag.propertyValues != 0,
      includesPendingChanges: flags & RequestFlag.pendingChanges != 0,
      returnsObjectsAsFaults: flags & RequestFlag.asFaults != 0,
      returnsDistinctResults: flags & RequestFlag.distinct != 0,
      propertiesToFetch: try names(object, "NSValuesToFetch"),
      propertiesToGroupBy: try names(object, "NSValuesToGroupBy"),
      havingPredicate: try predicateText(object, "NSHavingPredicate"),
      relationshipKeyPathsForPrefetching: try object.strings("NSRelationshipKeyPathsForPrefetching"))
    for number in try object.list("NSSortDescriptors") {
      guard let descriptor = archive.object(number) else {
        throw archive.fault("NSSortDescriptors should hold sort descriptors", object.number)
      }
      let selector = try descriptor.string("NSSelector")
      result.sortDescriptors.append(
        .init(
          try descriptor.string("NSKey") ?? "", isAscending: try descriptor.flag("NSAscending"),
          selector: selector == "compare:" ? nil : selector))
    }
    return result
  }

  /// Names of properties, or properties that have one.
  private mutating func names(_ object: ArchivedObject, _ field: String) throws -> [String] {
    var result: [String] = []
    for number in try object.list(field) {
      if let name = try archive.text(number) {
        result.append(name)
      } else if let name = try archive.object(number)?.string("NSPropertyName") {
        result.append(name)
      } else {
        note("an expression in the fetch request's \(field) isn't kept")
      }
    }
    return result
  }
}

extension ModelDocument.AttributeKind {
  /// A value as an attribute of this type has it: archives keep truth values and whole numbers alike.
  func typed(_ value: Value) -> Value {
    switch (self, value) {
    case (.boolean, .int(let x)): .bool(x != 0)
    case (.integer16, .bool(let x)), (.integer32, .bool(let x)), (.integer64, .bool(let x)): .int(x ? 1 : 0)
    case (.double, .int(let x)): .double(Double(x))
    case (.float, .int(let x)): .float(Float(x))
    case (.float, .double(let x)): .float(Float(x))
    case (.decimal, .int(let x)): .decimal(Decimal(x))
    case (.date, .double(let x)): .date(Date(timeIntervalSinceReferenceDate: x))
    case (.uri, .string(let x)): .uri(x)
    default: value
    }
  }
}
