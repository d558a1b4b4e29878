// Reads compiled models: from the objects of an archive to a document.

public import Foundation

extension ModelDocument {
  /// Reads a compiled model, a `.mom`, or the model that a Core Data store keeps (uncompressed).
  ///
  /// The result is in the form of `compiled`, with `notes` for what a document can't hold. Throws
  /// `ModelFileError` for everything that isn't such an archive, with the offset or the number of the object.
  /// - Parameter file: the name of the file in errors.
  public init(compiled data: Data, file: String) throws {
    var reader = ArchiveReader(archive: try KeyedArchive(data, file: file))
    self = try reader.model()
    notes = reader.notes
    try checkLimits(file: file)
  }
}

struct ArchiveReader {
  let archive: KeyedArchive
  var notes: [ModelNote] = []
  /// For notes.
  var entity: String?
  var property: String?
  /// Each property by its number, with the notes on it: the model that a store keeps lists it with every entity that
  /// inherits it.
  var properties: [Int: (property: ModelDocument.Property?, notes: [ModelNote])] = [:]

  init(archive: KeyedArchive) { self.archive = archive }

  mutating func note(_ message: String) {
    notes.append(ModelNote(.warning, message, entity: entity, property: property))
  }

  mutating func model() throws -> ModelDocument {
    guard let root = archive.object(archive.root), root.className == "NSManagedObjectModel" else {
      throw ModelFileError(
        .unknownFormat, file: archive.file, "the archive's root is no NSManagedObjectModel",
        remedy: "give a .mom that momc or `cairn model convert` made", object: archive.root)
    }
    var document = ModelDocument(versionIdentifiers: try root.strings("NSVersionIdentifiers").sorted())
    var seen: Set<Int> = []
    for (name, number) in try root.dictionary("NSEntities") {
      guard let object = archive.object(number), object.className == "NSEntityDescription",
        seen.insert(number).inserted
      else { throw archive.fault("\"\(name)\" should be an entity of its own", number) }
      document.entities.append(try entity(object))
    }
    for (name, number) in try root.dictionary("NSFetchRequestTemplates") {
      guard let object = archive.object(number) else {
        throw archive.fault("the template \"\(name)\" should be a fetch request", number)
      }
      entity = name
      document.fetchRequests.append(try fetchRequest(object, name: name, entity: nil))
    }
    entity = nil
    for (name, number) in try root.dictionary("NSConfigurations") {
      guard let object = archive.object(number) else {
        throw archive.fault("the configuration \"\(name)\" should be a set", number)
      }
      let names = try object.members().map { try entityName($0, of: object) }
      document.configurations.append(.init(name, entityNames: names))
    }
    document.dropInheritedProperties()
    var reducer = FormReducer(document: document)
    reducer.reduceToCompiled()
    return reducer.document
  }

  private func entityName(_ number: Int, of owner: ArchivedObject) throws -> String {
    guard let object = archive.object(number), object.className == "NSEntityDescription" else {
      throw archive.fault("\(owner.className) should hold entities", owner.number)
    }
    return try object.required("NSEntityName")
  }

  private mutating func entity(_ object: ArchivedObject) throws -> ModelDocument.Entity {
    var result = ModelDocument.Entity(try object.required("NSEntityName"))
    entity = result.name
    result.className = try object.string("NSClassNameForEntity")
    result.superentity = try object.object("NSSuperentity")?.required("NSEntityName")
    result.isAbstract = try object.flag("NSIsAbstract")
    result.renamingIdentifier = try object.string("NSRenamingIdentifier")
    result.versionHashModifier = try object.string("NSVersionHashModifier")
    result.coreSpotlightDisplayNameExpression = try expressionText(
      object, "NSCoreSpotlightDisplayNameExpression")
    result.userInfo = try userInfo(object)
    var seen: Set<Int> = []
    for (name, number) in try object.dictionary("NSProperties") {
      guard let member = archive.object(number), seen.insert(number).inserted else {
        throw archive.fault("the property \"\(name)\" should be an object of its own", number)
      }
      property = name
      if let property = try knownProperty(member) { result.properties.append(property) }
    }
    property = nil
    for list in try object.list("NSUniqueTuples") {
      result.uniquenessConstraints.append(try strings(list, of: object))
    }
    for list in try object.list("NSCompoundIndexes") {
      result.compoundIndexes.append(try strings(list, of: object))
    }
    for number in try object.list("NSFetchIndexDescriptions") {
      guard let index = archive.object(number) else {
        throw archive.fault("NSFetchIndexDescriptions should hold indexes", object.number)
      }
      result.fetchIndexes.append(try fetchIndex(index))
    }
    entity = nil
    return result
  }

  private func strings(_ number: Int, of owner: ArchivedObject) throws -> [String] {
    guard let object = archive.object(number) else {
      throw archive.fault("\(owner.className) should hold lists of names", owner.number)
    }
    return try object.members().map { member in
      if let name = try archive.text(member) { return name }
      guard let property = archive.object(member) else {
        throw archive.fault("a list should hold names of properties", object.number)
      }
      return try property.required("NSPropertyName")
    }
  }

  private mutating func fetchIndex(_ object: ArchivedObject) throws -> ModelDocument.FetchIndex {
    var index = ModelDocument.FetchIndex(
      try object.required("NSIndexName"), elements: [],
      partialPredicate: try predicateText(object, "NSPartialIndexPredicate"))
    for number in try object.list("NSIndexElements") {
      guard let element = archive.object(number) else {
        throw archive.fault("NSIndexElements should hold elements", object.number)
      }
      guard
        let kind = ModelDocument.FetchIndex.Element.Kind(
          rawValue: try element.integer("NSFetchIndexElementType"))
      else { throw element.wrong("NSFetchIndexElementType", "0 or 1") }
      let subject: ModelDocument.FetchIndex.Element.Subject
      if let property = try element.object("NSProperty"), property.has("NSExpression") {
        subject = .expression(
          try expressionText(property, "NSExpression") ?? "",
          try attributeKind(property, "NSExpressionResultType"))
      } else {
        subject = .property(try element.required("NSPropertyName"))
      }
      index.elements.append(.init(subject, kind: kind, isAscending: try element.flag("NSAscending")))
    }
    return index
  }

  func attributeKind(_ object: ArchivedObject, _ name: String) throws -> ModelDocument.AttributeKind {
    guard let kind = ModelDocument.AttributeKind(rawValue: try object.integer(name)) else {
      throw object.wrong(name, "the number of a type of attribute")
    }
    return kind
  }

  /// Entries that aren't text are left out, with a note.
  mutating func userInfo(_ object: ArchivedObject) throws -> [String: String] {
    var result: [String: String] = [:]
    for (key, number) in try object.dictionary("NSUserInfo") {
      if let text = try archive.text(number) {
        result[key] = text
      } else if case .string(let text)? = try value(number) {
        result[key] = text
      } else {
        note("the user info's entry \"\(key)\" is no text, and isn't kept")
      }
    }
    return result
  }
}

extension ModelDocument {
  /// The model that a store keeps repeats inherited properties with each subentity.
  ///
  /// Another property of the same name stays: that is a fault, which `check()` finds.
  fileprivate mutating func dropInheritedProperties() {
    let own = Dictionary(
      entities.map { entity in
        (entity.name, Dictionary(entity.properties.map { ($0.name, $0) }) { first, _ in first })
      }
    ) { first, _ in first }
    let parents = Dictionary(entities.map { ($0.name, $0.superentity) }) { first, _ in first }
    for i in entities.indices {
      var seen: Set = [entities[i].name]
      var next = entities[i].superentity
      while let name = next, seen.insert(name).inserted, seen.count <= ModelDocument.inheritanceDepthLimit,
        let inherited = own[name]
      {
        entities[i].properties.removeAll { inherited[$0.name] == $0 }
        next = parents[name] ?? nil
      }
    }
  }
}
