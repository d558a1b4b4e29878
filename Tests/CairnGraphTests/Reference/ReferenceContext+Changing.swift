// Setting values and relationships in the reference: both sides of a pair change, each as its own fact.

extension RefContext {
  func set(_ name: String, _ object: RefObject, _ value: RefValue) {
    if !object.isNew { fire(object) }
    note(object)
    object.edits[name] = value
  }

  // MARK: Relationships

  func setDestination(_ relation: RefRelation, _ object: RefObject, _ other: RefObject?) {
    note(object)
    if let other {
      link(relation, object, other)
    } else if let old = destination(relation, object) {
      unlink(relation, object, old)
    } else {
      set(half: relation, object, nil)
    }
  }

  func setMembers(_ relation: RefRelation, _ object: RefObject, _ wanted: [RefObject]) {
    note(object)
    let old = members(relation, object)
    for other in old where !wanted.contains(where: { $0 === other }) { unlink(relation, object, other) }
    for other in wanted where !old.contains(where: { $0 === other }) { link(relation, object, other) }
    if relation.isOrdered { object.lists[relation.name] = wanted.map(\.id) }
  }

  func add(_ relation: RefRelation, _ object: RefObject, _ other: RefObject) {
    if !isMember(relation, object, other) { link(relation, object, other) }
  }

  func remove(_ relation: RefRelation, _ object: RefObject, _ other: RefObject) {
    if isMember(relation, object, other) { unlink(relation, object, other) }
  }

  func isMember(_ relation: RefRelation, _ object: RefObject, _ other: RefObject) -> Bool {
    let inverse = RefModel.inverse(relation)
    if !inverse.isToMany { return destination(inverse, other) === object }
    return numbers(relation, object).contains(other.id)
  }

  private func link(_ relation: RefRelation, _ object: RefObject, _ other: RefObject) {
    let inverse = RefModel.inverse(relation)
    if !relation.isToMany, let old = destination(relation, object) {
      if old === other { return }
      unlink(relation, object, old)
    }
    if !inverse.isToMany, let old = destination(inverse, other), old !== object {
      unlink(relation, old, other)
    }
    note(object)
    half(relation, object, other, isMember: true)
    if !relation.isSymmetric || object !== other {
      note(other)
      half(inverse, other, object, isMember: true)
    }
  }

  private func unlink(_ relation: RefRelation, _ object: RefObject, _ other: RefObject) {
    note(object)
    half(relation, object, other, isMember: false)
    if !relation.isSymmetric || object !== other {
      note(other)
      half(RefModel.inverse(relation), other, object, isMember: false)
    }
  }

  /// One side of a pair.
  func half(_ relation: RefRelation, _ object: RefObject, _ other: RefObject, isMember: Bool) {
    if !relation.isToMany { return set(half: relation, object, isMember ? other.id : nil) }
    if !relation.isOrdered {
      object.membership[relation.name, default: [:]][other.id] = isMember
      return
    }
    var list = numbers(relation, object)
    list.removeAll { $0 == other.id && !isMember }
    if isMember, !list.contains(other.id) { list.append(other.id) }
    object.lists[relation.name] = list
  }

  func set(half relation: RefRelation, _ object: RefObject, _ id: Int?) {
    if relation.place == .own {
      if !object.isNew { fire(object) }
      object.edits[relation.name] = id.map { .object($0) } ?? .null
    } else {
      object.single[relation.name] = .some(id)
    }
  }

  // MARK: What has changed

  /// The names of persistent properties that differ from what was last read or saved.
  func changedNames(_ object: RefObject) -> Set<String> {
    var result: Set<String> = []
    for (name, initial) in RefModel.attributes[object.entity]! {
      guard let value = object.edits[name] else { continue }
      if value != (object.isNew ? initial : committed(name, object)) { result.insert(name) }
    }
    for relation in RefModel.relations(of: object.entity) where differs(relation, object) {
      result.insert(relation.name)
    }
    return result
  }

  private func differs(_ relation: RefRelation, _ object: RefObject) -> Bool {
    let name = relation.name
    if relation.place == .own {
      guard let value = object.edits[name] else { return false }
      return value != (object.isNew ? .null : committed(name, object))
    }
    if object.isNew {
      return relation.isToMany
        ? !members(relation, object).isEmpty
        : !object.isPropagated && object.single[name].flatMap { $0 } != nil
    }
    let stored = committedMembers(relation, object)
    if let list = object.lists[name] { return list != stored }
    if let set = object.single[name] { return set != stored.first }
    guard let changed = object.membership[name], !changed.isEmpty else { return false }
    return Set(members(relation, object).map(\.id)) != Set(stored)
  }
}
