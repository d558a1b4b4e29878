// Sound models that nobody thought of, from a seed: entities in hierarchies, properties of every kind, everything
// that a model file has words for.

import Cairn

@testable import CairnGraph

struct RandomModel {
  private var random: SeededGenerator
  private var names: Set<String> = []

  /// `isCompiled` for one that says what only compiled models hold, too.
  static func make(seed: UInt64, isCompiled: Bool = false) -> NSManagedObjectModel {
    var maker = RandomModel(random: SeededGenerator(seed: seed))
    let model = maker.model()
    if isCompiled {
      let fetched = model.entities.flatMap {
        $0.ownProperties.compactMap { $0 as? NSFetchedPropertyDescription }
      }
      let requests = model.templates.values.map { $0 } + fetched.compactMap(\.fetchRequest)
      for request in requests { maker.addCompiledParts(to: request) }
    }
    return model
  }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  private mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }

  /// A name that the model doesn't have yet, so that no property repeats an inherited one.
  private mutating func name(_ prefix: String) -> String {
    let letters = ["a", "b", "ä", "Z", "_", "9", "名"]
    while true {
      let made = prefix + (0..<4).map { _ in pick(letters) }.joined()
      if names.insert(made).inserted { return made }
    }
  }

  private mutating func model() -> NSManagedObjectModel {
    let entities = (0..<Int.random(in: 1...6, using: &random)).map { _ in entity() }
    for (index, child) in entities.enumerated().dropFirst() where chance(40) {
      entities[Int.random(in: 0..<index, using: &random)].subentities += [child]
    }
    for entity in entities where chance(70) { relate(entity, pick(entities)) }
    for entity in entities { addLate(to: entity) }
    let model = NSManagedObjectModel()
    model.entities = entities
    if chance(50) { model.versionIdentifiers = [name("v")] }
    if chance(50) { model.setEntities(entities.filter { _ in chance(50) }, forConfigurationName: name("C")) }
    if chance(50) { model.setFetchRequestTemplate(request(pick(entities).name ?? ""), forName: name("t")) }
    return model
  }

  // MARK: Entities

  private mutating func entity() -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name("E")
    entity.isAbstract = chance(20)
    if chance(50) { entity.managedObjectClassName = pick(["Module.Thing", "Thing"]) }
    if chance(20) { entity.renamingIdentifier = name("o") }
    if chance(20) { entity.versionHashModifier = "m2" }
    if chance(30) { entity.userInfo = [name("k"): "x & <y>", "z": ""] }
    entity.properties = (0..<Int.random(in: 0...8, using: &random)).map { _ in attribute(depth: 0) }
    return entity
  }

  /// What refers to properties of the entity, inherited ones too.
  private mutating func addLate(to entity: NSEntityDescription) {
    let stored = entity.properties.compactMap { $0 as? NSAttributeDescription }
      .filter { !$0.isTransient && $0.type != .composite }
    if let first = stored.first, chance(50) { entity.uniquenessConstraints = [[first.name]] }
    if stored.count > 1, chance(50) {
      let index = NSFetchIndexDescription(
        name: name("i"),
        elements: stored.prefix(2).map { .init(property: $0, collationType: .binary) })
      index.elements[0].isAscending = chance(50)
      if chance(50) { index.partialIndexPredicate = NSPredicate(format: "%K != nil", stored[0].name) }
      entity.indexes = [index]
    }
    if chance(20) {
      let fetched = NSFetchedPropertyDescription(name("f"), fetching: request(entity.name ?? ""))
      entity.properties += [fetched]
    }
    if let date = stored.first(where: { $0.type == .date }), chance(50) {
      entity.properties += [NSDerivedAttributeDescription(name("d"), .date, from: date.name)]
    }
  }

  private mutating func request(_ entityName: String) -> NSFetchRequest<NSFetchRequestResult> {
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: entityName)
    if chance(60) { request.predicate = NSPredicate(format: "a > $X AND b BEGINSWITH[cd] 'x\"y'") }
    if chance(40) { request.fetchLimit = 7 }
    if chance(40) { request.includesSubentities = false }
    if chance(20) { request.includesPendingChanges = false }
    if chance(20) { request.fetchBatchSize = 20 }
    if chance(20) { request.includesPropertyValues = false }
    if chance(20) { request.returnsObjectsAsFaults = false }
    if chance(20) { request.returnsDistinctResults = true }
    request.resultType = pick([
      .managedObjectResultType, .managedObjectIDResultType, .dictionaryResultType, .countResultType,
    ])
    return request
  }

  /// What Xcode's XML has no words for.
  private mutating func addCompiledParts(to request: NSFetchRequest<NSFetchRequestResult>) {
    if chance(40) { request.fetchOffset = 3 }
    if chance(40) { request.propertiesToFetch = ["a", "b.c"] }
    if chance(40) { request.propertiesToGroupBy = ["a"] }
    if chance(40) { request.havingPredicate = NSPredicate(format: "a > 1") }
    if chance(40) { request.relationshipKeyPathsForPrefetching = ["r", "r.s"] }
    if chance(40) {
      request.sortDescriptors = [
        NSSortDescriptor(key: "a", ascending: chance(50)),
        NSSortDescriptor(key: "b", ascending: false, selector: .localizedStandardCompare),
      ]
    }
  }

  // MARK: Properties

  private mutating func attribute(depth: Int) -> NSAttributeDescription {
    if chance(10), depth < 3 {
      let composite = NSCompositeAttributeDescription()
      composite.name = name("c")
      let count = Int.random(in: 1...3, using: &random)
      composite.elements = (0..<count).map { _ in self.attribute(depth: depth + 1) }
      return composite
    }
    let attribute = NSAttributeDescription()
    attribute.name = name("a")
    attribute.isOptional = chance(60)
    if depth == 0 {
      attribute.isTransient = chance(10)
      attribute.isIndexed = chance(10)
    }
    let (type, value) = typed()
    attribute.type = type
    if chance(40) { attribute.defaultValue = value }
    if chance(15) { attribute.renamingIdentifier = name("o") }
    if chance(15) { attribute.versionHashModifier = "m" }
    if chance(20) { attribute.userInfo = ["k": "v\n\"2\""] }
    if chance(20) { attribute.isIndexedBySpotlight = true }
    if type == .binaryData, chance(50) { attribute.allowsExternalBinaryDataStorage = true }
    if chance(20) { attribute.preservesValueInHistoryOnDeletion = true }
    if type == .transformable, chance(50) { attribute.valueTransformerName = "NSSecureUnarchiveFromData" }
    if type == .transformable, chance(50) { attribute.attributeValueClassName = "NSArray" }
    addRules(attribute)
    return attribute
  }

  private mutating func typed() -> (NSAttributeDescription.AttributeType, Any?) {
    pick([
      (.integer16, 16 as Any?), (.integer32, -32), (.integer64, Int64.max), (.double, 0.1),
      (.float, Float(1.5)),
      (.decimal, NSDecimalNumber(string: "12345678901234567890.5")), (.string, "a <b> \"c\" & é"),
      (.boolean, true), (.date, Date(timeIntervalSinceReferenceDate: 12345.5)), (.binaryData, nil),
      (.uuid, nil), (.uri, nil), (.transformable, nil),
    ])
  }

  private mutating func addRules(_ attribute: NSAttributeDescription) {
    switch attribute.type {
    case .integer16, .integer32, .integer64:
      if chance(40) { attribute.addValidation(min: -5, max: 100, regex: nil) }
    case .double: if chance(40) { attribute.addValidation(min: 0.25, max: nil, regex: nil) }
    case .string:
      if chance(40) { attribute.addValidation(min: 1, max: 80, regex: chance(50) ? "[a-z]+ .*" : nil) }
    case .date:
      if chance(40) {
        attribute.addValidation(min: Date(timeIntervalSinceReferenceDate: 0), max: nil, regex: nil)
      }
    default: break
    }
  }

  private mutating func relate(_ source: NSEntityDescription, _ destination: NSEntityDescription) {
    let forward = NSRelationshipDescription()
    (forward.name, forward.destinationEntity) = (name("r"), destination)
    forward.maxCount = pick([0, 1, 9])
    forward.isOrdered = forward.maxCount != 1 && chance(30)
    forward.deleteRule = pick([.noAction, .nullify, .cascade, .deny])
    forward.isOptional = chance(70)
    source.properties += [forward]
    if chance(20) { return }
    let back = NSRelationshipDescription()
    (back.name, back.destinationEntity, back.inverseRelationship) = (name("r"), source, forward)
    back.maxCount = pick([0, 1])
    if back.maxCount == 0, chance(30) { back.minCount = 1 }
    forward.inverseRelationship = back
    destination.properties += [back]
  }
}
