// Random operations on contexts and on the reference at once. A seed is a run; the generator looks at the
// reference only.

import Cairn
import Testing

@testable import CairnGraph

/// The generator of Steele, Lea and Flood (2014).
struct RefRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func below(_ n: Int) -> Int { Int(next() % UInt64(n)) }
  mutating func oneIn(_ n: Int) -> Bool { below(n) == 0 }
  mutating func pick<T>(_ items: [T]) -> T { items[below(items.count)] }
}

final class RefRun {
  private let shared: RefShared
  private let sides: [RefSide]
  var random: RefRandom
  /// Saves that others may merge: what the engine posted, and what the reference did.
  private var saves: [(from: Int, note: Notification, save: RefSave)] = []
  var operation = ""

  init(_ store: StoreUnderTest, seed: UInt64, contexts: Int) throws {
    shared = try RefShared(store)
    random = RefRandom(seed: seed)
    var policies: [RefContext.Policy] = []
    for _ in 0..<contexts {
      policies.append(contexts == 1 ? .error : random.pick(RefContext.Policy.allCases))
    }
    let shared = shared
    sides = policies.map { RefSide(shared, $0) }
  }

  func step() throws {
    let index = random.below(sides.count)
    let side = sides[index]
    operation = sides.count > 1 ? "context \(index) (\(side.policy)): " : ""
    switch random.below(live(side).count < 6 ? 40 : 100) {
    case 0..<14: try insert(side)
    case 14..<30: try setAttribute(side)
    case 30..<42: try setToOne(side)
    case 42..<50: try setToMany(side)
    case 50..<60: try addOrRemove(side)
    case 60..<64: try reorder(side)
    case 64..<70: delete(side)
    case 70..<72: undelete(side)
    case 72..<76: process(side)
    case 76..<84: try fetch(side)
    case 84..<92: try save(side, index)
    case 92: both("rollback", { side.context.rollback() }, { side.reference.rollback() })
    case 93: reset(side)
    case 94..<96: refresh(side)
    case 96: both("refreshAllObjects", { side.context.refreshAllObjects() }, { side.reference.refreshAll() })
    case 97: try obtainPermanentIDs(side)
    default: merge(side, index)
    }
    try side.compare(fully: random.oneIn(4), fetched: operation.contains("fetch"), &random)
  }

  private func both(_ name: String, _ engine: () -> Void, _ reference: () -> Void) {
    operation += name
    engine()
    reference()
  }

  // MARK: Choosing

  private func live(_ side: RefSide, _ entity: String? = nil) -> [RefObject] {
    side.reference.all.filter { object in
      !object.isDeleted && !object.isGone && side.engine[object.id] != nil
        && (entity.map { RefModel.family($0).contains(object.entity) } ?? true)
    }
  }

  private func someone(_ side: RefSide, _ entity: String? = nil) -> (RefObject, NSManagedObject)? {
    let all = live(side, entity)
    if all.isEmpty { return nil }
    let chosen = random.pick(all)
    return (chosen, side.engine[chosen.id]!)
  }

  private func some(_ side: RefSide, _ entity: String) -> [RefObject] {
    Array(live(side, entity).filter { _ in random.oneIn(2) }.shuffled(using: &random).prefix(4))
  }

  func value(for key: String) -> RefValue {
    if RefModel.textKeys.contains(key) {
      return random.oneIn(6) ? .null : .text(random.pick(["ada", "bob", "eve", "zoe"]))
    }
    return key != "age" && random.oneIn(8) ? .null : .int(random.below(5))
  }

  private func any(_ value: RefValue) -> Any? {
    switch value {
    case .null, .object: nil
    case .int(let number): number
    case .text(let text): text
    }
  }

  private func relation(_ object: RefObject, _ fits: (RefRelation) -> Bool) -> RefRelation? {
    let all = RefModel.relations(of: object.entity).filter(fits)
    return all.isEmpty ? nil : random.pick(all)
  }

  // MARK: Operations

  private func insert(_ side: RefSide) throws {
    let entity = random.pick(["Person", "Person", "Person", "Worker", "Team", "Team"] + RefModel.entityNames)
    let object = side.reference.insert(entity)
    operation += "insert \(entity) #\(object.id)"
    let description = try #require(shared.coordinator.managedObjectModel.entitiesByName[entity])
    let type: NSManagedObject.Type =
      RefModel.base(entity) == "Person" ? RefPerson.self : NSManagedObject.self
    side.pair(type.init(entity: description, insertInto: side.context), object.id)
  }

  private func setAttribute(_ side: RefSide) throws {
    guard let (object, twin) = someone(side) else { return }
    let key = random.pick(RefModel.attributes[object.entity]!.map(\.name))
    _ = twin.value(forKey: key)
    let value = random.oneIn(5) ? side.reference.value(key, object) : value(for: key)
    operation += "#\(object.id).\(key) = \(value)"
    side.reference.set(key, object, value)
    if let person = twin as? RefPerson, key == "name", random.oneIn(2) {
      person.name = any(value) as? String
    } else if let person = twin as? RefPerson, case .int(let age) = value, key == "age", random.oneIn(2) {
      person.age = Int64(age)
    } else {
      twin.setValue(any(value), forKey: key)
    }
  }

  private func setToOne(_ side: RefSide) throws {
    guard let (object, twin) = someone(side), let relation = relation(object, { !$0.isToMany }) else {
      return
    }
    let other = random.oneIn(5) ? nil : someone(side, relation.destination)
    operation += "#\(object.id).\(relation.name) = \(other.map { "#\($0.0.id)" } ?? "nil")"
    side.reference.setDestination(relation, object, other?.0)
    if let person = twin as? RefPerson, relation.name == "team", random.oneIn(2) {
      person.team = other?.1
    } else {
      twin.setValue(other?.1, forKey: relation.name)
    }
  }

  private func setToMany(_ side: RefSide) throws {
    guard let (object, twin) = someone(side), let relation = relation(object, { $0.isToMany }) else { return }
    let members = some(side, relation.destination)
    operation += "#\(object.id).\(relation.name) = \(members.map { "#\($0.id)" })"
    side.reference.setMembers(relation, object, members)
    let twins = members.map { side.engine[$0.id]! }
    if let person = twin as? RefPerson, relation.name == "friends" {
      person.friends = Set(twins.compactMap { $0 as? RefPerson })
    } else {
      twin.setValue(
        relation.isOrdered ? NSOrderedSet(array: twins) : NSSet(array: twins), forKey: relation.name)
    }
  }

  private func addOrRemove(_ side: RefSide) throws {
    guard let (object, twin) = someone(side), let relation = relation(object, { $0.isToMany }) else { return }
    let isAdding = random.oneIn(2)
    _ = twin.value(forKey: relation.name)
    let members = side.reference.members(relation, object).filter {
      !$0.isDeleted && side.engine[$0.id] != nil
    }
    let chosen: RefObject? =
      isAdding || members.isEmpty ? someone(side, relation.destination)?.0 : random.pick(members)
    guard let other = chosen, let otherTwin = side.engine[other.id] else { return }
    operation += "#\(object.id).\(relation.name) \(isAdding ? "+" : "-")= #\(other.id)"
    if isAdding {
      side.reference.add(relation, object, other)
    } else {
      side.reference.remove(relation, object, other)
    }
    if relation.isOrdered {
      let list = twin.mutableOrderedSetValue(forKey: relation.name)
      if isAdding { list.add(otherTwin) } else { list.remove(otherTwin) }
    } else {
      let set = twin.mutableSetValue(forKey: relation.name)
      if isAdding { set.add(otherTwin) } else { set.remove(otherTwin) }
    }
  }

  private func reorder(_ side: RefSide) throws {
    guard let (object, twin) = someone(side, "Team"), let relation = relation(object, { $0.isOrdered }) else {
      return
    }
    _ = twin.value(forKey: relation.name)
    let members = side.reference.members(relation, object)
      .filter { !$0.isDeleted && side.engine[$0.id] != nil }.shuffled(using: &random)
    operation += "#\(object.id).\(relation.name) in the order \(members.map { "#\($0.id)" })"
    side.reference.setMembers(relation, object, members)
    twin.setValue(NSOrderedSet(array: members.map { side.engine[$0.id]! }), forKey: relation.name)
  }

  private func delete(_ side: RefSide) {
    guard let (object, twin) = someone(side) else { return }
    both("delete #\(object.id)", { side.context.delete(twin) }, { side.reference.delete(object) })
  }

  private func undelete(_ side: RefSide) {
    let deleted = side.reference.all.filter { $0.isDeleted && !$0.isGone && side.engine[$0.id] != nil }
    if deleted.isEmpty { return }
    let object = random.pick(deleted)
    both(
      "insert #\(object.id) again", { side.context.insert(side.engine[object.id]!) },
      { side.reference.undelete(object) })
  }

  private func process(_ side: RefSide) {
    both(
      "processPendingChanges", { side.context.processPendingChanges() }, { side.reference.process() })
  }

  private func refresh(_ side: RefSide) {
    let known = side.reference.all.filter { side.engine[$0.id] != nil }
    if known.isEmpty { return }
    let object = random.pick(known)
    let keeps = random.oneIn(2)
    both(
      "refresh #\(object.id), mergeChanges: \(keeps)",
      { side.context.refresh(side.engine[object.id]!, mergeChanges: keeps) },
      { side.reference.refresh(object, keepingChanges: keeps) })
  }

  private func reset(_ side: RefSide) {
    if !random.oneIn(3) { return process(side) }
    both("reset", { side.context.reset() }, { side.reference.reset() })
  }

  private func obtainPermanentIDs(_ side: RefSide) throws {
    let new = side.reference.inserted.filter { _ in random.oneIn(2) }
    operation += "obtainPermanentIDs for \(new.map { "#\($0.id)" })"
    let twins = new.compactMap { side.engine[$0.id] }
    try side.context.obtainPermanentIDs(for: twins)
    for (object, twin) in zip(new, twins) {
      let id = twin.objectID
      if id.isTemporaryID { throw RefDifference("\(id) is no permanent ID") }
      if let known = shared.numbers[id], known != object.id { throw RefDifference("\(id) is given twice") }
      shared.numbers[id] = object.id
    }
  }

  private func merge(_ side: RefSide, _ index: Int) {
    let foreign = saves.filter { $0.from != index }
    if foreign.isEmpty { return process(side) }
    let chosen = random.oneIn(3) ? random.pick(foreign) : foreign[foreign.count - 1]
    both(
      "merge a save of context \(chosen.from): \(chosen.save)",
      { side.context.mergeChanges(fromContextDidSave: chosen.note) }, { side.reference.merge(chosen.save) })
  }

  // MARK: Saving

  private func save(_ side: RefSide, _ index: Int) throws {
    operation += "save"
    let wanted = side.reference.save(side.policy)
    let error = thrown { try side.context.save() }
    try side.check(error?.code, wanted?.code, "the error of the save (\(error.map { "\($0)" } ?? "none"))")
    let note = try side.compareSave(wanted)
    if let wanted, let note { saves.append((index, note, wanted)) }
    if wanted?.code != nil, random.oneIn(2) {
      both(", rollback", { side.context.rollback() }, { side.reference.rollback() })
    }
    if wanted != nil, wanted?.code == nil, random.oneIn(2) { try compareFreshly() }
  }

  /// A context that has seen nothing yet has to find what the reference's store has.
  private func compareFreshly() throws {
    let fresh = RefSide(shared, .error)
    for entity in RefModel.entityNames where entity != "Worker" {
      try fetch(
        fresh,
        RefRequest(entity: entity, includesSubentities: true, predicate: nil, sort: [], offset: 0, limit: 0))
    }
    try fresh.compare(fully: true, &random)
  }
}
