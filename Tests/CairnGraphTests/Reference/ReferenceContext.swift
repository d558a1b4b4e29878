// A context as the reference has it: full copies of rows, edits beside them, and every rule applied by looking
// at everything. It shares no code with the engine and does nothing quickly.

/// An object of one context of the reference.
final class RefObject {
  let id: Int
  let entity: String
  /// The row as the context has read it; nil of a new object and of a fault that has none yet.
  var base: RefRow?
  /// Attributes and keys that were set. Of a new object, all of them.
  var edits: [String: RefValue] = [:]
  /// By to-many relationship without order: what was added (true) and removed (false).
  var membership: [String: [Int: Bool]] = [:]
  /// By ordered relationship that was changed: the whole list.
  var lists: [String: [Int]] = [:]
  /// By to-one relationship whose key the other side has: where it was set to lead.
  var single: [String: Int?] = [:]
  var isFault = false
  var isNew = false
  var isUpdated = false
  var isDeleted = false
  /// Deleted, with its delete rules applied.
  var isPropagated = false
  /// Its row was deleted by somebody else.
  var isGone = false
  /// The context has done with it.
  var isDead = false
  var inEvent = false

  init(_ id: Int, _ entity: String) {
    self.id = id
    self.entity = entity
  }

  var isInserted: Bool { isNew && !isDeleted && !isDead }
  var hasChanges: Bool { isInserted || isUpdated || isDeleted }
  var hasPending: Bool {
    !edits.isEmpty || !lists.isEmpty || !single.isEmpty || membership.values.contains { !$0.isEmpty }
  }

  func forgetPending() {
    edits = [:]
    membership = [:]
    lists = [:]
    single = [:]
  }
}

/// What a notification of changes says, by object number.
struct RefNote: Equatable, CustomStringConvertible {
  var inserted: Set<Int> = []
  var updated: Set<Int> = []
  var deleted: Set<Int> = []
  var refreshed: Set<Int> = []

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty }
  var description: String {
    "inserted \(inserted.sorted()), updated \(updated.sorted()), deleted \(deleted.sorted()), "
      + "refreshed \(refreshed.sorted())"
  }
}

/// The store, which number the next object gets, and what the engine has made of the numbers.
final class RefWorld {
  var store = RefStore()
  var nextID = 1
  /// The keys of saved objects, which decide the order of what no sort key tells apart.
  var keys: [Int: Int] = [:]

  /// Unsaved objects come last, as they were inserted.
  func rank(_ id: Int) -> Int { keys[id] ?? Int.max / 2 + id }
}

final class RefContext {
  struct Event {
    var new: [Int] = []
    var updated: [Int] = []
    var deleted: [Int] = []
    var appeared: [Int] = []
    var refreshed: [Int] = []
    var unpropagated: [Int] = []

    var isEmpty: Bool {
      new.isEmpty && updated.isEmpty && deleted.isEmpty && appeared.isEmpty && refreshed.isEmpty
        && unpropagated.isEmpty
    }
  }

  let world: RefWorld
  /// Every object that the context knows and has not done with. Objects refer to each other by number.
  var objects: [Int: RefObject] = [:]
  var event = Event()
  /// What was posted, in order.
  var posted: [RefNote] = []
  private var isProcessing = false

  init(_ world: RefWorld) {
    self.world = world
  }

  // MARK: State

  var all: [RefObject] { objects.values.sorted { $0.id < $1.id } }
  var inserted: [RefObject] { all.filter(\.isInserted) }
  var updated: [RefObject] { all.filter { $0.isUpdated && !$0.isDeleted } }
  /// Of saved objects only: a new one that was deleted is in no set.
  var deleted: [RefObject] { all.filter { $0.isDeleted && !$0.isNew } }
  var hasChanges: Bool { all.contains { !$0.isNew && $0.hasChanges || $0.isInserted } }

  /// The object of that number, as a fault if it isn't known; nil for a new one that was taken back.
  func object(_ id: Int) -> RefObject? {
    if let known = objects[id] { return known.isNew && known.isDeleted ? nil : known }
    guard let entity = world.store.past[id]?.values.first?.entity else { return nil }
    let made = RefObject(id, entity)
    made.isFault = true
    objects[id] = made
    return made
  }

  // MARK: Events

  func note(_ object: RefObject) {
    if object.isDeleted || object.inEvent { return }
    object.inEvent = true
    event.updated.append(object.id)
    if !object.isNew { object.isUpdated = true }
  }

  func process() {
    if isProcessing || event.isEmpty { return }
    isProcessing = true
    propagate()
    let past = event
    event = Event()
    var note = RefNote()
    let new = (past.new + past.appeared).filter { objects[$0].map { !$0.isDeleted } ?? false }
    note.inserted = Set(new)
    note.deleted = Set(past.deleted.filter { objects[$0].map(\.isDeleted) ?? true })
    for id in past.updated where !note.inserted.contains(id) {
      guard let object = objects[id], object.inEvent else { continue }
      if !object.isDeleted, object.isUpdated || object.isInserted { note.updated.insert(id) }
    }
    note.refreshed = Set(past.refreshed.filter { objects[$0].map { !$0.isDeleted } ?? false })
      .subtracting(note.updated).subtracting(note.inserted)
    for object in objects.values { object.inEvent = false }
    isProcessing = false
    if !note.isEmpty { posted.append(note) }
  }

  // MARK: Inserting and deleting

  func insert(_ entity: String) -> RefObject {
    let object = RefObject(world.nextID, entity)
    world.nextID += 1
    object.isNew = true
    object.inEvent = true
    for (name, initial) in RefModel.attributes[entity]! { object.edits[name] = initial }
    objects[object.id] = object
    event.new.append(object.id)
    return object
  }

  func delete(_ object: RefObject) {
    if object.isDeleted { return }
    markDeleted(object)
    event.unpropagated.append(object.id)
  }

  private func markDeleted(_ object: RefObject) {
    let isOfThisEvent = object.isNew && event.new.contains(object.id)
    object.isUpdated = false
    object.isDeleted = true
    object.inEvent = !isOfThisEvent
    if isOfThisEvent { return }
    event.deleted.append(object.id)
  }

  /// Inserting a deleted object takes the deletion back.
  func undelete(_ object: RefObject) {
    guard object.isDeleted else { return }
    object.isDeleted = false
    object.isPropagated = false
    object.inEvent = false
    event.unpropagated.removeAll { $0 == object.id }
    event.deleted.removeAll { $0 == object.id }
    if !object.isNew { object.isUpdated = object.hasPending }
    event.appeared.append(object.id)
  }

  /// An object whose row somebody else has deleted.
  func markGone(_ object: RefObject) {
    object.isGone = true
    if object.isDeleted { return }
    object.isUpdated = false
    object.isDeleted = true
    object.inEvent = true
    event.deleted.append(object.id)
    event.unpropagated.append(object.id)
  }

  func propagate() {
    while !event.unpropagated.isEmpty {
      guard let object = objects[event.unpropagated.removeFirst()], object.isDeleted, !object.isPropagated
      else { continue }
      for relation in RefModel.relations(of: object.entity) where relation.rule != .deny {
        apply(relation, object)
      }
      object.isPropagated = true
    }
  }

  private func apply(_ relation: RefRelation, _ object: RefObject) {
    let others =
      relation.isToMany ? members(relation, object) : destination(relation, object).map { [$0] } ?? []
    // Whoever deleted a row that is gone has applied its cascades.
    if relation.rule == .cascade, !object.isGone {
      for other in others where !other.isDeleted {
        markDeleted(other)
        event.unpropagated.append(other.id)
      }
      return
    }
    let inverse = RefModel.inverse(relation)
    for other in others where !other.isDeleted {
      if inverse.isToMany {
        // The other side's collection leaves the object out by itself: that is a change of what was read.
        if !other.isFault { note(other) }
      } else if destination(inverse, other) === object {
        note(other)
        half(inverse, other, object, isMember: false)
        half(relation, object, other, isMember: false)
      }
    }
  }

  // MARK: Reading

  /// Reads the row of a fault.
  func fire(_ object: RefObject) {
    guard object.isFault else { return }
    if object.base == nil { load(object) }
    object.isFault = false
    if object.isGone { markGone(object) }
  }

  func load(_ object: RefObject) {
    object.base = world.store.rows[object.id]
    object.isGone = object.base == nil
  }

  func value(_ name: String, _ object: RefObject) -> RefValue {
    if !object.isNew { fire(object) }
    return object.edits[name] ?? object.base?.values[name] ?? .null
  }

  /// What was last read or saved.
  func committed(_ name: String, _ object: RefObject) -> RefValue {
    if object.isNew { return .null }
    fire(object)
    return object.base?.values[name] ?? .null
  }

  func committedMembers(_ relation: RefRelation, _ object: RefObject) -> [Int] {
    if object.isNew { return [] }
    fire(object)
    if relation.place == .own {
      if case .object(let id) = committed(relation.name, object) { return [id] }
      return []
    }
    return object.isGone ? [] : world.store.members(relation, of: object.id)
  }

  /// A to-one relationship, whatever deleting has done.
  func destination(_ relation: RefRelation, _ object: RefObject) -> RefObject? {
    if relation.place == .own {
      if case .object(let id) = value(relation.name, object) { return self.object(id) }
      return nil
    }
    if let set = object.single[relation.name] { return set.flatMap { self.object($0) } }
    return committedMembers(relation, object).first.flatMap { self.object($0) }
  }

  /// A to-one relationship as the program reads it.
  func read(_ relation: RefRelation, _ object: RefObject) -> RefObject? {
    object.isPropagated && relation.rule != .deny ? nil : destination(relation, object)
  }

  /// A to-many relationship without those of its members that are deleted, once their rules were applied.
  func members(_ relation: RefRelation, _ object: RefObject) -> [RefObject] {
    if object.isPropagated && relation.rule != .deny { return [] }
    return numbers(relation, object).compactMap { self.object($0) }.filter { !$0.isPropagated }
  }

  /// All that a to-many relationship leads to.
  func numbers(_ relation: RefRelation, _ object: RefObject) -> [Int] {
    if let list = object.lists[relation.name] { return list }
    var result = committedMembers(relation, object)
    for (id, isMember) in (object.membership[relation.name] ?? [:]).sorted(by: { $0.key < $1.key }) {
      result.removeAll { $0 == id }
      if isMember { result.append(id) }
    }
    return result
  }
}
