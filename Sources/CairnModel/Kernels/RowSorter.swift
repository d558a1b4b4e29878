// Puts selected rows in order: by machine words and radix sort, or, where only a window is asked for, by a
// heap of the best or by sorting none but those that can be in it.

import Foundation

/// Sorts a selection by bound sort terms. Rows that tie keep the order of the chunks.
struct RowSorter {
  let terms: [(path: BoundPath, ascending: Bool)]
  let source: any ChunkSource
  /// Of more rows than this a heap costs more than it saves.
  var largestHeap = 1024

  /// The first `limit` rows in order.
  func sorted(_ selection: RowSelection, limit: Int) -> [RowBatch.Place] {
    if selection.count == 0 { return [] }
    let isWindow = RowSorter.isWindow(limit, of: selection)
    let limit = min(limit, selection.count)
    if isWindow, sortsManyStrings(selection, limit) { return topByValues(selection, limit) }
    let coders = terms.map {
      SortCoder($0.path, chunks: selection.chunks, masks: selection.masks, source: source)
    }
    let width = coders.reduce(0) { $0 + $1.width }
    if width <= 64 {
      if isWindow {
        return limit <= largestHeap
          ? topByWord(selection, coders, limit) : topByHistogram(selection, coders, limit)
      }
      if width <= 32, selection.chunks.count <= RowSorter.packedChunkCount {
        return allByPackedWords(selection, coders, width, limit)
      }
      return allByWords(selection, [Array(coders.indices)], coders, limit)
    }
    return allByWords(selection, RowSorter.pack(coders), coders, limit)
  }

  /// Whether so few rows are asked for that the others aren't put in order.
  static func isWindow(_ limit: Int, of selection: RowSelection) -> Bool { limit < selection.count / 4 }

  // MARK: Words

  /// Groups of neighbouring terms that fit one word together.
  private static func pack(_ coders: [SortCoder]) -> [[Int]] {
    var groups: [[Int]] = []
    var used = 64
    for (index, coder) in coders.enumerated() {
      if used + coder.width > 64 {
        groups.append([index])
        used = coder.width
      } else {
        groups[groups.count - 1].append(index)
        used += coder.width
      }
    }
    return groups
  }

  /// Fills `words` with the codes of one group of terms for the rows of `chunk`.
  private func fill(
    _ words: UnsafeMutablePointer<UInt64>, _ chunk: Chunk, _ group: [Int], _ coders: [SortCoder]
  ) {
    words.update(repeating: 0, count: chunk.count)
    for term in group { coders[term].append(to: words, chunk, descending: !terms[term].ascending) }
  }

  /// The best `limit` rows in a heap, the worst of them on top, without sorting the others.
  private func topByWord(_ selection: RowSelection, _ coders: [SortCoder], _ limit: Int) -> [RowBatch.Place] {
    guard limit > 0 else { return [] }
    var heap = BoundedHeap(limit: limit)
    let group = Array(coders.indices)
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Chunk.capacity) { words in
      for (index, chunk) in selection.chunks.enumerated() {
        if heap.isFull, offerLikely(selection, index, coders, &heap) { continue }
        fill(words.baseAddress!, chunk, group, coders)
        let ordinal = UInt64(index) << 32
        forEachSelected(selection, index) { row in heap.offer(words[row], ordinal | UInt64(row)) }
      }
    }
    return heap.sorted().map { RowBatch.Place(chunk: Int($0 >> 32), row: Int($0 & 0xFFFF_FFFF)) }
  }

  /// The best `limit` rows: how many words begin with which bits says up to which ones there are so many, and
  /// only those are sorted.
  private func topByHistogram(
    _ selection: RowSelection, _ coders: [SortCoder], _ limit: Int
  ) -> [RowBatch.Place] {
    if limit == 0 { return [] }
    let width = coders.reduce(0) { $0 + $1.width }
    let words = selectedWords(selection, Array(coders.indices), coders)
    let bits = min(width, 14)
    let shift = UInt64(width - bits)
    var order: [UInt32] = []
    var sizes = [Int](repeating: 0, count: 1 << bits)
    for word in words { sizes[Int(truncatingIfNeeded: word &>> shift)] &+= 1 }
    var last = 0
    var found = sizes[0]
    while found < limit {
      last += 1
      found += sizes[last]
    }
    order.reserveCapacity(found)
    for (index, word) in words.enumerated() where Int(truncatingIfNeeded: word &>> shift) <= last {
      order.append(UInt32(index))
    }
    RadixSort.sort(&order, by: words, width: width)
    let places = selection.places()
    return order.prefix(limit).map { places[Int($0)] }
  }

  /// Offers the rows of a chunk whose first term alone doesn't rule them out, which are few once the heap is
  /// full. False, and nothing done, where the first term can't be compared by itself.
  private func offerLikely(
    _ selection: RowSelection, _ index: Int, _ coders: [SortCoder], _ heap: inout BoundedHeap
  ) -> Bool {
    let chunk = selection.chunks[index]
    let rest = coders.dropFirst().reduce(0) { $0 + $1.width }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Chunk.capacity) { likely in
      let likely = likely.baseAddress!
      let limit = rest == 64 ? 0 : heap.worst >> UInt64(rest)
      guard coders[0].mark(likely, chunk, limit: limit, descending: !terms[0].ascending) else { return false }
      let ordinal = UInt64(index) << 32
      let mask = selection.masks[index]
      RowSelection.forEachSet(likely, chunk.count) { row in
        if let mask, mask[row] == 0 { return }
        heap.offer(word(chunk, row, coders), ordinal | UInt64(row))
      }
      return true
    }
  }

  /// The codes of all terms for one row; together they fit a word.
  private func word(_ chunk: Chunk, _ row: Int, _ coders: [SortCoder]) -> UInt64 {
    var word: UInt64 = 0
    for (coder, term) in zip(coders, terms) {
      let top: UInt64 = coder.width == 64 ? .max : (1 << UInt64(coder.width)) - 1
      let code = coder.code(chunk, row) ^ (term.ascending ? 0 : top)
      word = coder.width == 64 ? code : word << UInt64(coder.width) | code
    }
    return word
  }

  @inline(__always)
  private func forEachSelected(_ selection: RowSelection, _ index: Int, _ body: (Int) -> Void) {
    guard let mask = selection.masks[index] else {
      for row in 0..<selection.chunks[index].count { body(row) }
      return
    }
    mask.withUnsafeBufferPointer { RowSelection.forEachSet($0.baseAddress!, mask.count, body) }
  }

  /// So many chunks have numbers that fit half a word together with the numbers of their rows.
  private static let packedChunkCount = 1 << 32 / Chunk.capacity

  /// Where code and place of a row fit one word, nothing else is moved.
  private func allByPackedWords(
    _ selection: RowSelection, _ coders: [SortCoder], _ width: Int, _ limit: Int
  ) -> [RowBatch.Place] {
    if limit == 0 { return [] }
    let group = Array(coders.indices)
    let capacity = selection.count + Chunk.capacity
    return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: capacity) { memory in
      let packed = memory.baseAddress!
      let words = packed + selection.count
      var count = 0
      for (index, chunk) in selection.chunks.enumerated() {
        fill(words, chunk, group, coders)
        var place = UInt64(index * Chunk.capacity)
        guard let mask = selection.masks[index] else {
          for row in 0..<chunk.count {
            packed[count + row] = words[row] &<< 32 | place
            place &+= 1
          }
          count += chunk.count
          continue
        }
        mask.withUnsafeBufferPointer { mask in
          RowSelection.forEachSet(mask.baseAddress!, chunk.count) { row in
            packed[count] = words[row] &<< 32 | (place &+ UInt64(row))
            count += 1
          }
        }
      }
      RadixSort.sort(packed, count, width: width)
      return [RowBatch.Place](unsafeUninitializedCapacity: limit) { places, filled in
        for index in 0..<limit {
          let place = Int(UInt32(truncatingIfNeeded: packed[index]))
          places.initializeElement(
            at: index, to: RowBatch.Place(chunk: place / Chunk.capacity, row: place % Chunk.capacity))
        }
        filled = limit
      }
    }
  }

  /// Radix sort by the last word first; each pass is stable, so the first word decides.
  private func allByWords(
    _ selection: RowSelection, _ groups: [[Int]], _ coders: [SortCoder], _ limit: Int
  ) -> [RowBatch.Place] {
    let places = selection.places()
    var order = [UInt32](unsafeUninitializedCapacity: places.count) { buffer, filled in
      for i in 0..<places.count { buffer.initializeElement(at: i, to: UInt32(i)) }
      filled = places.count
    }
    for group in groups.reversed() {
      let width = group.reduce(0) { $0 + coders[$1].width }
      RadixSort.sort(&order, by: selectedWords(selection, group, coders), width: width)
    }
    return (0..<limit).map { places[Int(order[$0])] }
  }

  /// One word for each selected row, in selection order.
  private func selectedWords(_ selection: RowSelection, _ group: [Int], _ coders: [SortCoder]) -> [UInt64] {
    [UInt64](unsafeUninitializedCapacity: selection.count) { buffer, filled in
      withUnsafeTemporaryAllocation(of: UInt64.self, capacity: Chunk.capacity) { words in
        let words = words.baseAddress!
        for (index, chunk) in selection.chunks.enumerated() {
          fill(words, chunk, group, coders)
          guard let mask = selection.masks[index] else {
            (buffer.baseAddress! + filled).initialize(from: words, count: chunk.count)
            filled += chunk.count
            continue
          }
          mask.withUnsafeBufferPointer { mask in
            RowSelection.forEachSet(mask.baseAddress!, chunk.count) { row in
              buffer.initializeElement(at: filled, to: words[row])
              filled += 1
            }
          }
        }
      }
    }
  }

  // MARK: Values

  /// Whether numbering all strings would cost more than comparing each row with the worst of the window.
  private func sortsManyStrings(_ selection: RowSelection, _ limit: Int) -> Bool {
    terms.contains {
      SortCoder.stringEntryCount($0.path, chunks: selection.chunks, source: source) > max(4096, limit * 4)
    }
  }

  private func topByValues(_ selection: RowSelection, _ limit: Int) -> [RowBatch.Place] {
    guard limit > 0 else { return [] }
    let readers = terms.map { (reader: PathReader($0.path, source: source), ascending: $0.ascending) }
    var best = BestRows(limit: limit) { a, b in
      for (i, term) in readers.enumerated() {
        let order = Value.compare(a[i], b[i])
        if order != 0 { return term.ascending ? order : -order }
      }
      return 0
    }
    for place in selection.places() {
      let chunk = selection.chunks[Int(place.chunk)]
      best.offer(readers.map { $0.reader.value(chunk, Int(place.row)) }, place)
    }
    return best.sorted()
  }
}

/// The first `limit` rows by their values, earlier ones first among equals.
private struct BestRows {
  private let limit: Int
  private let compare: ([Value], [Value]) -> Int
  private var kept: [(values: [Value], place: RowBatch.Place)] = []
  /// The values of the last row that is good enough, once there are so many.
  private var worst: [Value]?

  init(limit: Int, by compare: @escaping ([Value], [Value]) -> Int) {
    self.limit = limit
    self.compare = compare
  }

  /// Rows come in selection order. They pile up to twice the limit before the worse half goes, so that a row
  /// costs the logarithm of the limit however the rows lie.
  mutating func offer(_ values: [Value], _ place: RowBatch.Place) {
    if let worst, compare(values, worst) >= 0 { return }
    kept.append((values, place))
    if kept.count >= 2 * limit { trim() }
  }

  mutating func sorted() -> [RowBatch.Place] {
    trim()
    return kept.map(\.place)
  }

  private mutating func trim() {
    let compare = compare
    kept.sort { a, b in
      let order = compare(a.values, b.values)
      return order != 0 ? order < 0 : (a.place.chunk, a.place.row) < (b.place.chunk, b.place.row)
    }
    kept.removeLast(max(0, kept.count - limit))
    if kept.count == limit { worst = kept[limit - 1].values }
  }
}

/// The smallest `limit` of the words offered, earlier ones first among equals.
private struct BoundedHeap {
  let limit: Int
  private var items: [(word: UInt64, tag: UInt64)] = []
  /// The greatest word kept, once full.
  private(set) var worst = UInt64.max

  init(limit: Int) {
    self.limit = limit
    items.reserveCapacity(limit)
  }

  var isFull: Bool { items.count == limit }

  /// Tags ascend from call to call.
  @inline(__always)
  mutating func offer(_ word: UInt64, _ tag: UInt64) {
    if items.count == limit, word >= worst { return }
    insert(word, tag)
  }

  @inline(never)
  private mutating func insert(_ word: UInt64, _ tag: UInt64) {
    if items.count < limit {
      items.append((word, tag))
      siftUp(items.count - 1)
    } else {
      items[0] = (word, tag)
      siftDown(0)
    }
    if items.count == limit { worst = items[0].word }
  }

  func sorted() -> [UInt64] { items.sorted { ($0.word, $0.tag) < ($1.word, $1.tag) }.map(\.tag) }

  private func isWorse(_ a: Int, _ b: Int) -> Bool {
    (items[a].word, items[a].tag) > (items[b].word, items[b].tag)
  }

  private mutating func siftUp(_ start: Int) {
    var child = start
    while child > 0, isWorse(child, (child - 1) / 2) {
      items.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  private mutating func siftDown(_ start: Int) {
    var parent = start
    while true {
      var worst = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < items.count && isWorse(child, worst) {
        worst = child
      }
      if worst == parent { return }
      items.swapAt(parent, worst)
      parent = worst
    }
  }
}
