// A store as the reference has it: rows, pairs and places in dictionaries, every version of each row kept.

struct RefRow {
  let entity: String
  var version: Int
  /// Attributes, and the to-one relationships that the row has the keys of.
  var values: [String: RefValue]
}

struct RefStore {
  private(set) var rows: [Int: RefRow] = [:]
  /// Every row that there ever was, by object and version.
  private(set) var past: [Int: [Int: RefRow]] = [:]
  /// By relationship, of both sides: the members of each owner, in order.
  private(set) var pairs: [String: [Int: [Int]]] = [:]
  /// The place of an item in its team's list.
  private(set) var places: [Int: Int] = [:]

  static func name(_ relation: RefRelation) -> String { relation.owner + "." + relation.name }

  mutating func put(_ id: Int, _ row: RefRow) {
    rows[id] = row
    past[id, default: [:]][row.version] = row
  }

  mutating func remove(_ id: Int) {
    rows[id] = nil
    places[id] = nil
    for name in Array(pairs.keys) {
      pairs[name]?[id] = nil
      for owner in Array(pairs[name]!.keys) { pairs[name]?[owner]?.removeAll { $0 == id } }
    }
  }

  /// The destinations of a relationship as the rows say.
  func members(_ relation: RefRelation, of owner: Int) -> [Int] {
    guard let row = rows[owner] else { return [] }
    switch relation.place {
    case .own:
      if case .object(let id)? = row.values[relation.name] { return [id] }
      return []
    case .pairs: return pairs[RefStore.name(relation)]?[owner] ?? []
    case .other:
      let found = rows.filter { $0.value.values[relation.inverse] == .object(owner) }
        .filter { RefModel.family(relation.destination).contains($0.value.entity) }.keys
      return relation.isOrdered ? found.sorted { places[$0] ?? 0 < places[$1] ?? 0 } : found.sorted()
    }
  }

  mutating func add(_ relation: RefRelation, _ a: Int, _ b: Int) {
    for (relation, a, b) in [(relation, a, b), (RefModel.inverse(relation), b, a)] {
      if pairs[RefStore.name(relation)]?[a]?.contains(b) ?? false { continue }
      pairs[RefStore.name(relation), default: [:]][a, default: []].append(b)
    }
  }

  mutating func remove(_ relation: RefRelation, _ a: Int, _ b: Int) {
    pairs[RefStore.name(relation)]?[a]?.removeAll { $0 == b }
    pairs[RefStore.name(RefModel.inverse(relation))]?[b]?.removeAll { $0 == a }
  }

  mutating func replace(_ relation: RefRelation, _ owner: Int, _ list: [Int]) {
    if relation.place == .other {
      for (index, member) in list.enumerated() { places[member] = index + 1 }
      return
    }
    for old in members(relation, of: owner) where !list.contains(old) { remove(relation, owner, old) }
    for new in list { add(relation, owner, new) }
    pairs[RefStore.name(relation), default: [:]][owner] = list
  }

  /// Puts an item that has come to a team at the end of its list.
  mutating func append(_ item: Int, to team: Int) {
    let others = rows.filter { $0.value.entity == "Item" && $0.value.values["team"] == .object(team) }.keys
    places[item] = (others.filter { $0 != item }.compactMap { places[$0] }.max() ?? 0) + 1
  }
}
