// A request run over chunks: filter, order, window; or filter, group, add up.

/// A request bound to a snapshot's chunks. The engine narrows it with an index first where it has one.
public struct RowQuery {
  private let source: any ChunkSource
  private let entities: [EntityID]
  private let slots: [Slot]
  private let bound: BoundPredicate?
  private let predicate: PreparedPredicate?
  /// Where it is noted how the request is run; nil, as nearly always, for nowhere.
  package var trace: StoreTrace?

  /// Fits the predicate to the entity. Throws what `BoundPredicate` throws.
  public init(
    entity: EntityID, includesSubentities: Bool, predicate: PredicateTree?, source: any ChunkSource
  ) throws {
    let schema = source.schema
    guard schema.entities.indices.contains(entity.index) else {
      throw StoreError(.unknownEntity, "there is no entity number \(entity.index)")
    }
    self.source = source
    let described = schema[entity]
    slots = described.slots
    entities = includesSubentities ? described.concreteFamily : described.isAbstract ? [] : [entity]
    bound = try predicate.map { try BoundPredicate($0, to: entity, in: schema) }
    self.predicate = bound.map { PreparedPredicate($0, source: source) }
  }

  /// Throws `unsupportedRequest` if a regular expression gave up: to be called after any of the others.
  package func checkPatterns() throws { try bound?.checkPatterns() }

  /// How many rows match. Without a predicate, costs the number of chunks.
  public func count() -> Int { count(nil) }

  /// The same among the rows that an index found.
  package func count(_ candidates: CandidateRows?) -> Int {
    if let candidates { return select(candidates).count }
    guard let predicate else {
      return entities.reduce(0) { sum, entity in source.chunks(of: entity).reduce(sum) { $0 + $1.liveCount } }
    }
    return trace.measure("filter") {
      var total = 0
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Chunk.capacity) { mask in
        for entity in entities {
          let chunks = source.chunks(of: entity)
          var ahead = ReadAhead(chunks, predicate, mayEndEarly: false)
          for (place, chunk) in chunks.enumerated() {
            ahead.advance(to: place, found: total)
            predicate.select(chunk, mask.baseAddress!, trace) { mask in
              total += mask.map { RowSelection.countSet($0, chunk.count) } ?? chunk.count
            }
          }
        }
      }
      return total
    }
  }

  /// The matching rows of a window in order. A negative offset or limit counts as 0.
  public func rows(sort: [(path: BoundPath, ascending: Bool)], offset: Int, limit: Int?) -> RowBatch {
    rows(sort: sort, offset: offset, limit: limit, candidates: nil)
  }

  /// The same among the rows that an index found.
  package func rows(
    sort: [(path: BoundPath, ascending: Bool)], offset: Int, limit: Int?, candidates: CandidateRows?
  ) -> RowBatch {
    let offset = max(0, offset)
    let end = limit.map { offset.addingReportingOverflow(max(0, $0)) }
      .map { $0.overflow ? Int.max : $0.partialValue }
    // Without an order the rows come as they lie, so the search stops when the window is full.
    let needed = sort.isEmpty ? end : nil
    let selection = trace.measure("filter") { candidates.map { select($0) } ?? select(atMost: needed) }
    if let trace {
      trace.rowsMatched = selection.count
      trace.order =
        sort.isEmpty ? .stored : RowSorter.isWindow(end ?? selection.count, of: selection) ? .best : .sorted
    }
    let places = trace.measure("order") {
      sort.isEmpty
        ? selection.places()
        : RowSorter(terms: sort, source: source).sorted(selection, limit: end ?? selection.count)
    }
    return RowBatch(chunks: selection.chunks, places: window(places, offset, end))
  }

  private func window(_ places: [RowBatch.Place], _ offset: Int, _ end: Int?) -> [RowBatch.Place] {
    let upper = min(end ?? places.count, places.count)
    if offset == 0, upper == places.count { return places }
    return offset < upper ? Array(places[offset..<upper]) : []
  }

  /// Figures over groups of the matching rows.
  public func aggregate(
    groupBy: [BoundPath], terms: [(function: AggregateRequest.Function, path: BoundPath?)]
  ) -> [AggregateRow] {
    let selection = trace.measure("filter") { select(atMost: nil) }
    trace?.rowsMatched = selection.count
    return trace.measure("group") {
      Aggregator(groupBy: groupBy, terms: terms, source: source).run(selection)
    }
  }

  // MARK: Filtering

  private func select(atMost limit: Int?) -> RowSelection {
    var selection = RowSelection()
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Chunk.capacity) { scratch in
      for entity in entities {
        let chunks = source.chunks(of: entity)
        var ahead = predicate.map { ReadAhead(chunks, $0, mayEndEarly: limit != nil) }
        for (place, chunk) in chunks.enumerated() {
          if let limit, selection.count >= limit { return }
          guard let predicate else {
            trace?.noteChunk(rows: chunk.count, isDecided: true)
            add(chunk, chunk.deleted == nil ? nil : allLive(chunk, scratch.baseAddress!), to: &selection)
            continue
          }
          ahead?.advance(to: place, found: selection.count)
          predicate.select(chunk, scratch.baseAddress!, trace) { add(chunk, $0, to: &selection) }
        }
      }
    }
    return selection
  }

  private func allLive(_ chunk: Chunk, _ mask: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
    mask.update(repeating: 1, count: chunk.count)
    chunk.deleted?.forEach(below: chunk.count) { mask[$0] = 0 }
    return mask
  }

  private func add(_ chunk: Chunk, _ mask: UnsafeMutablePointer<UInt8>?, to selection: inout RowSelection) {
    let count = mask.map { RowSelection.countSet($0, chunk.count) } ?? chunk.count
    if count == 0 { return }
    selection.chunks.append(chunk)
    selection.masks.append(mask.map { Array(UnsafeBufferPointer(start: $0, count: chunk.count)) })
    selection.count += count
  }

  /// Checks the candidates: one by one where they are few, by the kernels where a chunk has many.
  private func select(_ candidates: CandidateRows) -> RowSelection {
    var selection = RowSelection()
    let rest = predicate?.without(candidates.fulfilled)
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Chunk.capacity) { scratch in
      let scratch = scratch.baseAddress!
      for (chunk, var mask) in zip(candidates.chunks, candidates.masks) {
        trace?.noteCandidates(
          mask.withUnsafeBufferPointer { RowSelection.countSet($0.baseAddress!, mask.count) })
        let count = mask.withUnsafeMutableBufferPointer {
          keepMatching($0.baseAddress!, chunk, rest, scratch)
        }
        if count == 0 { continue }
        selection.chunks.append(chunk)
        selection.masks.append(mask)
        selection.count += count
      }
    }
    return selection
  }

  /// Clears the bytes of `mask` whose rows don't match, and counts those that stay.
  private func keepMatching(
    _ mask: UnsafeMutablePointer<UInt8>, _ chunk: Chunk, _ predicate: PreparedPredicate?,
    _ scratch: UnsafeMutablePointer<UInt8>
  ) -> Int {
    let count = RowSelection.countSet(mask, chunk.count)
    guard let predicate else { return count }
    if count * 256 > chunk.count {
      predicate.fill(scratch, chunk)
      for row in 0..<chunk.count { mask[row] &= scratch[row] }
    } else {
      RowSelection.forEachSet(mask, chunk.count) { row in
        if !predicate.root.matches(chunk, row) { mask[row] = 0 }
      }
    }
    return RowSelection.countSet(mask, chunk.count)
  }

  /// What the predicate says of single slots, where it is a test or an AND of tests: for choosing an index.
  package var conditions: [IndexCondition] {
    predicate.map { IndexCondition.all(in: $0.root, slots) } ?? []
  }
}

/// Rows that an index found: chunks in ascending order of keys, each with a mask of one byte a row. All of
/// them are live.
package struct CandidateRows {
  package var chunks: [Chunk]
  package var masks: [[UInt8]]
  /// Conditions that all of these rows are known to fulfil, by their numbers: they aren't asked again.
  package var fulfilled: Set<Int>

  package init(chunks: [Chunk] = [], masks: [[UInt8]] = [], fulfilled: Set<Int> = []) {
    self.chunks = chunks
    self.masks = masks
    self.fulfilled = fulfilled
  }
}

/// A condition on one slot that every matching row fulfils, in the words of an index.
package struct IndexCondition {
  package let slot: Int
  package enum Range {
    /// Any of these values; the words of each.
    case anyOf([[UInt64]])
    /// Between two first words, both included.
    case between(UInt64, UInt64)
  }
  package let range: Range
  /// Which part of the AND it is; nil where the words say less than the condition does.
  package private(set) var number: Int?

  static func all(in node: PreparedPredicate.Node, _ slots: [Slot]) -> [IndexCondition] {
    guard case .and(let parts) = node else { return one(node, 0, slots).map { [$0] } ?? [] }
    return parts.enumerated().flatMap { number, part -> [IndexCondition] in
      // What an AND within the AND says holds too, but has no number of its own.
      if case .and = part {
        return all(in: part, slots).map { IndexCondition(slot: $0.slot, range: $0.range, number: nil) }
      }
      return one(part, number, slots).map { [$0] } ?? []
    }
  }

  private static func one(
    _ node: PreparedPredicate.Node, _ number: Int, _ slots: [Slot]
  ) -> IndexCondition? {
    switch node {
    case .key(let slot?, let test):
      guard !test.otherwise else { return nil }
      let keys = test.exceptions
      guard keys.count <= 64 else { return nil }
      return IndexCondition(slot: slot, range: .anyOf(keys.map { [UInt64(bitPattern: $0)] }), number: number)
    case .slot(let slot, let test), .members(let slot, let test, _):
      guard let range = condition(test, slots[slot].type) else { return nil }
      return IndexCondition(
        slot: slot, range: range, number: isExact(test, slots[slot].type) ? number : nil)
    default: return nil
    }
  }

  /// Whether the words of these types tell all values apart, and the bounds are those of the condition.
  private static func isExact(_ test: ValueTest, _ type: ValueType) -> Bool {
    switch type {
    case .int16, .int32, .bool, .key: break
    default: return false
    }
    switch test {
    case .compare(.equal, _), .compare(.lessOrEqual, _), .compare(.greaterOrEqual, _), .between, .isIn:
      return true
    default: return false
    }
  }

  private static func condition(_ test: ValueTest, _ type: ValueType) -> Range? {
    func words(_ value: Value) -> [UInt64]? { IndexCoder.words(value, as: type) }
    switch test {
    case .compare(.equal, let value): return words(value).map { .anyOf([$0]) }
    case .isIn(let values):
      guard values.count <= 64 else { return nil }
      let all = values.compactMap(words)
      return all.count == values.count ? .anyOf(all) : nil
    case .compare(.less, let value), .compare(.lessOrEqual, let value):
      return words(value).map { .between(1, $0[0]) }
    case .compare(.greater, let value), .compare(.greaterOrEqual, let value):
      return words(value).map { .between($0[0], .max) }
    case .between(let low, let high):
      guard let from = words(low), let to = words(high) else { return nil }
      return .between(from[0], to[0])
    default: return nil
    }
  }
}

extension BoundPath {
  /// Fits sort terms to an entity. Throws `unknownProperty` or `unbindablePredicate`.
  public static func bind(
    _ terms: [SortTerm], to entity: EntityID, in schema: Schema
  ) throws -> [(path: BoundPath, ascending: Bool)] {
    try terms.map { (try BoundPath($0.path, from: entity, in: schema), $0.ascending) }
  }
}
