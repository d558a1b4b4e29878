// From names to a checked schema. All faults are collected before any is thrown, so that a person mends a
// model in one round: each step up to the throw does what it can with a model that has faults.

extension Schema {
  /// Checks `description` and lays out its slots. Throws `SchemaError` with every fault found.
  public convenience init(_ description: SchemaDescription) throws {
    var compiler = SchemaCompiler(description)
    let parts = try compiler.compile()
    self.init(entities: parts.entities, relationships: parts.relationships, joins: parts.joins)
  }
}

private struct SchemaCompiler {
  typealias Entity = SchemaDescription.EntityDescription
  typealias Relationship = SchemaDescription.RelationshipDescription

  /// How deep composite attributes nest: far more than anyone needs, and little enough for recursion.
  static let maximalDepth = 32

  let sources: [Entity]
  var faults: [SchemaError.Fault] = []
  var idsByName: [String: Int] = [:]
  /// For each entity the chain from its root down to itself.
  var lineage: [[Int]] = []
  /// (entity, position in its list) of each relationship, in id order.
  var relationshipSources: [(entity: Int, position: Int)] = []
  var relationshipIDs: [[String: Int]] = []

  init(_ description: SchemaDescription) {
    sources = description.entities
  }

  mutating func compile() throws -> (
    entities: [SchemaEntity], relationships: [SchemaRelationship], joins: [SchemaJoin]
  ) {
    collectNames()
    collectLineage()
    collectRelationships()
    checkProperties()
    checkRelationships()
    let layouts = layOutSlots()
    let indexes = sources.indices.map { makeIndexes(of: $0, layouts[$0]) }
    let constraints = sources.indices.map { makeConstraints(of: $0, layouts[$0]) }
    if !faults.isEmpty { throw SchemaError(faults: faults) }
    let (storages, joins) = placeRelationships(layouts)
    return (makeEntities(layouts, indexes, constraints), makeRelationships(storages), joins)
  }

  private mutating func fault(_ entity: Int, _ property: String?, _ message: String) {
    faults.append(.init(entity: sources[entity].name, property: property, message: message))
  }

  // MARK: Names and inheritance

  private mutating func collectNames() {
    for (id, entity) in sources.enumerated() {
      if entity.name.isEmpty { fault(id, nil, "has no name") }
      if idsByName.updateValue(id, forKey: entity.name) != nil {
        fault(id, nil, "is declared more than once")
      }
    }
  }

  private mutating func collectLineage() {
    for id in sources.indices {
      var chain = [id]
      var current = id
      while let name = sources[current].superentity {
        guard let parent = idsByName[name] else {
          if current == id { fault(id, nil, "inherits from \"\(name)\", which doesn't exist") }
          break
        }
        if chain.contains(parent) {
          fault(id, nil, "inherits from itself by way of \"\(name)\"")
          break
        }
        chain.append(parent)
        current = parent
      }
      lineage.append(chain.reversed())
    }
  }

  private mutating func collectRelationships() {
    for (id, entity) in sources.enumerated() {
      var byName: [String: Int] = [:]
      for (position, relationship) in entity.relationships.enumerated() {
        byName[relationship.name] = relationshipSources.count
        relationshipSources.append((id, position))
      }
      relationshipIDs.append(byName)
    }
  }

  private func source(_ relationship: Int) -> Relationship {
    let (entity, position) = relationshipSources[relationship]
    return sources[entity].relationships[position]
  }

  // MARK: Checks

  private mutating func checkProperties() {
    for id in sources.indices {
      let inherited = Set(lineage[id].filter { $0 != id }.flatMap(propertyNames))
      var own: Set<String> = []
      for name in propertyNames(of: id) {
        if inherited.contains(name) {
          fault(id, name, "is declared by an entity that this one inherits from")
        } else if !own.insert(name).inserted {
          fault(id, name, "is declared more than once")
        }
      }
      for attribute in sources[id].attributes {
        checkAttribute(attribute, path: attribute.name, in: id, depth: 0)
      }
    }
  }

  private func propertyNames(of id: Int) -> [String] {
    sources[id].attributes.map(\.name) + sources[id].relationships.map(\.name)
  }

  private mutating func checkAttribute(
    _ attribute: SchemaDescription.AttributeDescription, path: String, in id: Int, depth: Int
  ) {
    if attribute.name.isEmpty || attribute.name.contains(".") {
      fault(id, path, "an attribute's name is not empty and has no dot")
    }
    switch attribute.kind {
    case .value(let type):
      if !attribute.defaultValue.fits(type) {
        fault(id, path, "the default value \(attribute.defaultValue) does not fit the type \(type)")
      }
      if type == .key { fault(id, path, "an attribute can't hold a key; declare a relationship") }
    case .composite(let elements):
      if elements.isEmpty { fault(id, path, "a composite attribute has at least one element") }
      if !attribute.defaultValue.isNull {
        fault(id, path, "the default values of a composite attribute stand with its elements")
      }
      if depth >= SchemaCompiler.maximalDepth {
        fault(id, path, "composite attributes nest \(SchemaCompiler.maximalDepth) deep at most")
        return
      }
      if Set(elements.map(\.name)).count < elements.count {
        fault(id, path, "two elements have one name")
      }
      for element in elements {
        checkAttribute(element, path: path + "." + element.name, in: id, depth: depth + 1)
      }
    }
  }

  private mutating func checkRelationships() {
    for index in relationshipSources.indices {
      let (owner, _) = relationshipSources[index]
      let relationship = source(index)
      if relationship.name.isEmpty || relationship.name.contains(".") {
        fault(owner, relationship.name, "a relationship's name is not empty and has no dot")
      }
      if relationship.isOrdered && relationship.maxCount == 1 {
        fault(owner, relationship.name, "a to-one relationship can't be ordered")
      }
      if relationship.minCount < 0 || relationship.maxCount < 0
        || relationship.maxCount != 0 && relationship.minCount > relationship.maxCount
      {
        fault(
          owner, relationship.name,
          "the counts \(relationship.minCount)...\(relationship.maxCount) are no range")
      }
      guard let destination = idsByName[relationship.destination] else {
        fault(owner, relationship.name, "leads to \"\(relationship.destination)\", which doesn't exist")
        continue
      }
      guard let inverseName = relationship.inverse else { continue }
      guard let inverse = findRelationship(inverseName, on: destination) else {
        fault(
          owner, relationship.name,
          "names the inverse \"\(inverseName)\", which \"\(relationship.destination)\" doesn't have")
        continue
      }
      let back = source(inverse)
      if back.inverse != relationship.name
        || idsByName[back.destination].map({ findRelationship(relationship.name, on: $0) != index }) ?? true
      {
        fault(
          owner, relationship.name,
          "its inverse \"\(relationship.destination).\(inverseName)\" doesn't name it as inverse in turn")
      }
      if back.isTransient != relationship.isTransient {
        fault(owner, relationship.name, "it and its inverse are both transient or both stored")
      }
    }
  }

  private func findRelationship(_ name: String, on entity: Int) -> Int? {
    for ancestor in lineage[entity] {
      if let found = relationshipIDs[ancestor][name] { return found }
    }
    return nil
  }

  // MARK: Layout

  private struct Layout {
    var slots: [Slot] = []
    var slotsByName: [String: Int] {
      Dictionary(slots.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
    var attributes: [SchemaAttribute] = []
    var slotOfRelationship: [Int: Int] = [:]
    var orderSlotOfRelationship: [Int: Int] = [:]
  }

  /// Whether `relationship` is the side of its pair that holds the key.
  private func holdsKey(_ relationship: Int) -> Bool {
    let r = source(relationship)
    guard r.maxCount == 1, !r.isTransient else { return false }
    guard let inverse = inverse(of: relationship), source(inverse).maxCount == 1 else { return true }
    // Of two to-one sides, the one declared first holds it; a relationship that is its own inverse does.
    return relationship <= inverse
  }

  private func inverse(of relationship: Int) -> Int? {
    let r = source(relationship)
    guard let name = r.inverse, let destination = idsByName[r.destination] else { return nil }
    return findRelationship(name, on: destination)
  }

  private mutating func layOutSlots() -> [Layout] {
    var layouts = [Layout?](repeating: nil, count: sources.count)
    for id in sources.indices {
      for ancestor in lineage[id] where layouts[ancestor] == nil {
        var layout =
          sources[ancestor].superentity.flatMap { idsByName[$0] }.flatMap { layouts[$0] } ?? Layout()
        addOwnSlots(of: ancestor, to: &layout)
        layouts[ancestor] = layout
      }
    }
    return layouts.map { $0! }
  }

  private func addOwnSlots(of id: Int, to layout: inout Layout) {
    for attribute in sources[id].attributes {
      let start = layout.slots.count
      var defaults: [Value] = []
      if !attribute.isTransient { addSlots(attribute, path: attribute.name, to: &layout.slots, &defaults) }
      var isComposite = false
      if case .composite = attribute.kind { isComposite = true }
      layout.attributes.append(
        SchemaAttribute(
          name: attribute.name, slots: start..<layout.slots.count, isComposite: isComposite,
          isOptional: attribute.isOptional, isTransient: attribute.isTransient, defaultValues: defaults,
          renamingIdentifier: attribute.renamingIdentifier ?? attribute.name,
          versionHashModifier: attribute.versionHashModifier))
    }
    for relationship in relationshipIDs[id].values.sorted() where holdsKey(relationship) {
      let key = layout.slots.count
      let r = source(relationship)
      layout.slotOfRelationship[relationship] = key
      layout.slots.append(
        Slot(name: r.name, type: .key, role: .toOne(RelationshipID(relationship)), isOptional: r.isOptional))
      if let back = inverse(of: relationship), source(back).isOrdered {
        layout.orderSlotOfRelationship[relationship] = layout.slots.count
        layout.slots.append(
          Slot(name: r.name + ".#order", type: .int64, role: .order(of: key), isOptional: true))
      }
    }
  }

  private func addSlots(
    _ attribute: SchemaDescription.AttributeDescription, path: String, depth: Int = 0, to slots: inout [Slot],
    _ defaults: inout [Value]
  ) {
    switch attribute.kind {
    case .value(let type):
      slots.append(
        Slot(
          name: path, type: type, role: .attribute, isOptional: attribute.isOptional,
          allowsExternalStorage: attribute.allowsExternalStorage && (type == .data || type == .transformable))
      )
      defaults.append(attribute.defaultValue)
    case .composite(let elements):
      if depth >= SchemaCompiler.maximalDepth { return }  // a fault already
      for element in elements {
        addSlots(element, path: path + "." + element.name, depth: depth + 1, to: &slots, &defaults)
      }
    }
  }

  /// Decides where each relationship is stored, and makes the join tables.
  private func placeRelationships(_ layouts: [Layout]) -> ([RelationshipStorage], [SchemaJoin]) {
    var storages = [RelationshipStorage](repeating: .none, count: relationshipSources.count)
    var joins: [SchemaJoin] = []
    for index in relationshipSources.indices where !source(index).isTransient {
      let owner = relationshipSources[index].entity
      if let slot = layouts[owner].slotOfRelationship[index] {
        storages[index] = .key(slot: slot)
      } else if let back = inverse(of: index), holdsKey(back) {
        let layout = layouts[relationshipSources[back].entity]
        storages[index] = .inverse(
          slot: layout.slotOfRelationship[back]!, order: layout.orderSlotOfRelationship[back])
      } else if storages[index] == .none {
        let back = inverse(of: index)
        let join = SchemaJoin(
          index: joins.count, source: RelationshipID(index), target: back.map(RelationshipID.init),
          isSourceOrdered: source(index).isOrdered,
          isTargetOrdered: back.map { source($0).isOrdered } ?? false)
        storages[index] = .join(join.index, .source)
        if let back, back != index { storages[back] = .join(join.index, .target) }
        joins.append(join)
      }
    }
    return (storages, joins)
  }

  // MARK: Assembly

  private func makeEntities(
    _ layouts: [Layout], _ indexes: [[SchemaIndex]], _ constraints: [[SchemaConstraint]]
  ) -> [SchemaEntity] {
    sources.indices.map { id in
      let source = sources[id]
      let layout = layouts[id]
      var relationships: [String: RelationshipID] = [:]
      for ancestor in lineage[id] {
        for (name, relationship) in relationshipIDs[ancestor] {
          relationships[name] = RelationshipID(relationship)
        }
      }
      return SchemaEntity(
        id: EntityID(id), name: source.name, isAbstract: source.isAbstract,
        superentity: source.superentity.map { EntityID(idsByName[$0]!) },
        root: EntityID(lineage[id][0]),
        concreteFamily: sources.indices.filter { lineage[$0].contains(id) && !sources[$0].isAbstract }
          .map(EntityID.init),
        slots: layout.slots, attributes: layout.attributes, relationships: relationships.values.sorted(),
        indexes: lineage[id].flatMap { indexes[$0] },
        uniquenessConstraints: lineage[id].flatMap { constraints[$0] },
        renamingIdentifier: source.renamingIdentifier ?? source.name,
        versionHashModifier: source.versionHashModifier, slotsByName: layout.slotsByName,
        relationshipsByName: relationships)
    }
  }

  private mutating func makeIndexes(of id: Int, _ layout: Layout) -> [SchemaIndex] {
    let slots = layout.slotsByName
    var names: Set<String> = []
    return sources[id].indexes.compactMap { index in
      if !names.insert(index.name).inserted { fault(id, nil, "has two indexes named \"\(index.name)\"") }
      guard !index.properties.isEmpty else {
        fault(id, nil, "the index \"\(index.name)\" has no elements")
        return nil
      }
      return resolve(index.properties, in: id, slots, what: "the index \"\(index.name)\"")
        .map { SchemaIndex(name: index.name, slots: $0) }
    }
  }

  private mutating func makeConstraints(of id: Int, _ layout: Layout) -> [SchemaConstraint] {
    let slots = layout.slotsByName
    return sources[id].uniquenessConstraints.compactMap { names in
      guard !names.isEmpty else {
        fault(id, nil, "a uniqueness constraint has no attributes")
        return nil
      }
      return resolve(names, in: id, slots, what: "a uniqueness constraint")
        .map { SchemaConstraint(entity: EntityID(id), slots: $0) }
    }
  }

  private mutating func resolve(_ names: [String], in id: Int, _ slots: [String: Int], what: String) -> [Int]?
  {
    var found: [Int] = []
    for name in names {
      guard let slot = slots[name] else {
        fault(id, name, "\(what) names it, and no stored property of that name exists")
        continue
      }
      if found.contains(slot) { fault(id, name, "\(what) names it twice") }
      found.append(slot)
    }
    return found.count == names.count ? found : nil
  }

  private func makeRelationships(_ storages: [RelationshipStorage]) -> [SchemaRelationship] {
    relationshipSources.indices.map { index in
      let r = source(index)
      return SchemaRelationship(
        id: RelationshipID(index), name: r.name, owner: EntityID(relationshipSources[index].entity),
        destination: EntityID(idsByName[r.destination]!),
        inverse: inverse(of: index).map(RelationshipID.init),
        isToMany: r.maxCount != 1, isOrdered: r.isOrdered, isOptional: r.isOptional,
        isTransient: r.isTransient, minCount: r.minCount, maxCount: r.maxCount, deleteRule: r.deleteRule,
        renamingIdentifier: r.renamingIdentifier ?? r.name, versionHashModifier: r.versionHashModifier,
        storage: storages[index])
    }
  }
}
