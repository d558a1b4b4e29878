// A bound predicate made ready for one snapshot: to-one hops have become tests of keys, so that what remains
// is evaluated on one chunk at a time, column by column.

import Foundation

/// A predicate ready to filter the chunks of one entity family of one snapshot.
///
/// Preparing costs one pass over the rows of each entity that a key path leads to.
public struct PreparedPredicate {
  indirect enum Node {
    case constant(Bool)
    case slot(Int, ValueTest)
    /// Whether a slot of whole numbers or keys holds one of some: the test, and the same as a table.
    case members(slot: Int, ValueTest, KeyTest)
    /// The key in a slot; nil tests the row's own key.
    case key(slot: Int?, KeyTest)
    /// Arithmetic, and what answers it for one row.
    case numbers(NumberProgram, ValueTest, RowTest)
    /// What no kernel answers.
    case general(RowTest)
    case and([Node])
    case or([Node])
    case not(Node)
  }

  let root: Node

  public init(_ predicate: BoundPredicate, source: any ChunkSource) {
    root = Preparer(source).prepare(predicate.root)
  }

  /// Which way a chunk went as a whole.
  enum Outcome { case none, all, mixed }
}

struct Preparer {
  let source: any ChunkSource
  let rows: ColumnRows

  init(_ source: any ChunkSource) {
    self.source = source
    rows = ColumnRows(source)
  }

  func prepare(_ node: BoundPredicate.Node) -> PreparedPredicate.Node {
    switch node {
    case .constant(let value): return .constant(value)
    case .and(let parts): return .and(parts.map(prepare))
    case .or(let parts): return .or(parts.map(prepare))
    case .not(let part): return .not(prepare(part))
    case .comparePaths(let left, let op, let right):
      let a = PathReader(left, source: source)
      let b = PathReader(right, source: source)
      return .general(RowTest { op.holds(a.value($0, $1), b.value($0, $1), []) })
    case .check(let expression, let test): return prepare(expression, test)
    case .compare: return rowwise(node)
    case .exists(let collection): return prepare(exists: collection)
    case .test(let path, let test): return prepare(path, test)
    }
  }

  func prepare(_ path: BoundPath, _ test: ValueTest) -> PreparedPredicate.Node {
    prepare(path.hops[...], otherwise: test.nullResult) {
      switch path.target {
      case .slot(let slot):
        KeyTest(members: test, of: path.type).map { .members(slot: slot, test, $0) } ?? .slot(slot, test)
      case .ownKey: .key(slot: nil, ownKeyTest(test))
      }
    }
  }

  /// What `end` says of the row that the hops lead to, and `otherwise` where they lead nowhere.
  func prepare(
    _ hops: ArraySlice<RelationshipID>, otherwise: Bool, _ end: () -> PreparedPredicate.Node
  ) -> PreparedPredicate.Node {
    guard let hop = hops.first else { return end() }
    let relation = source.schema[hop]
    let inner = prepare(hops.dropFirst(), otherwise: otherwise, end)
    if case .key(let slot) = relation.storage {
      return .key(slot: slot, keyTest(over: relation.destination, inner, otherwise) { $0.key($1) })
    }
    guard case .inverse(let slot, _) = relation.storage else { return .constant(otherwise) }
    let owners = rows.inverse(of: hop)
    return .key(
      slot: nil,
      keyTest(over: relation.destination, inner, otherwise) { chunk, row in
        let column = chunk.columns[slot]
        if column.isNull(row) { return nil }
        return owners.destination(of: column.integer(row)) == chunk.key(row) ? column.integer(row) : nil
      })
  }

  /// Row by row.
  func rowwise(_ node: BoundPredicate.Node) -> PreparedPredicate.Node {
    .general(
      RowTest { [rows] chunk, row in
        var evaluator = BoundEvaluator(rows.row(chunk, row))
        return evaluator.holds(node)
      })
  }

  /// The keys that `name` gives to the destination's live rows, no two the same, each with the answer of
  /// `inner` for its row.
  func keyTest(
    over destination: EntityID, _ inner: PreparedPredicate.Node, _ otherwise: Bool,
    name: (Chunk, Int) -> Int64?
  ) -> KeyTest {
    let chunks = source.schema[destination].concreteFamily.flatMap(source.chunks)
    var low = Int64.max
    var high = Int64.min
    for chunk in chunks {
      for row in 0..<chunk.count where !chunk.isDeleted(row) {
        guard let key = name(chunk, row) else { continue }
        low = min(low, key)
        high = max(high, key)
      }
    }
    var result = KeyTest(
      range: low <= high ? low...high : nil, rowCount: chunks.reduce(0) { $0 + $1.count },
      otherwise: otherwise)
    let filter = PreparedPredicate(root: inner)
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Chunk.capacity) { mask in
      for chunk in chunks {
        filter.fill(mask.baseAddress!, chunk)
        for row in 0..<chunk.count where !chunk.isDeleted(row) {
          if let key = name(chunk, row) { result.set(key, mask[row] != 0) }
        }
      }
    }
    return result
  }

  /// A test of the row's own key, which never is null.
  private func ownKeyTest(_ test: ValueTest) -> KeyTest {
    func only(_ keys: [Value]) -> KeyTest {
      let ids = keys.compactMap { if case .key(let id) = $0 { id } else { nil } }
      var result = KeyTest(range: ids.first.map { $0...ids.last! }, rowCount: ids.count, otherwise: false)
      for id in ids { result.set(id, true) }
      return result
    }
    switch test {
    case .isIn(let values): return only(values)
    case .compare(.equal, let value): return only([value])
    case .compare(.notEqual, .key(let id)):
      var result = KeyTest(range: id...id, rowCount: 1, otherwise: true)
      result.set(id, false)
      return result
    case .isNull: return KeyTest(range: nil, rowCount: 0, otherwise: false)
    case .isNotNull, .compare(.notEqual, _): return KeyTest(range: nil, rowCount: 0, otherwise: true)
    case .compare, .between, .string:
      return rangeTest(test)
    }
  }

  /// Orderings of keys: rare, so every key of the snapshot is asked.
  private func rangeTest(_ test: ValueTest) -> KeyTest {
    var result = KeyTest(range: nil, rowCount: 0, otherwise: false)
    for entity in source.schema.entities where !entity.isAbstract {
      for chunk in source.chunks(of: entity.id) {
        for row in 0..<chunk.count where test.matches(.key(chunk.key(row))) {
          result.set(chunk.key(row), true)
        }
      }
    }
    return result
  }
}

extension PreparedPredicate {
  init(root: Node) {
    self.root = root
  }
}

extension PreparedPredicate {
  /// The predicate without the parts of its AND with these numbers, which are known to hold; nil if nothing
  /// is left.
  func without(_ fulfilled: Set<Int>) -> PreparedPredicate? {
    if fulfilled.isEmpty { return self }
    guard case .and(let parts) = root else { return fulfilled.contains(0) ? nil : self }
    let rest = parts.indices.filter { !fulfilled.contains($0) }.map { parts[$0] }
    return rest.isEmpty ? nil : PreparedPredicate(root: .and(rest))
  }
}

extension PreparedPredicate.Node {
  /// The answer for one row, value by value: for candidates that an index found.
  func matches(_ chunk: Chunk, _ row: Int) -> Bool {
    switch self {
    case .constant(let value): value
    case .slot(let slot, let test): test.matches(chunk.columns[slot].value(row))
    case .members(let slot, _, let table):
      !chunk.columns[slot].isNull(row) && table.matches(chunk.columns[slot].integer(row))
    case .key(let slot?, let test):
      chunk.columns[slot].isNull(row) ? test.otherwise : test.matches(chunk.columns[slot].integer(row))
    case .key(nil, let test): test.matches(chunk.key(row))
    case .general(let test), .numbers(_, _, let test): test.matches(chunk, row)
    case .and(let parts): parts.allSatisfy { $0.matches(chunk, row) }
    case .or(let parts): parts.contains { $0.matches(chunk, row) }
    case .not(let part): !part.matches(chunk, row)
    }
  }
}
