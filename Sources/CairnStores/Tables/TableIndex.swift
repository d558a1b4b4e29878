// One index: sorted runs of (words of the indexed slots, key). Immutable; see TableIndexes for its life.

import CairnModel

/// Candidates by value. Runs grow geometrically: a new one is merged with those before it that aren't larger.
final class TableIndex: Sendable {
  let slots: [Int]
  /// Whether each slot takes one word or two.
  private let wordCounts: [Int]
  /// The version of the table that the index has every live row of.
  let serial: Int64
  /// The oldest version it can serve.
  private let oldestSerial: Int64
  private let runs: [IndexRun]
  /// Keys touched between two versions that the index was asked for: a version in between may hold values of
  /// these rows that were never entered, so for such a version all of them are candidates.
  private let steps: [Step]

  private struct Step: Sendable {
    let from: Int64
    let to: Int64
    let keys: [Int64]
  }

  /// Builds the index of one version. Costs a sort of the table.
  init(on slots: [Int], types: [ValueType], of table: Table) {
    self.slots = slots
    wordCounts = slots.map { IndexCoder.wordCount(types[$0]) }
    serial = table.serial
    oldestSerial = table.serial
    steps = []
    var keys: [Int64] = []
    var words = [[UInt64]](repeating: [], count: wordCounts.reduce(0, +))
    for chunk in table.chunks.all {
      let live = chunk.deleted == nil ? nil : (0..<chunk.count).filter { !chunk.isDeleted($0) }
      keys += live.map { $0.map(chunk.key) } ?? (0..<chunk.count).map(chunk.key)
      var next = 0
      for slot in slots {
        for part in IndexCoder.words(chunk.columns[slot]) {
          if let live { words[next] += live.map { part[$0] } } else { words[next] += part }
          next += 1
        }
      }
    }
    runs = keys.isEmpty ? [] : [IndexRun(sorting: words, keys: keys)]
  }

  private init(
    slots: [Int], wordCounts: [Int], serial: Int64, oldestSerial: Int64, runs: [IndexRun], steps: [Step]
  ) {
    self.slots = slots
    self.wordCounts = wordCounts
    self.serial = serial
    self.oldestSerial = oldestSerial
    self.runs = runs
    self.steps = steps
  }

  /// Whether every entry is of a row as this version has it: no commit has touched the table since it was built.
  func isFresh(_ version: Int64) -> Bool {
    version == serial && oldestSerial == serial && runs.count <= 1 && steps.isEmpty
  }

  func serves(_ version: Int64) -> Bool { version >= oldestSerial }

  /// This index with the rows that `notes` name as they are in `table`.
  func catchingUp(with notes: [TableIndexes.Note], to table: Table) -> TableIndex {
    var touched = Set<Int64>()
    for note in notes { touched.formUnion(note.keys) }
    let rows = touched.sorted().compactMap { key in table.locate(key).map { (key, $0) } }
    var newRuns = runs
    if !rows.isEmpty {
      var words = [[UInt64]](repeating: [], count: wordCounts.reduce(0, +))
      for (_, place) in rows {
        var next = 0
        for slot in slots {
          for word in IndexCoder.words(place.chunk.columns[slot], place.row) {
            words[next].append(word)
            next += 1
          }
        }
      }
      newRuns.append(IndexRun(sorting: words, keys: rows.map(\.0)))
      while newRuns.count > 1, newRuns[newRuns.count - 2].count <= 2 * newRuns[newRuns.count - 1].count {
        newRuns.replaceSubrange(
          (newRuns.count - 2)..., with: [newRuns[newRuns.count - 2].merged(with: newRuns[newRuns.count - 1])])
      }
    }
    // Too many entries of rows that are gone or changed: begin anew, for this version and later ones.
    if newRuns.reduce(0, { $0 + $1.count }) > 2 * table.liveCount + 4096 {
      return TableIndex(on: slots, types: table.types, of: table)
    }
    var newSteps = steps
    var oldest = oldestSerial
    if table.serial > serial + 1 || notes.count > 1 {
      newSteps.append(Step(from: serial, to: table.serial, keys: touched.sorted()))
    }
    while newSteps.count > 64 || newSteps.reduce(0, { $0 + $1.keys.count }) > max(4096, table.liveCount / 4) {
      oldest = newSteps.removeFirst().to
    }
    return TableIndex(
      slots: slots, wordCounts: wordCounts, serial: table.serial, oldestSerial: oldest, runs: newRuns,
      steps: newSteps)
  }

  /// A region of the index: the first slots equal to some words, the next one maybe within bounds.
  struct Bounds {
    /// The words of each leading slot that is fixed, end to end.
    var prefix: [UInt64]
    /// Bounds of the next slot's first word.
    var next: ClosedRange<UInt64>?
  }

  /// How many entries a region has: an upper bound of the rows, apart from `keys`' additions.
  func estimate(_ bounds: Bounds) -> Int { runs.reduce(0) { $0 + $1.range(bounds).count } }

  /// The keys of the candidates in a region, for the version `version`. In the order of the index within each
  /// run; may hold a key twice.
  func keys(_ bounds: Bounds, version: Int64) -> [Int64] {
    var result: [Int64] = []
    for run in runs { result += run.keys(run.range(bounds)) }
    for step in steps where step.from < version && version < step.to { result += step.keys }
    return result
  }

  /// Calls `body` with each run's candidates of a region and their last words, from the region's end on, until it
  /// returns false for that run; then with every key that the version `version` may hold beside them.
  func forEachRunBackwards(_ bounds: Bounds, version: Int64, _ body: (Int64, UInt64) -> Bool) {
    for run in runs {
      let range = run.range(bounds)
      for place in range.reversed() where !body(run.key(place), run.lastWord(place)) { break }
    }
    for step in steps where step.from < version && version < step.to {
      for key in step.keys { _ = body(key, .max) }
    }
  }

  var footprint: Int { runs.reduce(0) { $0 + $1.footprint } + steps.reduce(0) { $0 + $1.keys.count * 8 } }
}

/// Entries sorted by their words, then by key. The first word is kept once for all entries that share it.
final class IndexRun: Sendable {
  private let leading: [UInt64]
  /// Where the entries of each leading word begin; one more for the end.
  private let starts: [UInt32]
  private let further: [[UInt64]]
  private let ids: IDList

  var count: Int { ids.count }

  /// `keys` ascends; `words` has one array a word.
  init(sorting words: [[UInt64]], keys: [Int64]) {
    var order = [UInt32](unsafeUninitializedCapacity: keys.count) { buffer, filled in
      for i in 0..<keys.count { buffer.initializeElement(at: i, to: UInt32(i)) }
      filled = keys.count
    }
    for word in words.reversed() { RadixSort.sort(&order, by: word, width: 64) }
    let first = words[0]
    (leading, starts) = IndexRun.groups(order.lazy.map { first[Int($0)] }, keys.count)
    further = words.dropFirst().map { word in order.map { word[Int($0)] } }
    ids = IDList(order.map { keys[Int($0)] })
  }

  private init(leading: [UInt64], starts: [UInt32], further: [[UInt64]], ids: IDList) {
    self.leading = leading
    self.starts = starts
    self.further = further
    self.ids = ids
  }

  private static func groups(_ words: some Sequence<UInt64>, _ count: Int) -> ([UInt64], [UInt32]) {
    var leading: [UInt64] = []
    var starts: [UInt32] = []
    var place: UInt32 = 0
    for word in words {
      if leading.last != word {
        leading.append(word)
        starts.append(place)
      }
      place += 1
    }
    starts.append(UInt32(count))
    return (leading, starts)
  }

  /// Both runs' entries, each once.
  func merged(with other: IndexRun) -> IndexRun {
    var words = [[UInt64]](repeating: [], count: further.count + 1)
    var keys: [Int64] = []
    keys.reserveCapacity(count + other.count)
    var a = Cursor(self)
    var b = Cursor(other)
    while a.place < count || b.place < other.count {
      let order = a.place == count ? 1 : b.place == other.count ? -1 : a.compare(b)
      if order <= 0 { a.take(&words, &keys) } else { b.take(&words, &keys) }
      if order == 0 { b.advance() }
    }
    let (leading, starts) = IndexRun.groups(words[0], keys.count)
    return IndexRun(leading: leading, starts: starts, further: Array(words.dropFirst()), ids: IDList(keys))
  }

  private struct Cursor {
    let run: IndexRun
    var place = 0
    var group = 0

    init(_ run: IndexRun) { self.run = run }

    mutating func advance() {
      place += 1
      while group + 1 < run.leading.count, Int(run.starts[group + 1]) <= place { group += 1 }
    }

    mutating func take(_ words: inout [[UInt64]], _ keys: inout [Int64]) {
      words[0].append(run.leading[group])
      for (i, word) in run.further.enumerated() { words[i + 1].append(word[place]) }
      keys.append(run.ids[place])
      advance()
    }

    func compare(_ other: Cursor) -> Int {
      let x = run.leading[group]
      let y = other.run.leading[other.group]
      if x != y { return x < y ? -1 : 1 }
      for (word, theirs) in zip(run.further, other.run.further) where word[place] != theirs[other.place] {
        return word[place] < theirs[other.place] ? -1 : 1
      }
      let (p, q) = (run.ids[place], other.run.ids[other.place])
      return p == q ? 0 : p < q ? -1 : 1
    }
  }

  /// The entries of a region.
  func range(_ bounds: TableIndex.Bounds) -> Range<Int> {
    var fixed = bounds.prefix[...]
    guard let first = fixed.popFirst() else {
      guard let next = bounds.next else { return 0..<count }
      let low = IndexRun.firstIndex(0..<leading.count) { leading[$0] >= next.lowerBound }
      let high = IndexRun.firstIndex(0..<leading.count) { leading[$0] > next.upperBound }
      return Int(starts[low])..<Int(starts[max(low, high)])
    }
    let group = IndexRun.firstIndex(0..<leading.count) { leading[$0] >= first }
    guard group < leading.count, leading[group] == first else { return 0..<0 }
    var range = Int(starts[group])..<Int(starts[group + 1])
    var level = 0
    while let word = fixed.popFirst() {
      let words = further[level]
      let low = IndexRun.firstIndex(range) { words[$0] >= word }
      range = low..<IndexRun.firstIndex(low..<range.upperBound) { words[$0] > word }
      level += 1
    }
    if let next = bounds.next {
      let words = further[level]
      let low = IndexRun.firstIndex(range) { words[$0] >= next.lowerBound }
      range = low..<IndexRun.firstIndex(low..<range.upperBound) { words[$0] > next.upperBound }
    }
    return range
  }

  func keys(_ range: Range<Int>) -> [Int64] { range.map { ids[$0] } }

  func key(_ place: Int) -> Int64 { ids[place] }

  /// The last of an entry's words; only for entries of more than one.
  func lastWord(_ place: Int) -> UInt64 { further[further.count - 1][place] }

  /// The first place in `range` for which `isBeyond` holds, or its end; `isBeyond` stays true once it is.
  @inline(__always)
  private static func firstIndex(_ range: Range<Int>, _ isBeyond: (Int) -> Bool) -> Int {
    var low = range.lowerBound
    var high = range.upperBound
    while low < high {
      let middle = (low + high) / 2
      if isBeyond(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  var footprint: Int { leading.count * 12 + further.count * count * 8 + ids.footprint }
}

/// Keys at four bytes while they fit.
private struct IDList: Sendable {
  private var narrow: [UInt32] = []
  private var wide: [Int64] = []

  init(_ ids: [Int64]) {
    if ids.allSatisfy({ $0 >= 0 && $0 <= Int64(UInt32.max) }) {
      narrow = ids.map { UInt32($0) }
    } else {
      wide = ids
    }
  }

  var count: Int { narrow.count + wide.count }
  var footprint: Int { narrow.count * 4 + wide.count * 8 }

  subscript(place: Int) -> Int64 { wide.isEmpty ? Int64(narrow[place]) : wide[place] }
}
