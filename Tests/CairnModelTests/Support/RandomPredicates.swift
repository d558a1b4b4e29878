// Random questions to a property, and the slow evaluation that says what the answer has to be.

import Foundation

@testable import CairnModel

extension SplitMix64 {
  /// A comparison of `path`, whose end has type `type`, that binds without an error.
  mutating func comparison(_ path: String, _ type: ValueType, like sample: [Value]) -> PredicateTree {
    switch below(10) {
    case 0: return .compare(path, pick([.equal, .notEqual]), .null)
    case 1: return .compare(path, pick([.less, .lessOrEqual, .greater, .greaterOrEqual]), .null)
    case 2: return .compare(path, pick([.equal, .notEqual]), stranger(type))
    case 3: return .isIn(path, (0..<below(6)).map { _ in listed(type, sample) })
    case 4: return .isIn(path, (0..<below(40)).map { _ in constant(type, like: sample) })
    case 5: return .between(path, constant(type, like: sample), constant(type, like: sample))
    case 6 where oneIn(4):
      return .between(path, .null, constant(type, like: sample))
    case 6, 7:
      if type == .string { return stringTest(path, sample) }
      fallthrough
    default:
      return .compare(
        path, pick([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]),
        constant(type, like: sample))
    }
  }

  /// A value that `type` can be ordered against: of any type of its family, often one that rows have.
  mutating func constant(_ type: ValueType, like sample: [Value]) -> Value {
    if oneIn(2), let value = sample.randomElement(using: &self), !value.isNull { return value }
    guard type.family == .number else { return value(type) }
    let x = value(pick([.int16, .int64, .double, .float, .decimal, .bool, type]))
    if case .double(let y) = x, oneIn(3) { return .double(y + 0.5) }
    return x
  }

  private mutating func listed(_ type: ValueType, _ sample: [Value]) -> Value {
    oneIn(4) ? .null : oneIn(4) ? stranger(type) : constant(type, like: sample)
  }

  /// A value of another family.
  private mutating func stranger(_ type: ValueType) -> Value {
    value(pick(ValueType.allCases.filter { $0.family != type.family }))
  }

  private mutating func stringTest(_ path: String, _ sample: [Value]) -> PredicateTree {
    let op = pick(
      [.equal, .less, .notEqual, .beginsWith, .endsWith, .contains, .like, .matches, .isIn]
        as [ComparisonOperator])
    let options: StringOptions = pick([
      [], [.caseInsensitive], [.diacriticInsensitive], [.caseInsensitive, .diacriticInsensitive],
    ])
    var text = ""
    if case .string(let known) = constant(.string, like: sample) { text = known }
    if oneIn(2), !text.isEmpty { text = oneIn(2) ? String(text.prefix(2)) : String(text.suffix(2)) }
    switch op {
    case .like: text = pick([text, text + "*", "*" + text, "?" + text, "*a*", "??", "\\*", "*"])
    case .matches:
      text = pick([
        NSRegularExpression.escapedPattern(for: text), ".*a.*", "[a-e]+", "(a|ab)(c|bcd)?", "", "\\w*",
      ])
    case .isIn: text += "xAlicex"
    default: break
    }
    return .compare(path, op, .string(text), options: options)
  }

  /// A tree of comparisons made by `leaf`.
  mutating func tree(depth: Int, _ leaf: (inout SplitMix64) -> PredicateTree) -> PredicateTree {
    if depth == 0 { return leaf(&self) }
    switch below(6) {
    case 0: return .not(tree(depth: depth - 1, leaf))
    case 1, 2: return .and((0..<below(4)).map { _ in tree(depth: depth - 1, leaf) })
    case 3, 4: return .or((0..<below(4)).map { _ in tree(depth: depth - 1, leaf) })
    default: return oneIn(5) ? .constant(next() & 1 == 0) : leaf(&self)
    }
  }
}

/// The plain meaning of a bound predicate for one row: no masks, no zones, no sets of keys.
func slowAnswer(_ node: BoundPredicate.Node, _ chunk: Chunk, _ row: Int, _ source: any ChunkSource) -> Bool {
  switch node {
  case .constant(let value): value
  case .and(let parts): parts.allSatisfy { slowAnswer($0, chunk, row, source) }
  case .or(let parts): parts.contains { slowAnswer($0, chunk, row, source) }
  case .not(let part): !slowAnswer(part, chunk, row, source)
  case .test(let path, let test): test.matches(PathReader(path, source: source).value(chunk, row))
  case .comparePaths(let left, let op, let right):
    slowComparison(
      PathReader(left, source: source).value(chunk, row), op,
      PathReader(right, source: source).value(chunk, row))
  case .check, .compare, .exists:
    BoundPredicate.alone(node).holds(for: ColumnRows(source).row(chunk, row))
  }
}

extension BoundPredicate {
  /// One node as a predicate.
  static func alone(_ node: Node) -> BoundPredicate { BoundPredicate(root: node) }
}

private func slowComparison(_ a: Value, _ op: ComparisonOperator, _ b: Value) -> Bool {
  switch op {
  case .equal: a == b
  case .notEqual: a != b
  case _ where a.isNull || b.isNull: false
  case .less: a < b
  case .lessOrEqual: a <= b
  case .greater: a > b
  default: a >= b
  }
}

/// Compares every way of evaluating `tree` on every chunk with the slow one.
func disagreements(_ tree: PredicateTree, _ entity: String, _ source: TestSource) throws -> [String] {
  let id = try source.schema.requireEntity(named: entity).id
  let bound = try BoundPredicate(tree, to: id, in: source.schema)
  let prepared = PreparedPredicate(bound, source: source)
  var found: [String] = []
  var liveCount = 0
  for chunk in source.schema[id].concreteFamily.flatMap(source.chunks) {
    var mask = [UInt8](repeating: 7, count: chunk.count)
    mask.withUnsafeMutableBufferPointer { prepared.fill($0.baseAddress!, chunk) }
    for row in 0..<chunk.count {
      let expected = slowAnswer(bound.root, chunk, row, source)
      if expected && !chunk.isDeleted(row) { liveCount += 1 }
      if mask[row] != (expected ? 1 : 0) {
        found.append("row \(row) of \(chunk.firstKey)...: mask \(mask[row]), not \(expected)")
      }
      if prepared.root.matches(chunk, row) != expected { found.append("row \(row): alone, not \(expected)") }
    }
  }
  let query = try RowQuery(entity: id, includesSubentities: true, predicate: tree, source: source)
  if query.count() != liveCount { found.append("counts \(query.count()), not \(liveCount)") }
  let rows = query.rows(sort: [], offset: 0, limit: nil)
  if rows.count != liveCount { found.append("selects \(rows.count), not \(liveCount)") }
  found += problems(query, prepared, rows, source.selection(of: entity))
  return found
}

/// What an index is told has to hold for every row that matches; of conditions with a number, for no other
/// row.
private func problems(
  _ query: RowQuery, _ prepared: PreparedPredicate, _ rows: RowBatch, _ all: RowSelection
) -> [String] {
  var found: [String] = []
  for condition in query.conditions {
    for index in 0..<rows.count where !fulfils(rows.chunk(index), rows.row(index), condition) {
      found.append(
        "row \(rows.ids[index]) matches and isn't in the index condition of slot \(condition.slot)")
    }
  }
  let exact = query.conditions.filter { $0.number != nil }
  for condition in exact {
    var part = prepared.root
    if case .and(let parts) = prepared.root { part = parts[condition.number!] }
    for place in all.places() {
      let chunk = all.chunks[Int(place.chunk)]
      let row = Int(place.row)
      if part.matches(chunk, row) != fulfils(chunk, row, condition) {
        found.append("the condition of slot \(condition.slot) isn't exact for row \(chunk.key(row))")
      }
    }
  }
  return found + problemsAmongCandidates(query, rows, all, exact)
}

/// What an index would find are the rows that fulfil all exact conditions.
private func problemsAmongCandidates(
  _ query: RowQuery, _ rows: RowBatch, _ all: RowSelection, _ exact: [IndexCondition]
) -> [String] {
  var candidates = CandidateRows(chunks: all.chunks, fulfilled: Set(exact.map { $0.number! }))
  candidates.masks = all.chunks.indices.map { index in
    let mask = all.masks[index]
    return (0..<all.chunks[index].count).map { row in
      if let mask, mask[row] == 0 { return 0 }
      return exact.allSatisfy { fulfils(all.chunks[index], row, $0) } ? 1 : 0
    }
  }
  var found: [String] = []
  let among = query.rows(sort: [], offset: 0, limit: nil, candidates: candidates)
  if among.ids != rows.ids { found.append("among candidates \(among.count) rows, not \(rows.count)") }
  if query.count(candidates) != rows.count { found.append("counts \(query.count(candidates)) candidates") }
  return found
}

private func fulfils(_ chunk: Chunk, _ row: Int, _ condition: IndexCondition) -> Bool {
  let words = IndexCoder.words(chunk.columns[condition.slot], row)
  switch condition.range {
  case .anyOf(let all): return all.contains(words)
  case .between(let low, let high): return words[0] >= low && words[0] <= high
  }
}
