// Random questions to snapshots, and what it means that two answers agree.

import CairnModel
import Foundation

extension RandomRun {
  // MARK: Rows

  func askForRows() throws {
    let request = randomRequest()
    operation = "fetching \(schema[request.entity].name): \(request)"
    let (mine, theirs) = try snapshots()
    try both({ try subject.fetch(request, in: mine) }, { try oracle.fetch(request, in: theirs) }) {
      found, expected in
      try compare(found, expected, request, theirs)
    }
    try both({ try subject.count(request, in: mine) }, { try oracle.count(request, in: theirs) }) {
      found, expected in
      if found != expected { throw Difference("a count of \(found) instead of \(expected)") }
    }
  }

  private func randomRequest() -> StoreRequest {
    let entity = random.pick(schema.entities)
    var request = StoreRequest(entity: entity.id, includesSubentities: random.chance(75))
    if random.chance(80) { request.predicate = RandomPredicate(schema, entity.id).tree(&random, depth: 0) }
    for _ in 0..<random.below(4) {
      let path = RandomPredicate(schema, entity.id).path(&random)
      request.sort.append(SortTerm(path: path.names, ascending: random.chance(60)))
    }
    if random.chance(30) { request.offset = random.below(12) }
    if random.chance(40) { request.limit = random.below(15) }
    if random.chance(1) { request.offset = -1 }
    return request
  }

  /// Between rows of different entities that tie, the order is the store's own affair; so position by position
  /// the sort values have to agree, and within an entity the keys.
  private func compare(
    _ found: RowBatch, _ expected: RowBatch, _ request: StoreRequest, _ snapshot: any StoreSnapshot
  ) throws {
    if found.keys == expected.keys { return try compareValues(found, expected) }
    let difference = Difference("rows \(found.ids) instead of \(expected.ids)")
    let family = request.includesSubentities ? schema[request.entity].concreteFamily : [request.entity]
    guard family.count > 1, found.count == expected.count, Set(found.keys).count == found.count else {
      throw difference
    }
    var whole = request
    (whole.offset, whole.limit) = (0, nil)
    let all = Set(try oracle.fetch(whole, in: snapshot).keys)
    guard all.isSuperset(of: found.keys) else { throw difference }
    let isWhole = request.offset == 0 && request.limit == nil
    if isWhole, all.count != found.count { throw difference }
    let reader = PathValues(store: oracle, snapshot: snapshot)
    let mine = try request.sort.map { try reader.values($0.path, of: found.keys, request.entity) }
    let theirs = try request.sort.map { try reader.values($0.path, of: expected.keys, request.entity) }
    if mine != theirs { throw difference }
    for entity in family {
      let places = found.keys.indices.filter { found.key($0).entity == entity }
      for (a, b) in zip(places, places.dropFirst()) where found.key(b) < found.key(a) {
        if mine.allSatisfy({ $0[a] == $0[b] }) { throw difference }
      }
    }
  }

  private func compareValues(_ found: RowBatch, _ expected: RowBatch) throws {
    for index in 0..<found.count {
      let (a, b) = (StoredRow(found, index), StoredRow(expected, index))
      let slots = schema[a.key.entity].slots
      let same =
        a.version == b.version
        && slots.indices.allSatisfy { slot in
          if case .order = slots[slot].role { return true }
          return a.values[slot].isIdentical(to: b.values[slot])
        }
      if !same { throw Difference("row \(a.key.id) is \(a) instead of \(b)") }
    }
  }

  func askByKeys() throws {
    let entity = random.pick(schema.entities)
    try refreshRows()
    let root = schema[entity.id].root
    let keys =
      random.some(keys(of: root), upTo: 20).map { random.chance(50) ? $0 : RowKey(entity: root, id: $0.id) }
      + [RowKey(entity: root, id: Int64.max), RowKey(entity: entity.id, id: 1)]
    operation = "reading rows \(keys)"
    let (mine, theirs) = try snapshots()
    try both({ try subject.rows(keys, in: mine) }, { try oracle.rows(keys, in: theirs) }) { found, expected in
      if found.keys != expected.keys { throw Difference("rows \(found.ids) instead of \(expected.ids)") }
      try compareValues(found, expected)
    }
  }

  func askForRelated() throws {
    if schema.relationships.isEmpty { return }
    let relation = random.pick(schema.relationships)
    try refreshRows()
    let sources = random.some(keys(of: relation.owner), upTo: 12)
    operation = "asking \(sources.map(\.id)) for \(schema[relation.owner].name).\(relation.name)"
    let (mine, theirs) = try snapshots()
    try both(
      { try subject.related(sources, through: relation.id, in: mine) },
      { try oracle.related(sources, through: relation.id, in: theirs) }
    ) { found, expected in
      func lists(_ related: RelatedKeys) -> [[Int64]] {
        sources.indices.map { source in
          let ids = related[source].map(\.id)
          return relation.isOrdered ? ids : ids.sorted()
        }
      }
      if lists(found) != lists(expected) { throw Difference("\(lists(found)) instead of \(lists(expected))") }
    }
  }

  // MARK: Figures

  func askForFigures() throws {
    let entity = random.pick(schema.entities)
    let paths = RandomPredicate(schema, entity.id)
    var request = AggregateRequest(entity: entity.id, includesSubentities: random.chance(75), terms: [])
    if random.chance(50) { request.predicate = paths.tree(&random, depth: 0) }
    for _ in 0..<random.below(3) { request.groupBy.append(paths.path(&random).names) }
    request.terms =
      [.init(.count, nil)]
      + (0..<random.below(3)).map { _ in
        let path = paths.path(&random)
        let isNumber = path.type.family == .number
        let functions: [AggregateRequest.Function] =
          isNumber ? [.count, .min, .max, .sum, .average] : [.count, .min, .max]
        return .init(random.pick(functions), path.names.joined(separator: "."))
      }
    operation = "aggregating \(entity.name): \(request)"
    let (mine, theirs) = try snapshots()
    try both({ try subject.aggregate(request, in: mine) }, { try oracle.aggregate(request, in: theirs) }) {
      if $0 != $1 { throw Difference("\($0) instead of \($1)") }
    }
  }
}

/// Reads values at the ends of paths through the protocol, a batch a step.
private struct PathValues {
  let store: any PersistentStore
  let snapshot: any StoreSnapshot

  func values(_ path: [String], of keys: [RowKey], _ entity: EntityID) throws -> [Value] {
    var current: [RowKey?] = keys
    var described = store.schema[entity]
    for (index, name) in path.enumerated() {
      guard let relation = described.relationship(named: name) else {
        return try read(path[index...].joined(separator: "."), described, current)
      }
      current = try current.map { key in
        try key.flatMap { try store.related([$0], through: relation, in: snapshot).keys.first }
      }
      described = store.schema[store.schema[relation].destination]
    }
    return current.map { $0?.value ?? .null }
  }

  private func read(_ name: String, _ entity: SchemaEntity, _ keys: [RowKey?]) throws -> [Value] {
    guard let slot = entity.slot(named: name) else { throw Difference("no slot \(name)") }
    return try keys.map { key in
      guard let key else { return .null }
      let batch = try store.rows([key], in: snapshot)
      return batch.count == 0 ? .null : batch.value(0, slot: slot)
    }
  }
}

/// Random predicates on one entity. A few of them don't fit it.
struct RandomPredicate {
  let schema: Schema
  let entity: EntityID

  init(_ schema: Schema, _ entity: EntityID) {
    self.schema = schema
    self.entity = entity
  }

  /// A path to an attribute or a key, often over to-one relationships.
  func path(_ random: inout SplitMix64) -> (names: [String], type: ValueType) {
    var names: [String] = []
    var current = schema[entity]
    for _ in 0..<3 {
      let hops = current.relationships.filter { !schema[$0].isToMany }
      guard !hops.isEmpty, random.chance(35) else { break }
      let hop = schema[random.pick(hops)]
      names.append(hop.name)
      current = schema[hop.destination]
      if random.chance(15) { return (names, .key) }
    }
    let attributes = current.slots.filter { $0.role == .attribute }
    let slot = random.pick(attributes)
    return (names + slot.name.split(separator: ".").map(String.init), slot.type)
  }

  func tree(_ random: inout SplitMix64, depth: Int) -> PredicateTree {
    switch random.below(depth >= 3 ? 70 : 100) {
    case ..<44: return comparison(&random)
    case ..<54: return ofExpressions(&random)
    case ..<66: return ofCollections(&random, depth: depth)
    case ..<68: return .constant(random.chance(50))
    case ..<70: return ownKey(&random)
    case ..<82: return .and((0..<random.below(4)).map { _ in tree(&random, depth: depth + 1) })
    case ..<92: return .or((0..<random.below(4)).map { _ in tree(&random, depth: depth + 1) })
    default: return .not(tree(&random, depth: depth + 1))
    }
  }

  private func ownKey(_ random: inout SplitMix64) -> PredicateTree {
    let keys = (0..<4).map { _ in ExpressionTree.constant(.key(Int64(1 + random.below(40)))) }
    return random.chance(50)
      ? .comparison(.init(.evaluatedObject, .isIn, .list(keys)))
      : .comparison(
        .init(.evaluatedObject, random.pick([.equal, .notEqual, .less, .greaterOrEqual]), keys[0]))
  }

  private func comparison(_ random: inout SplitMix64) -> PredicateTree {
    let (names, type) = path(&random)
    let left = ExpressionTree.keyPath(names)
    switch random.below(20) {
    case ..<2:
      return .comparison(
        .init(left, .isIn, .list((0..<random.below(6)).map { _ in constant(&random, type) })))
    case ..<4:
      return .comparison(.init(left, .between, .list([constant(&random, type), constant(&random, type)])))
    case ..<7: return .comparison(.init(left, orderOperator(&random), .keyPath(path(&random).names)))
    case 7: return .comparison(.init(constant(&random, type), orderOperator(&random), left))
    case ..<13 where type == .string: return strings(left, &random)
    case 19: return misfit(left, &random)
    default: return .comparison(.init(left, orderOperator(&random), constant(&random, type)))
    }
  }

  func orderOperator(_ random: inout SplitMix64) -> ComparisonOperator {
    random.pick([.equal, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual])
  }

  func constant(_ random: inout SplitMix64, _ type: ValueType) -> ExpressionTree {
    if random.chance(8) { return .constant(.null) }
    if type == .key { return .constant(.key(Int64(1 + random.below(40)))) }
    // Numbers compare across types.
    let other: ValueType = type.family == .number && random.chance(30) ? .double : type
    return .constant(random.value(other, variety: 9))
  }

  private func strings(_ left: ExpressionTree, _ random: inout SplitMix64) -> PredicateTree {
    let options = StringOptions(rawValue: UInt8(random.below(4)))
    let op: ComparisonOperator = random.pick([
      .beginsWith, .endsWith, .contains, .like, .matches, .isIn, .equal, .notEqual, .less, .greater,
    ])
    let right: String
    switch op {
    case .like: right = random.pick(["*", "a*", "*b", "?", "s?", "*é*", "\\*", "b\\*", "", "S*", "s1?"])
    case .matches: right = random.pick(["a.*", "[a-s]\\d?", "é", ".", "", "s1|s2", "S\\d", "(["])
    case .isIn: right = random.pick(["xs1y", "abA", "", "Éa"])
    default: right = random.pick(["", "a", "s", "S1", "b", "é", "E", "e\u{301}", "1", "ss", "long"])
    }
    return .comparison(.init(left, op, .constant(.string(right)), options: options))
  }

  private func misfit(_ left: ExpressionTree, _ random: inout SplitMix64) -> PredicateTree {
    switch random.below(5) {
    case 0: .compare("nothing.at.all", .equal, 1)
    case 1: .comparison(.init(left, .less, .list([])))
    case 2: .comparison(.init(left, .between, .constant(1)))
    case 3: .comparison(.init(left, .equal, .constant(.composite([:]))))
    default:
      .comparison(
        .init(left, .less, .constant(.uuid(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))))))
    }
  }
}
