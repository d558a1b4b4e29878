// Numbers the groups of a selection: by the values of slots, or of what key paths lead to.

/// Which group each selected row is in.
struct Grouping {
  static let unselected = UInt32.max

  /// For each chunk of the selection the group of each row, or `unselected`.
  private(set) var groups: [[UInt32]] = []
  /// For each group the first row of it.
  private(set) var firstRows: [(chunk: Int, row: Int)] = []

  init(_ paths: [BoundPath], _ selection: RowSelection, _ source: any ChunkSource) {
    if paths.isEmpty {
      makeOneGroup(selection)
      return
    }
    let coders = paths.map { SortCoder($0, chunks: selection.chunks, masks: selection.masks, source: source) }
    if paths.count == 1, makeGroupsOfSmallIntegers(selection, paths[0], coders[0], source) { return }
    let width = coders.reduce(0) { $0 + $1.width }
    if width <= 16 {
      makeGroups(selection, coders, tableWidth: width)
    } else if width <= 64 {
      makeGroups(selection, coders, tableWidth: nil)
    } else {
      makeWideGroups(selection, coders)
    }
  }

  /// The groups that rows are in; the others are numbers that no row has.
  var present: [Int] { firstRows.indices.filter { firstRows[$0].chunk >= 0 } }

  /// Groups by the integers of one slot as they are, where they lie close together: the slot itself, or the
  /// key that the path starts with. False, and nothing made, where they don't, or where two keys lead to one
  /// value.
  private mutating func makeGroupsOfSmallIntegers(
    _ selection: RowSelection, _ path: BoundPath, _ coder: SortCoder, _ source: any ChunkSource
  ) -> Bool {
    let slot: Int
    if let hop = path.hops.first {
      guard case .key(let key) = source.schema[hop].storage else { return false }
      slot = key
    } else {
      guard case .slot(let own) = path.target, Column.Layout.fixed(for: path.type) == nil else {
        return false
      }
      slot = own
    }
    var zone = Zone()
    for chunk in selection.chunks { zone = zone.union(chunk.zone(of: slot)) }
    let span = zone.maxInteger.subtractingReportingOverflow(zone.minInteger)
    guard zone.minInteger <= zone.maxInteger, !span.overflow, span.partialValue < 4096 else { return false }
    firstRows = [(chunk: Int, row: Int)](repeating: (-1, -1), count: Int(span.partialValue) + 2)
    for (index, chunk) in selection.chunks.enumerated() {
      groups.append(number(chunk.columns[slot], chunk.count, selection.masks[index], index, zone.minInteger))
    }
    let codes = present.map { coder.code(selection.chunks[firstRows[$0].chunk], firstRows[$0].row) }
    if Set(codes).count == codes.count { return true }
    groups = []
    firstRows = []
    return false
  }

  /// Null is group 0, and each integer its distance from `base` plus 1.
  private mutating func number(
    _ column: Column, _ count: Int, _ mask: [UInt8]?, _ chunk: Int, _ base: Int64
  ) -> [UInt32] {
    var numbers = [UInt32](unsafeUninitializedCapacity: count) { buffer, filled in
      switch column.layout {
      case .int8: Grouping.subtract(base, column.values.assumingMemoryBound(to: Int8.self), count, buffer)
      case .int16: Grouping.subtract(base, column.values.assumingMemoryBound(to: Int16.self), count, buffer)
      case .int32: Grouping.subtract(base, column.values.assumingMemoryBound(to: Int32.self), count, buffer)
      default: Grouping.subtract(base, column.values.assumingMemoryBound(to: Int64.self), count, buffer)
      }
      filled = count
    }
    column.nulls?.forEach(below: count) { numbers[$0] = 0 }
    if let mask {
      for row in 0..<count where mask[row] == 0 { numbers[row] = Grouping.unselected }
    }
    // Once every number has its first row, later chunks have nothing to add.
    let isComplete = firstRows.dropFirst(column.nulls == nil ? 1 : 0).allSatisfy { $0.chunk >= 0 }
    if isComplete { return numbers }
    firstRows.withUnsafeMutableBufferPointer { firstRows in
      for row in 0..<count {
        let number = Int(numbers[row])
        if number < firstRows.count, firstRows[number].chunk < 0 { firstRows[number] = (chunk, row) }
      }
    }
    return numbers
  }

  @inline(__always)
  private static func subtract<T: FixedWidthInteger>(
    _ base: Int64, _ p: UnsafePointer<T>, _ count: Int, _ result: UnsafeMutableBufferPointer<UInt32>
  ) {
    for row in 0..<count { result[row] = UInt32(truncatingIfNeeded: Int64(p[row]) &- base &+ 1) }
  }

  private mutating func makeOneGroup(_ selection: RowSelection) {
    firstRows = [(0, 0)]
    groups = zip(selection.chunks, selection.masks).map { chunk, mask in
      guard let mask else { return [UInt32](repeating: 0, count: chunk.count) }
      return (0..<chunk.count).map { mask[$0] != 0 ? 0 : Grouping.unselected }
    }
  }

  /// How many rows each group has.
  func sizes() -> [Int] {
    var sizes = [Int](repeating: 0, count: firstRows.count)
    for numbers in groups {
      for group in numbers where group != Grouping.unselected { sizes[Int(group)] += 1 }
    }
    return sizes
  }

  /// Groups by one word a row, numbered by a table where words are small and by a dictionary elsewhere.
  private mutating func makeGroups(_ selection: RowSelection, _ coders: [SortCoder], tableWidth: Int?) {
    var table = [UInt32](repeating: Grouping.unselected, count: tableWidth.map { 1 << $0 } ?? 0)
    var byWord: [UInt64: UInt32] = [:]
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Chunk.capacity) { words in
      let words = words.baseAddress!
      for (index, chunk) in selection.chunks.enumerated() {
        words.update(repeating: 0, count: chunk.count)
        for coder in coders { coder.append(to: words, chunk, descending: false) }
        var numbers = [UInt32](repeating: Grouping.unselected, count: chunk.count)
        if tableWidth != nil {
          number(words, selection.masks[index], index, &table, &numbers)
        } else {
          for row in numbers.indices where selection.masks[index].map({ $0[row] != 0 }) ?? true {
            numbers[row] = byWord[words[row]] ?? addGroup(index, row)
            byWord[words[row]] = numbers[row]
          }
        }
        groups.append(numbers)
      }
    }
  }

  private mutating func number(
    _ words: UnsafePointer<UInt64>, _ mask: [UInt8]?, _ index: Int, _ table: inout [UInt32],
    _ numbers: inout [UInt32]
  ) {
    table.withUnsafeMutableBufferPointer { table in
      numbers.withUnsafeMutableBufferPointer { numbers in
        for row in numbers.indices {
          if let mask, mask[row] == 0 { continue }
          var group = table[Int(truncatingIfNeeded: words[row])]
          if group == Grouping.unselected {
            group = addGroup(index, row)
            table[Int(truncatingIfNeeded: words[row])] = group
          }
          numbers[row] = group
        }
      }
    }
  }

  private mutating func addGroup(_ chunk: Int, _ row: Int) -> UInt32 {
    firstRows.append((chunk, row))
    return UInt32(firstRows.count - 1)
  }

  private mutating func makeWideGroups(_ selection: RowSelection, _ coders: [SortCoder]) {
    var byWords: [[UInt64]: UInt32] = [:]
    for (index, chunk) in selection.chunks.enumerated() {
      let words = coders.map { coder in
        [UInt64](unsafeUninitializedCapacity: chunk.count) { buffer, filled in
          buffer.initialize(repeating: 0)
          coder.append(to: buffer.baseAddress!, chunk, descending: false)
          filled = chunk.count
        }
      }
      var numbers = [UInt32](repeating: Grouping.unselected, count: chunk.count)
      for row in 0..<chunk.count where selection.masks[index].map({ $0[row] != 0 }) ?? true {
        let key = words.map { $0[row] }
        let group: UInt32
        if let known = byWords[key] {
          group = known
        } else {
          group = addGroup(index, row)
          byWords[key] = group
        }
        numbers[row] = group
      }
      groups.append(numbers)
    }
  }
}
