// How the values of a model's derived attributes follow from rows, by slots and relationships: made once a
// model. What a save does with it stands in Context/DerivedValues.swift.

import CairnModel
import Foundation

/// The derived attributes of a model that has some.
final class DerivedPlan: Sendable {
  /// Each after those that it is computed from.
  let attributes: [DerivedAttribute]
  /// By entity: the slots of its derived attributes, inherited ones too.
  let slots: [Set<Int>]
  /// By entity: whether a change of its rows may change a derived value.
  private let isSource: [Bool]
  /// The relationships in join tables whose links are counted or summed over.
  private let links: Set<RelationshipID>

  /// nil for a model without derived attributes. The model has no fault: derivations lead to what there is,
  /// and none to itself.
  init?(_ schema: Schema, _ descriptions: [NSEntityDescription], _ relations: [Relation]) {
    let drafts = zip(schema.entities, descriptions).flatMap { entity, description in
      Draft.all(of: entity, description)
    }
    if drafts.isEmpty { return nil }
    var maker = Maker(schema: schema, relations: relations, drafts: drafts)
    attributes = maker.make()
    var slots = [Set<Int>](repeating: [], count: schema.entities.count)
    var isSource = [Bool](repeating: false, count: schema.entities.count)
    var links: Set<RelationshipID> = []
    for attribute in attributes {
      for entity in attribute.family {
        slots[entity.index].insert(attribute.slot)
        isSource[entity.index] = true
      }
      for relation in attribute.relations {
        for entity in schema[relation.destination].concreteFamily { isSource[entity.index] = true }
        guard case .join = relation.storage else { continue }
        links.insert(relation.id)
        if let inverse = relation.inverse { links.insert(inverse) }
      }
    }
    (self.slots, self.isSource, self.links) = (slots, isSource, links)
  }

  /// Whether a derived value may follow from the changes. Costs a look at each batch.
  func isTouched(by changes: ChangeSet) -> Bool {
    changes.inserts.contains { isSource[$0.entity.index] }
      || changes.updates.contains { isSource[$0.entity.index] }
      || changes.deletes.contains { isSource[$0.entity.index] }
      || changes.links.contains { links.contains($0.relationship) }
  }
}

/// A derived attribute that compiled.
struct DerivedAttribute: Sendable {
  enum Form: Sendable {
    /// What stands at the end of a path over to-one relationships, folded where that is said.
    case value([Relation], DerivedSource, ValueFunction?)
    case count(Relation)
    case sum(Relation, DerivedSource)
    case now
  }

  /// The root of the entity that declares it.
  let root: EntityID
  let slot: Int
  let type: ValueType
  /// The concrete entities that have it.
  let family: Set<EntityID>
  let form: Form

  var relations: [Relation] {
    switch form {
    case .value(let hops, _, _): hops
    case .count(let relation), .sum(let relation, _): [relation]
    case .now: []
    }
  }
}

/// The attribute that a value is copied from, or that is summed.
struct DerivedSource: Sendable {
  let root: EntityID
  let slot: Int
  let family: Set<EntityID>
  /// Its place in the plan, if it is derived itself.
  let derived: Int?
}

extension CompiledModel {
  /// Throws 134020 if one of the entities has a derived attribute: a custom store is told of objects, and the
  /// values are only known in rows.
  func requireNoDerivedAttributes(of entities: [EntityID], in storeName: String) throws {
    guard let derived, let found = entities.first(where: { !derived.slots[$0.index].isEmpty }) else { return }
    throw NSError.coreData(
      NSPersistentStoreIncompatibleSchemaError,
      "\(storeName) can't keep the derived attributes of \"\(self[found].name)\"")
  }
}

// MARK: - Making

/// A derived attribute as it is described.
private struct Draft {
  let entity: SchemaEntity
  let slot: Int
  let derivation: Derivation

  static func all(of entity: SchemaEntity, _ description: NSEntityDescription) -> [Draft] {
    description.ownProperties.compactMap { property in
      guard let derived = property as? NSDerivedAttributeDescription, !derived.isTransient,
        let slot = entity.attribute(named: derived.name)?.slots.first,
        let derivation = derived.derivationExpression.flatMap({ Derivation($0.tree) })
      else { return nil }
      return Draft(entity: entity, slot: slot, derivation: derivation)
    }
  }
}

private struct Maker {
  let schema: Schema
  let relations: [Relation]
  let drafts: [Draft]
  private var made: [DerivedAttribute] = []
  /// By draft: its place among those made.
  private var places: [Int?] = []

  init(schema: Schema, relations: [Relation], drafts: [Draft]) {
    (self.schema, self.relations, self.drafts) = (schema, relations, drafts)
    places = drafts.map { _ in nil }
  }

  mutating func make() -> [DerivedAttribute] {
    for index in drafts.indices { make(index) }
    return made
  }

  @discardableResult
  private mutating func make(_ index: Int) -> Int {
    if let place = places[index] { return place }
    let draft = drafts[index]
    let form = form(of: draft)
    made.append(
      DerivedAttribute(
        root: draft.entity.root, slot: draft.slot, type: draft.entity.slots[draft.slot].type,
        family: Set(draft.entity.concreteFamily), form: form))
    places[index] = made.count - 1
    return made.count - 1
  }

  private mutating func form(of draft: Draft) -> DerivedAttribute.Form {
    switch draft.derivation {
    case .now: return .now
    case .count(let name): return .count(relation(name, of: draft.entity))
    case .sum(let name, let summand):
      let relation = relation(name, of: draft.entity)
      return .sum(relation, source(summand, of: schema[relation.destination]))
    case .value(let path, let fold):
      var entity = draft.entity
      var hops: [Relation] = []
      for name in path.dropLast() {
        hops.append(relation(name, of: entity))
        entity = schema[hops[hops.count - 1].destination]
      }
      return .value(
        hops, source(path[path.count - 1], of: entity), fold.flatMap { ValueFunction(rawValue: $0.rawValue) })
    }
  }

  private func relation(_ name: String, of entity: SchemaEntity) -> Relation {
    guard let id = entity.relationship(named: name) else {
      preconditionFailure("\(entity.name).\(name) was checked and is no relationship")
    }
    return relations[id.index]
  }

  private mutating func source(_ name: String, of entity: SchemaEntity) -> DerivedSource {
    guard let slot = entity.attribute(named: name)?.slots.first else {
      preconditionFailure("\(entity.name).\(name) was checked and is no stored attribute")
    }
    // A slot number is one attribute's on the entity that declares it and on all that inherit from it.
    let draft: Int? = drafts.firstIndex { $0.slot == slot && inherits(entity, from: $0.entity.id) }
    return DerivedSource(
      root: entity.root, slot: slot, family: Set(entity.concreteFamily),
      derived: draft.map { index in make(index) })
  }

  private func inherits(_ entity: SchemaEntity, from ancestor: EntityID) -> Bool {
    var next: EntityID? = entity.id
    while let id = next {
      if id == ancestor { return true }
      next = schema[id].superentity
    }
    return false
  }
}
