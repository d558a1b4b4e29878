// Reads entities of a `contents` file, with their indexes, constraints and relationships.

extension ContentsReader {
  mutating func entity(_ element: SourceElement) -> ModelDocument.Entity {
    var reader = AttributeReader(element, SourcePlace())
    var entity = ModelDocument.Entity(reader.required("name"))
    reader.place.entity = entity.name
    if let className = reader.text("representedClassName") {
      entity.isClassInCurrentModule = className.hasPrefix(".")
      entity.className = String(className.drop { $0 == "." })
      entity.clean()
    }
    entity.classModule = reader.text("representedClassModule")
    entity.superentity = reader.text("parentEntity")
    entity.isAbstract = reader.flag("isAbstract")
    entity.isSyncable = reader.flag("syncable")
    entity.codeGenerationType = reader.text("codeGenerationType")
    entity.renamingIdentifier = renamingIdentifier(&reader, entity.name)
    entity.versionHashModifier = reader.text("versionHashModifier")
    entity.coreSpotlightDisplayNameExpression = reader.text("coreSpotlightDisplayNameExpression")
    let place = reader.place
    for child in element.children {
      switch child.name {
      case "attribute": entity.properties.append(.attribute(attribute(child, place)))
      case "relationship": entity.properties.append(.relationship(relationship(child, place)))
      case "fetchedProperty": entity.properties.append(.fetched(fetchedProperty(child, place)))
      case "fetchIndex": entity.fetchIndexes.append(fetchIndex(child, place))
      case "compoundIndexes":
        entity.compoundIndexes += lists(child, of: "compoundIndex", of: "index", place)
      case "uniquenessConstraints":
        entity.uniquenessConstraints += lists(child, of: "uniquenessConstraint", of: "constraint", place)
      case "userInfo": entity.userInfo.merge(userInfo(child, place)) { $1 }
      default: reader.unknown(child)
      }
    }
    finish(&reader)
    return entity
  }

  mutating func renamingIdentifier(_ reader: inout AttributeReader, _ name: String) -> String? {
    reader.text("elementID").flatMap { $0 == name ? nil : $0 }
  }

  private mutating func relationship(
    _ element: SourceElement, _ place: SourcePlace
  ) -> ModelDocument.Relationship {
    var reader = AttributeReader(element, place)
    let name = reader.required("name")
    reader.place.property = name
    let isToMany = reader.flag("toMany")
    let maxCount = reader.integer("maxCount")
    if isToMany, maxCount == 1 {
      reader.note(.warning, "it is to-many with a maximum of 1, which makes it to-one")
    }
    var relationship = ModelDocument.Relationship(
      name, to: reader.required("destinationEntity"), inverse: reader.text("inverseName"),
      inverseEntity: reader.text("inverseEntity"), isOptional: reader.flag("optional"),
      isTransient: reader.flag("transient"), minCount: reader.integer("minCount") ?? 0,
      maxCount: maxCount ?? (isToMany ? 0 : 1), isOrdered: reader.flag("ordered"), deleteRule: .noAction,
      isIndexedBySpotlight: reader.flag("spotlightIndexingEnabled"),
      isStoredInTruthFile: reader.flag("storedInTruthFile"), isIndexed: reader.flag("indexed"),
      isSyncable: reader.flag("syncable"), renamingIdentifier: renamingIdentifier(&reader, name),
      versionHashModifier: reader.text("versionHashModifier"))
    if let text = reader.text("deletionRule") {
      if let rule = SchemaDeleteRule(sourceName: text) {
        relationship.deleteRule = rule
      } else {
        reader.note(.error, "deletionRule=\"\(text)\" should be No Action, Nullify, Cascade or Deny")
      }
    }
    for child in element.children {
      if child.name == "userInfo" {
        relationship.userInfo.merge(userInfo(child, reader.place)) { $1 }
      } else {
        reader.unknown(child)
      }
    }
    finish(&reader)
    return relationship
  }

  private mutating func fetchedProperty(
    _ element: SourceElement, _ place: SourcePlace
  ) -> ModelDocument.FetchedProperty {
    var reader = AttributeReader(element, place)
    let name = reader.required("name")
    reader.place.property = name
    var property = ModelDocument.FetchedProperty(
      name, isOptional: reader.flag("optional"), isSyncable: reader.flag("syncable"),
      request: .init(ModelDocument.FetchedProperty.requestName, entity: ""),
      renamingIdentifier: renamingIdentifier(&reader, name),
      versionHashModifier: reader.text("versionHashModifier"))
    var hasRequest = false
    for child in element.children {
      switch child.name {
      case "fetchRequest" where !hasRequest:
        hasRequest = true
        property.request = fetchRequest(child, reader.place)
      case "userInfo": property.userInfo.merge(userInfo(child, reader.place)) { $1 }
      default: reader.unknown(child)
      }
    }
    if !hasRequest { reader.note(.error, "the fetched property has no fetchRequest") }
    finish(&reader)
    return property
  }

  private mutating func fetchIndex(_ element: SourceElement, _ place: SourcePlace) -> ModelDocument.FetchIndex
  {
    var reader = AttributeReader(element, place)
    var index = ModelDocument.FetchIndex(
      reader.required("name"), elements: [], partialPredicate: reader.text("partialIndexPredicate"))
    for child in element.children {
      if child.name == "fetchIndexElement" {
        index.elements.append(indexElement(child, place))
      } else {
        reader.unknown(child)
      }
    }
    finish(&reader)
    return index
  }

  private mutating func indexElement(
    _ element: SourceElement, _ place: SourcePlace
  ) -> ModelDocument.FetchIndex.Element {
    var reader = AttributeReader(element, place)
    let subject: ModelDocument.FetchIndex.Element.Subject
    if let text = reader.text("expression") {
      subject = .expression(text, kind(&reader, "expressionType"))
      _ = reader.text("property")
    } else {
      subject = .property(reader.required("property"))
    }
    var result = ModelDocument.FetchIndex.Element(subject)
    switch reader.text("type") {
    case nil, "Binary": break
    case "RTree": result.kind = .rTree
    case let text?: reader.note(.error, "type=\"\(text)\" of an index should be Binary or RTree")
    }
    switch reader.text("order") {
    case nil, "ascending": break
    case "descending": result.isAscending = false
    case let text?: reader.note(.error, "order=\"\(text)\" should be ascending or descending")
    }
    for child in element.children { reader.unknown(child) }
    finish(&reader)
    return result
  }

  /// Lists of names, as those of constraints.
  private mutating func lists(
    _ element: SourceElement, of listName: String, of memberName: String, _ place: SourcePlace
  ) -> [[String]] {
    var result: [[String]] = []
    var outer = AttributeReader(element, place)
    for child in element.children {
      guard child.name == listName else {
        outer.unknown(child)
        continue
      }
      var reader = AttributeReader(child, place)
      var names: [String] = []
      for member in child.children {
        if member.name == memberName {
          names.append(named("value", member, place))
        } else {
          reader.unknown(member)
        }
      }
      result.append(names)
      finish(&reader)
    }
    finish(&outer)
    return result
  }
}

extension SchemaDeleteRule {
  init?(sourceName: String) {
    switch sourceName {
    case "No Action": self = .noAction
    case "Nullify": self = .nullify
    case "Cascade": self = .cascade
    case "Deny": self = .deny
    default: return nil
    }
  }

  var sourceName: String {
    switch self {
    case .noAction: "No Action"
    case .nullify: "Nullify"
    case .cascade: "Cascade"
    case .deny: "Deny"
    }
  }
}
