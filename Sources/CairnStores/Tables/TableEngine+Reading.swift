// Answering requests: choose an index where one narrows the rows enough, and let the kernels do the rest.

import CairnModel

extension TableEngine {
  package func fetch(
    _ request: StoreRequest, in snapshot: any StoreSnapshot, trace: StoreTrace? = nil
  ) throws -> RowBatch {
    let tables = try tables(of: snapshot)
    try checkWindow(request)
    let query = try query(request, tables, trace)
    let sort = try BoundPath.bind(request.sort, to: request.entity, in: schema)
    let rows = query.rows(
      sort: sort, offset: request.offset, limit: request.limit, candidates: candidates(request, query, tables)
    )
    try query.checkPatterns()
    return rows
  }

  package func count(
    _ request: StoreRequest, in snapshot: any StoreSnapshot, trace: StoreTrace? = nil
  ) throws -> Int {
    let tables = try tables(of: snapshot)
    try checkWindow(request)
    let query = try query(request, tables, trace)
    _ = try BoundPath.bind(request.sort, to: request.entity, in: schema)
    let all = query.count(candidates(request, query, tables))
    trace?.rowsMatched = all
    try query.checkPatterns()
    return min(max(all - request.offset, 0), request.limit ?? Int.max)
  }

  package func aggregate(
    _ request: AggregateRequest, in snapshot: any StoreSnapshot, trace: StoreTrace? = nil
  ) throws -> [AggregateRow] {
    let tables = try tables(of: snapshot)
    _ = try requireEntity(request.entity)
    var query = try trace.measure("prepare") {
      try RowQuery(
        entity: request.entity, includesSubentities: request.includesSubentities,
        predicate: request.predicate,
        source: tables)
    }
    query.trace = trace
    let groups = try request.groupBy.map { try BoundPath($0, from: request.entity, in: schema) }
    let terms = try request.terms.map { term in try bind(term, request.entity) }
    let rows = query.aggregate(groupBy: groups, terms: terms)
    try query.checkPatterns()
    return rows
  }

  package func rows(_ keys: [RowKey], in snapshot: any StoreSnapshot) throws -> RowBatch {
    let tables = try tables(of: snapshot)
    var chunks: [Chunk] = []
    var places: [RowBatch.Place] = []
    places.reserveCapacity(keys.count)
    var start = 0
    while start < keys.count {  // a run of keys of one entity
      let entity = keys[start].entity
      let family = schema[try requireEntity(entity).root].concreteFamily.compactMap {
        tables.tables[$0.index]
      }
      var end = start + 1
      while end < keys.count, keys[end].entity == entity { end += 1 }
      var finders = family.map { RowFinder($0, expecting: end - start) }
      for key in keys[start..<end] {
        for finder in finders.indices {
          if let place = finders[finder].place(of: key.id, in: &chunks) {
            places.append(place)
            break
          }
        }
      }
      start = end
    }
    return RowBatch(chunks: chunks, places: places)
  }

  /// What `rows` finds for one key.
  package func row(_ key: RowKey, in snapshot: any StoreSnapshot) throws -> (chunk: Chunk, row: Int)? {
    try tables(of: snapshot).locate(key.id, in: requireEntity(key.entity).root)
  }

  package func newestRow(_ key: RowKey) throws -> (chunk: Chunk, row: Int)? {
    let tables = try currentSnapshot()
    guard schema.entities.indices.contains(key.entity.index) else {
      return try tables.locate(key.id, in: requireEntity(key.entity).root)
    }
    return tables.locate(key.id, in: schema.entities[key.entity.index].root)
  }

  private func query(
    _ request: StoreRequest, _ tables: TableSnapshot, _ trace: StoreTrace?
  ) throws -> RowQuery {
    var query = try trace.measure("prepare") {
      try RowQuery(
        entity: request.entity, includesSubentities: request.includesSubentities,
        predicate: request.predicate,
        source: tables)
    }
    query.trace = trace
    return query
  }

  private func checkWindow(_ request: StoreRequest) throws {
    let entity = try requireEntity(request.entity)
    if request.offset < 0 || request.limit ?? 0 < 0 {
      throw StoreError(
        .unsupportedRequest,
        "an offset of \(request.offset) and a limit of \(request.limit.map { String($0) } ?? "none") are no window",
        entity: entity.name)
    }
  }

  private func bind(
    _ term: AggregateRequest.Term, _ entity: EntityID
  ) throws -> (function: AggregateRequest.Function, path: BoundPath?) {
    guard let names = term.path else {
      guard term.function == .count else {
        throw StoreError(
          .unsupportedRequest, "\(term.function) needs a property", entity: schema[entity].name)
      }
      return (term.function, nil)
    }
    let path = try BoundPath(names, from: entity, in: schema)
    if [.sum, .average].contains(term.function), path.type.family != .number {
      throw StoreError(
        .unsupportedRequest, "\(term.function) of a \(path.type.family)", entity: schema[entity].name,
        property: names.joined(separator: "."))
    }
    return (term.function, path)
  }

  // MARK: Choosing an index

  /// The rows that an index leaves to look at; nil where looking through the columns is cheaper.
  private func candidates(_ request: StoreRequest, _ query: RowQuery, _ tables: TableSnapshot)
    -> CandidateRows?
  {
    let conditions = query.conditions
    if conditions.isEmpty { return nil }
    return query.trace.measure("index") { candidates(request, conditions, tables, query.trace) }
  }

  private func candidates(
    _ request: StoreRequest, _ conditions: [IndexCondition], _ tables: TableSnapshot, _ trace: StoreTrace?
  ) -> CandidateRows? {
    var uses: [StoreTrace.IndexUse] = []
    let entity = schema[request.entity]
    let family = request.includesSubentities ? entity.concreteFamily : [entity.id]
    var result = CandidateRows()
    var fulfilled: Set<Int>?
    for concrete in family {
      guard let table = tables.tables[concrete.index] else { continue }
      if table.liveCount == 0 { continue }
      guard let choice = IndexChoice(table, schema[concrete], conditions), let keys = choice.keys() else {
        return nil
      }
      if trace != nil { uses.append(choice.use(of: schema[concrete], candidates: keys.count)) }
      let found = TableEngine.candidates(keys, in: table)
      result.chunks += found.chunks
      result.masks += found.masks
      fulfilled = fulfilled.map { $0.intersection(choice.fulfilled) } ?? choice.fulfilled
    }
    result.fulfilled = fulfilled ?? []
    trace?.indexes = uses
    return result
  }

  /// The live rows with these keys, which may come in any order and more than once.
  private static func candidates(_ keys: [Int64], in table: Table) -> CandidateRows {
    var finder = RowFinder(table, expecting: keys.count)
    var chunks: [Chunk] = []
    var masks: [[UInt8]] = []
    for key in keys {
      guard let place = finder.place(of: key, in: &chunks) else { continue }
      let number = Int(place.chunk)
      if number == masks.count { masks.append([UInt8](repeating: 0, count: chunks[number].count)) }
      masks[number][Int(place.row)] = 1
    }
    let order = chunks.indices.sorted { chunks[$0].firstKey < chunks[$1].firstKey }
    return CandidateRows(chunks: order.map { chunks[$0] }, masks: order.map { masks[$0] })
  }

  /// The live rows with these keys, by chunk, both ascending.
  static func places(of keys: [Int64], in table: Table) -> [(Chunk, [Int])] {
    var result: [(Chunk, [Int])] = []
    var last: Int64?
    for key in keys.sorted() where key != last {
      last = key
      if let chunk = result.last?.0, key <= chunk.lastKey {
        if let row = chunk.row(of: key), !chunk.isDeleted(row) { result[result.count - 1].1.append(row) }
      } else if let place = table.locate(key) {
        result.append((place.chunk, [place.row]))
      }
    }
    return result
  }
}

/// The index that narrows a table's rows most for some conditions.
private struct IndexChoice {
  /// What the conditions leave of an index.
  private struct Fit {
    var slots: [Int]
    var bounds: [TableIndex.Bounds]
    /// An equality counts two, a range one; 0 where the first slot isn't narrowed.
    var score = 0
    /// The numbers of the conditions that the bounds say exactly.
    var said: Set<Int> = []
  }

  private let table: Table
  private let index: TableIndex
  private let fit: Fit

  /// nil where no index helps. Declared indexes are built when they fit; the indexes behind relationships and
  /// constraints are only used once something else has built them.
  init?(_ table: Table, _ entity: SchemaEntity, _ conditions: [IndexCondition]) {
    let declared = entity.indexes.map(\.slots)
    let implied = (entity.uniquenessConstraints.map(\.slots) + entity.slots.indices.map { [$0] })
      .filter { table.indexes.isBuilt($0) }
    let fits = (declared + implied).map { IndexChoice.fit($0, conditions) }
    // The first of the best, so that the same request always takes the same index.
    guard let best = fits.reduce(nil, { best, fit -> Fit? in fit.score > best?.score ?? 0 ? fit : best }),
      let index = table.indexes.index(on: best.slots, for: table)
    else { return nil }
    self.table = table
    self.index = index
    fit = best
  }

  /// Conditions that every row of `keys` fulfils.
  var fulfilled: Set<Int> { index.isFresh(table.serial) ? fit.said : [] }

  /// nil where the candidates are so many that looking through the columns is cheaper: a candidate costs about
  /// twelve times what a row costs the kernels.
  func keys() -> [Int64]? {
    let estimate = fit.bounds.reduce(0) { $0 + index.estimate($1) }
    if estimate > 64, estimate > table.liveCount / 12 { return nil }
    return fit.bounds.flatMap { index.keys($0, version: table.serial) }
  }

  func use(of entity: SchemaEntity, candidates: Int) -> StoreTrace.IndexUse {
    let range = fit.bounds.first?.next != nil || fit.bounds.isEmpty
    let narrowed = (fit.bounds.first?.prefix.count ?? 0) + (range ? 1 : 0)
    return StoreTrace.IndexUse(
      entity: entity.name, properties: fit.slots.prefix(narrowed).map { entity.slots[$0].name },
      lookUps: fit.bounds.count, endsWithRange: range, candidates: candidates)
  }

  private static func fit(_ slots: [Int], _ conditions: [IndexCondition]) -> Fit {
    var fit = Fit(slots: slots, bounds: [])
    var prefixes: [[UInt64]] = [[]]
    for slot in slots {
      let here = conditions.filter { $0.slot == slot }
      // One list of values is followed; a second condition on the slot is checked with the rest.
      if let (values, number) = shortestList(here), values.count * prefixes.count <= 64 {
        prefixes = prefixes.flatMap { prefix in values.map { prefix + $0 } }
        if let number { fit.said.insert(number) }
        fit.score += 2
        continue
      }
      if let (range, numbers) = narrowestRange(here) {
        fit.score += 1
        fit.said.formUnion(numbers)
        fit.bounds = range.map { range in prefixes.map { .init(prefix: $0, next: range) } } ?? []
        return fit
      }
      break
    }
    fit.bounds = prefixes.map { .init(prefix: $0, next: nil) }
    return fit
  }

  private static func shortestList(_ conditions: [IndexCondition]) -> ([[UInt64]], Int?)? {
    let lists = conditions.compactMap { condition -> ([[UInt64]], Int?)? in
      if case .anyOf(let words) = condition.range { (words, condition.number) } else { nil }
    }
    return lists.min { $0.0.count < $1.0.count }
  }

  /// The range that all conditions leave, itself nil if they contradict each other; nil if there is none.
  private static func narrowestRange(_ conditions: [IndexCondition]) -> (ClosedRange<UInt64>?, [Int])? {
    var low: UInt64 = 0
    var high = UInt64.max
    var numbers: [Int] = []
    var isThere = false
    for condition in conditions {
      guard case .between(let from, let to) = condition.range else { continue }
      isThere = true
      low = max(low, from)
      high = min(high, to)
      if let number = condition.number { numbers.append(number) }
    }
    return isThere ? (low <= high ? low...high : nil, numbers) : nil
  }
}
