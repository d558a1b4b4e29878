// One context of the engine beside the reference's, and everything that both have to agree on.

import Cairn
import Testing

@testable import CairnGraph

/// Where the engine and the reference differ first.
struct RefDifference: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// What all contexts of a run share.
final class RefShared {
  let coordinator: NSPersistentStoreCoordinator
  let world = RefWorld()
  /// The numbers of saved objects.
  var numbers: [NSManagedObjectID: Int] = [:]

  init(_ store: StoreUnderTest) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: RefModel.make())
    try store.add(to: coordinator)
  }
}

final class RefSide {
  let shared: RefShared
  let context: NSManagedObjectContext
  let reference: RefContext
  let policy: RefContext.Policy
  /// The engine's objects by the reference's numbers.
  private(set) var engine: [Int: NSManagedObject] = [:]
  private var numbers: [ObjectIdentifier: Int] = [:]
  /// Objects that are gone: held, so that no other comes to stand at their address.
  private var past: [NSManagedObject] = []
  private let changes: Notes
  private let saves: Notes
  private var seenChanges = 0
  private var seenSaves = 0

  init(_ shared: RefShared, _ policy: RefContext.Policy) {
    self.shared = shared
    self.policy = policy
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = shared.coordinator
    context.retainsRegisteredObjects = true
    context.mergePolicy = RefSide.mergePolicy(policy)
    reference = RefContext(shared.world)
    changes = Notes(.NSManagedObjectContextObjectsDidChange, context)
    saves = Notes(.NSManagedObjectContextDidSave, context)
  }

  private static func mergePolicy(_ policy: RefContext.Policy) -> NSMergePolicy {
    switch policy {
    case .error: .error
    case .storeTrump: .mergeByPropertyStoreTrump
    case .objectTrump: .mergeByPropertyObjectTrump
    case .overwrite: .overwrite
    case .rollback: .rollback
    }
  }

  // MARK: Numbers

  func pair(_ object: NSManagedObject, _ id: Int) {
    engine[id] = object
    numbers[ObjectIdentifier(object)] = id
  }

  func number(_ object: NSManagedObject) throws -> Int {
    if let known = numbers[ObjectIdentifier(object)] { return known }
    guard let id = shared.numbers[object.objectID] else { throw RefDifference("nobody knows \(object)") }
    if let old = engine[id] { past.append(old) }
    pair(object, id)
    return id
  }

  private func numbers(_ objects: Set<NSManagedObject>) throws -> Set<Int> {
    Set(try objects.map { try number($0) })
  }

  func value(_ any: Any?, _ isText: Bool = false) throws -> RefValue {
    switch any {
    case nil, is NSNull: return .null
    case let object as NSManagedObject: return .object(try number(object))
    case let text as String: return .text(text)
    case let number as Int: return .int(number)
    default: throw RefDifference("\(any!) is no value of this model")
    }
  }

  // MARK: After each operation

  func compare(fully: Bool, fetched: Bool = false, _ random: inout RefRandom) throws {
    try compareNotes()
    try sync(fetched: fetched)
    try compareStates()
    let some = reference.all.filter { _ in fully || random.below(3) == 0 }
    for object in some where !object.isDead { try compareValues(object) }
    try sync()
    try compareStates()
  }

  private func compareNotes() throws {
    let posted = try changes.all[seenChanges...].compactMap { note -> RefNote? in
      let info = note.userInfo ?? [:]
      if info[NSInvalidatedAllObjectsKey] != nil { return nil }
      func set(_ key: String) throws -> Set<Int> {
        try numbers(info[key] as? Set<NSManagedObject> ?? [])
      }
      return RefNote(
        inserted: try set(NSInsertedObjectsKey), updated: try set(NSUpdatedObjectsKey),
        deleted: try set(NSDeletedObjectsKey), refreshed: try set(NSRefreshedObjectsKey))
    }
    seenChanges = changes.all.count
    try check(posted, reference.posted, "what ObjectsDidChange says")
    reference.posted = []
  }

  func compareSave(_ save: RefSave?) throws -> Notification? {
    let new = saves.all[seenSaves...]
    seenSaves = saves.all.count
    guard let save, save.code == nil else {
      try check(new.count, 0, "the number of saves told of")
      return nil
    }
    try check(new.count, 1, "the number of saves told of")
    let info = new.last?.userInfo ?? [:]
    for id in save.inserted {
      guard let object = engine[id] else { throw RefDifference("#\(id) is unknown") }
      if let known = shared.numbers[object.objectID] {
        try check(known, id, "the number of \(object.objectID)")
      }
      if object.objectID.isTemporaryID { throw RefDifference("#\(id) has no permanent ID") }
      shared.numbers[object.objectID] = id
      shared.world.keys[id] = Int(object.objectID.key)
    }
    for (key, wanted) in [
      (NSInsertedObjectsKey, save.inserted), (NSUpdatedObjectsKey, save.updated),
      (NSDeletedObjectsKey, save.deleted),
    ] {
      try check(try numbers(info[key] as? Set<NSManagedObject> ?? []), wanted, "the save's \(key) set")
    }
    return new.last
  }

  /// Lets the reference know the faults that the engine has made on its way, and which faults have their rows
  /// already: both are the engine's own business.
  ///
  /// A fetch may read objects that its paths lead over, where the context has changes: so is that.
  private func sync(fetched: Bool = false) throws {
    for object in context.registeredObjects { _ = reference.object(try number(object)) }
    for (id, object) in engine where reference.objects[id] == nil {
      if object.managedObjectContext != nil { throw RefDifference("#\(id) should have no context any more") }
      past.append(object)
      engine[id] = nil
    }
    for object in reference.all {
      guard let twin = engine[object.id] else {
        if object.isFault, !object.hasChanges, !object.hasPending {
          reference.objects[object.id] = nil
          continue
        }
        throw RefDifference("#\(object.id) is registered in the reference only")
      }
      if object.isFault, !twin.isFault, fetched { reference.fire(object) }
      guard object.isFault, twin.isFault else { continue }
      object.base = twin.chunk == nil ? nil : shared.world.store.past[object.id]?[Int(twin.rowVersion)]
      object.isGone = twin.chunk != nil && object.base == nil
    }
  }

  private func compareStates() throws {
    let inserted = try numbers(context.insertedObjects)
    try check(inserted, Set(reference.inserted.map(\.id)), "inserted objects")
    try check(try numbers(context.updatedObjects), Set(reference.updated.map(\.id)), "updated objects")
    try check(try numbers(context.deletedObjects), Set(reference.deleted.map(\.id)), "deleted objects")
    try check(context.hasChanges, reference.hasChanges, "hasChanges")
    for object in reference.all {
      guard let twin = engine[object.id] else { continue }
      let name = "#\(object.id)."
      try check(twin.isInserted, object.isInserted, name + "isInserted")
      try check(twin.isUpdated, object.isUpdated, name + "isUpdated")
      try check(twin.isDeleted, object.isDeleted, name + "isDeleted")
      try check(twin.isFault, object.isFault, name + "isFault")
      try check(twin.hasChanges, object.hasChanges, name + "hasChanges")
      try check(twin.flags.contains(.inEvent), object.inEvent, name + "inEvent")
      if let base = object.base { try check(Int(twin.rowVersion), base.version, name + "version") }
    }
  }

  // MARK: Values

  private func compareValues(_ object: RefObject) throws {
    guard let twin = engine[object.id] else { return }
    let name = "#\(object.id)."
    for (key, _) in RefModel.attributes[object.entity]! {
      try check(try value(twin.value(forKey: key)), reference.value(key, object), name + key)
      let committed = twin.committedValues(forKeys: [key])[key]
      try check(try value(committed), reference.committed(key, object), name + key + " as committed")
    }
    for relation in RefModel.relations(of: object.entity) { try compare(relation, object, twin) }
    if let person = twin as? RefPerson { try compareTyped(person, object) }
    let changed = twin.changedValues()
    try check(Set(changed.keys), reference.changedNames(object), name + "changedValues")
    for (key, _) in RefModel.attributes[object.entity]! where changed[key] != nil {
      try check(try value(changed[key]), reference.value(key, object), name + key + " as changed")
    }
    try check(twin.hasPersistentChangedValues, !changed.isEmpty, name + "hasPersistentChangedValues")
  }

  private func compare(_ relation: RefRelation, _ object: RefObject, _ twin: NSManagedObject) throws {
    let key = relation.name
    let name = "#\(object.id).\(key)"
    let committed = twin.committedValues(forKeys: [key])[key]
    let wanted = reference.committedMembers(relation, object).filter { reference.object($0) != nil }
    guard relation.isToMany else {
      let found = reference.read(relation, object).map { RefValue.object($0.id) } ?? .null
      try check(try value(twin.value(forKey: key)), found, name)
      try check(try value(committed), wanted.first.map { .object($0) } ?? .null, name + " as committed")
      return
    }
    let members = reference.members(relation, object).map(\.id)
    if relation.isOrdered {
      let list = (twin.value(forKey: key) as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
      try check(try list.map { try number($0) }, members, name)
      try check(twin.mutableOrderedSetValue(forKey: key).count, members.count, name + ".count")
      let before = (committed as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
      try check(try before.map { try number($0) }, wanted, name + " as committed")
    } else {
      let set = (twin.value(forKey: key) as? NSSet)?.allObjects as? [NSManagedObject] ?? []
      try check(Set(try set.map { try number($0) }), Set(members), name)
      try check(twin.mutableSetValue(forKey: key).count, members.count, name + ".count")
      let before = (committed as? NSSet)?.allObjects as? [NSManagedObject] ?? []
      try check(Set(try before.map { try number($0) }), Set(wanted), name + " as committed")
    }
    let ids = twin.objectIDs(forRelationshipNamed: key)
    try check(ids.count, members.count, "the IDs of " + name)
  }

  private func compareTyped(_ person: RefPerson, _ object: RefObject) throws {
    let name = "#\(object.id)."
    try check(person.name.map { .text($0) } ?? .null, reference.value("name", object), name + "name, typed")
    let age = reference.value("age", object)  // nil, of an object that is gone, reads as 0
    try check(.int(Int(person.age)), age == .null ? .int(0) : age, name + "age, typed")
    try check(
      try value(person.team), try value(person.value(forKey: "team")), name + "team, typed")
    let friends = Set(try person.friends.map { try number($0) })
    let wanted = RefModel.relations(of: object.entity).first { $0.name == "friends" }!
    try check(friends, Set(reference.members(wanted, object).map(\.id)), name + "friends, typed")
  }

  func check<T: Equatable>(_ found: T, _ wanted: T, _ what: @autoclosure () -> String) throws {
    if found != wanted { throw RefDifference("\(what()): \(found), and the reference says \(wanted)") }
  }
}
