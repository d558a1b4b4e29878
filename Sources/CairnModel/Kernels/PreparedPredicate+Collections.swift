// Conditions on to-many relationships, made ready: one pass over the member table groups what it says by the key
// of the owner, and what remains is a test of the owner's own key.
//
// A condition that speaks of the outer row too is brought to speak of the element alone, where the element's row
// has the owner's key: the outer row's properties are then the element's, over the inverse. What is left over
// (many to many with both sides spoken of) is asked row by row.

extension Preparer {
  func prepare(exists collection: BoundCollection) -> PreparedPredicate.Node {
    guard collection.start.base == 0, let grouped = grouped(collection) else {
      return rowwise(.exists(collection))
    }
    return prepare(collection.start.hops[...], otherwise: false) {
      .key(slot: nil, ownerTest(grouped, { $0 > 0 }))
    }
  }

  func prepare(_ expression: BoundExpression, _ test: ValueTest) -> PreparedPredicate.Node {
    if let program = NumberProgram(expression), case .general(let single) = rowwise(.check(expression, test))
    {
      return .numbers(program, test, single)
    }
    guard case .aggregate(let function, let collection, let value) = expression,
      collection.start.base == 0, collection.steps.count == 1
    else { return rowwise(.check(expression, test)) }
    guard function == .count else {
      return prepareFigure(function, collection, value, test) ?? rowwise(.check(expression, test))
    }
    guard let grouped = grouped(collection) else { return rowwise(.check(expression, test)) }
    return prepare(collection.start.hops[...], otherwise: test.nullResult) {
      .key(slot: nil, ownerTest(grouped) { test.matches(.int($0)) })
    }
  }

  // MARK: Conditions on the element alone

  /// A collection's first step with the condition on its members, numbered as row 0.
  private struct Grouped {
    var step: RelationshipID
    var filter: PreparedPredicate?
  }

  /// nil where the filters speak of the outer row and can't be made not to.
  private func grouped(_ collection: BoundCollection) -> Grouped? {
    let step = collection.steps[0]
    var filters = collection.filters
    if collection.steps.count > 1 {
      // Some element of an element: the first one's condition is that there is such an element.
      var rest = collection
      rest.start = BoundPath(base: collection.element)
      rest.steps.removeFirst()
      let shift = { (number: Int) in number >= collection.element ? number + 1 : number }
      rest.filters = filters.map { $0.mapPaths({ $0.rebased(shift) }, element: shift) }
      rest.element += 1
      filters = [existsOverHops(rest)]
    }
    if filters.isEmpty { return Grouped(step: step, filter: nil) }
    guard let node = alone(.and(filters), collection) else { return nil }
    return Grouped(step: step, filter: PreparedPredicate(root: prepare(node)))
  }

  /// To-one steps at the beginning of a collection belong to its start.
  private func existsOverHops(_ collection: BoundCollection) -> BoundPredicate.Node {
    var collection = collection
    while let step = collection.steps.first, !source.schema[step].isToMany {
      collection.steps.removeFirst()
      collection.start.hops.append(step)
    }
    return .exists(collection)
  }

  /// The same condition with the element as row 0; nil where it speaks of other rows.
  private func alone(_ node: BoundPredicate.Node, _ collection: BoundCollection) -> BoundPredicate.Node? {
    let element = collection.element
    var isNested = true
    var least = element
    _ = node.mapPaths(
      {
        least = min(least, $0.base)
        return $0
      },
      element: {
        // An element of the same number would be taken for this one.
        if $0 <= element { isNested = false }
        return $0
      })
    var node = node
    if least < element {
      let relation = source.schema[collection.steps[0]]
      guard isNested, collection.start.hops.isEmpty, least == collection.start.base,
        element == collection.start.base + 1, let inverse = relation.inverse,
        case .inverse = relation.storage
      else { return nil }
      node = node.mapPaths(
        { path in
          guard path.base < element else { return path }
          var path = path
          path.base = element
          path.hops.insert(inverse, at: 0)
          return path
        }, element: { $0 })
    }
    let shift = { (number: Int) in number - element }
    guard isNested || least >= element else { return nil }
    return node.mapPaths({ $0.rebased(shift) }, element: shift)
  }

  // MARK: Grouping

  /// The owners by the answer that `holds` gives to the number of their members that the filter leaves over.
  private func ownerTest(_ grouped: Grouped, _ holds: (Int64) -> Bool) -> KeyTest {
    let counts = memberCounts(grouped)
    let none = holds(0)
    var result = KeyTest(range: counts.range, rowCount: counts.ownerCount, otherwise: none)
    counts.forEach { owner, count in
      let answer = holds(count)
      if answer != none { result.set(owner, answer) }
    }
    return result
  }

  private func memberCounts(_ grouped: Grouped) -> OwnerCounts {
    let relation = source.schema[grouped.step]
    guard case .inverse(let slot, _) = relation.storage else { return joinCounts(grouped, relation) }
    let chunks = source.schema[relation.destination].concreteFamily.flatMap(source.chunks)
    var zone = Zone()
    for chunk in chunks { zone = zone.union(chunk.zone(of: slot)) }
    var counts = OwnerCounts(zone, memberCount: chunks.reduce(0) { $0 + $1.count })
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Chunk.capacity) { scratch in
      let mask = scratch.baseAddress!
      for chunk in chunks {
        guard let filter = grouped.filter else {
          mask.update(repeating: 1, count: chunk.count)
          chunk.deleted?.forEach(below: chunk.count) { mask[$0] = 0 }
          counts.add(chunk.columns[slot], mask, chunk.count)
          continue
        }
        filter.select(chunk, mask) { selected in
          if selected == nil { mask.update(repeating: 1, count: chunk.count) }
          counts.add(chunk.columns[slot], mask, chunk.count)
        }
      }
    }
    return counts
  }

  private func joinCounts(_ grouped: Grouped, _ relation: SchemaRelationship) -> OwnerCounts {
    guard case .join(let join, let side) = relation.storage else {
      return OwnerCounts(Zone(), memberCount: 0)
    }
    let members = grouped.filter.map { filter in
      keyTest(over: relation.destination, filter.root, false) { $0.key($1) }
    }
    let chunks = source.joinChunks(join)
    var zone = Zone()
    for chunk in chunks { zone = zone.union(chunk.zone(of: JoinSlot.key(side))) }
    var counts = OwnerCounts(zone, memberCount: chunks.reduce(0) { $0 + $1.count })
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Chunk.capacity) { scratch in
      let mask = scratch.baseAddress!
      for chunk in chunks {
        if let members {
          members.fill(mask, chunk.columns[JoinSlot.key(side.other)], count: chunk.count)
        } else {
          mask.update(repeating: 1, count: chunk.count)
        }
        chunk.deleted?.forEach(below: chunk.count) { mask[$0] = 0 }
        counts.add(chunk.columns[JoinSlot.key(side)], mask, chunk.count)
      }
    }
    return counts
  }

  // MARK: Sums, averages, extremes

  private func prepareFigure(
    _ function: CollectionAggregate, _ collection: BoundCollection, _ value: BoundExpression,
    _ test: ValueTest
  ) -> PreparedPredicate.Node? {
    guard let grouped = grouped(collection), case .path(let path) = value, path.base == collection.element
    else { return nil }
    var figures: [Int64: CollectionFigure] = [:]
    let reader = PathReader(path, source: source)
    var passing: [ObjectIdentifier: [UInt8]] = [:]
    source.forEachMember(of: grouped.step) { owner, chunk, row in
      if let filter = grouped.filter {
        let mask = passing[ObjectIdentifier(chunk)] ?? filter.mask(of: chunk)
        passing[ObjectIdentifier(chunk)] = mask
        if mask[row] == 0 { return }
      }
      figures[owner, default: CollectionFigure(function)].add(reader.value(chunk, row))
    }
    let none = test.matches(CollectionFigure(function).result)
    let owners = figures.keys
    var result = KeyTest(
      range: owners.min().map { $0...owners.max()! }, rowCount: owners.count, otherwise: none)
    for (owner, figure) in figures { result.set(owner, test.matches(figure.result)) }
    return prepare(collection.start.hops[...], otherwise: test.nullResult) { .key(slot: nil, result) }
  }
}

extension PreparedPredicate {
  fileprivate func mask(of chunk: Chunk) -> [UInt8] {
    var mask = [UInt8](repeating: 0, count: chunk.count)
    mask.withUnsafeMutableBufferPointer { buffer in
      if let address = buffer.baseAddress { fill(address, chunk) }
    }
    return mask
  }
}

extension BoundPath {
  fileprivate func rebased(_ number: (Int) -> Int) -> BoundPath {
    var path = self
    path.base = number(base)
    return path
  }
}

/// How many members each owner has: an array where keys are dense, a dictionary elsewhere.
private struct OwnerCounts {
  private let base: Int64
  private var dense: [Int64] = []
  private var sparse: [Int64: Int64] = [:]
  private let isDense: Bool
  let range: ClosedRange<Int64>?

  init(_ owners: Zone, memberCount: Int) {
    guard owners.minInteger <= owners.maxInteger else {
      (base, isDense, range) = (0, false, nil)
      return
    }
    let (span, overflow) = owners.maxInteger.subtractingReportingOverflow(owners.minInteger)
    base = owners.minInteger
    isDense = !overflow && span < Int64(max(1 << 16, memberCount * 4))
    range = owners.minInteger...owners.maxInteger
    if isDense { dense = [Int64](repeating: 0, count: Int(span) + 1) }
  }

  var ownerCount: Int { isDense ? dense.count : sparse.count }

  /// Counts the rows whose byte in `mask` is 1 and whose owner isn't null.
  mutating func add(_ owners: Column, _ mask: UnsafeMutablePointer<UInt8>, _ count: Int) {
    owners.nulls?.forEach(below: count) { mask[$0] = 0 }
    guard isDense else {
      for row in 0..<count where mask[row] != 0 { sparse[owners.integer(row), default: 0] += 1 }
      return
    }
    switch owners.layout {
    case .int8: add(owners.values.assumingMemoryBound(to: Int8.self), mask, count)
    case .int16: add(owners.values.assumingMemoryBound(to: Int16.self), mask, count)
    case .int32: add(owners.values.assumingMemoryBound(to: Int32.self), mask, count)
    default: add(owners.values.assumingMemoryBound(to: Int64.self), mask, count)
    }
  }

  private mutating func add<T: FixedWidthInteger>(
    _ owners: UnsafePointer<T>, _ mask: UnsafePointer<UInt8>, _ count: Int
  ) {
    let base = base
    dense.withUnsafeMutableBufferPointer { counts in
      RowSelection.forEachSet(mask, count) { row in
        counts[Int(truncatingIfNeeded: Int64(owners[row]) &- base)] &+= 1
      }
    }
  }

  func forEach(_ body: (Int64, Int64) -> Void) {
    if isDense {
      for place in dense.indices where dense[place] != 0 { body(base + Int64(place), dense[place]) }
    } else {
      for (owner, count) in sparse { body(owner, count) }
    }
  }
}
