// The forms that turn a stream of integers into another one that is smaller when laid side by side.

import CairnModel

/// What is done to the values before they are laid side by side.
enum IntegerShape: CaseIterable {
  case plain, delta, deltaOfDelta, byValue, byFrequency, runs, patched
}

/// A stream of integers turned into another one, and what goes before it. The memory is the scratch's.
struct ShapedIntegers {
  let shape: IntegerShape
  let values: UnsafePointer<Int64>
  let n: Int
  let low: Int64
  let range: UInt64
  /// The bytes before the inner stream: kinds, bases, dictionaries, lists of patches.
  let head: UnsafeBufferPointer<UInt8>

  func write(_ leaf: IntegerLeaf, to sink: ByteSink) {
    sink.append(head)
    if n > 0 { leaf.write(values, n, low: low, range: range, to: sink) }
  }
}

/// Makes shapes of one stream. Confined to its encoder.
struct IntegerShaper {
  let scratch: Scratch
  let values: UnsafePointer<Int64>
  let n: Int
  let statistics: IntegerStatistics
  private let head = ByteSink(capacity: 1024)
  private let dictionary: IntegerDictionary?

  /// `n` is at least 1. No dictionary is tried with more than `dictionaryLimit` values.
  init(_ values: UnsafePointer<Int64>, _ n: Int, dictionaryLimit: Int, scratch: Scratch) {
    self.scratch = scratch
    self.values = values
    self.n = n
    statistics = IntegerStatistics(values, n)
    dictionary =
      dictionaryLimit == 0 || statistics.range == 0
      ? nil : IntegerDictionary(values, n, statistics, limit: dictionaryLimit, scratch: scratch)
  }

  /// nil where the shape doesn't suit the values.
  func make(_ shape: IntegerShape) -> ShapedIntegers? {
    head.removeAll()
    switch shape {
    case .plain: return plain()
    case .delta: return delta(order: 1)
    case .deltaOfDelta: return delta(order: 2)
    case .byValue: return coded(dictionary, .byValue)
    case .byFrequency: return coded(dictionary?.byFrequency(n, scratch: scratch), .byFrequency)
    case .runs: return runs()
    case .patched: return patched()
    }
  }

  private func plain() -> ShapedIntegers {
    let (words, factor) = scaled()
    if factor == 1 { return shaped(.plain, words, n, statistics.low, statistics.range) }
    return shaped(.plain, words, n, 0, statistics.range / factor)
  }

  /// The values over their common factor, and the head that says so.
  private func scaled() -> (UnsafePointer<Int64>, factor: UInt64) {
    let factor = statistics.factor
    guard factor > 1, factor <= UInt64(Int64.max) else { return (values, 1) }
    let words = scratch.take(Int64.self, n)
    let (low, divisor) = (statistics.low, Int64(factor))
    for i in 0..<n { words[i] = (values[i] &- low) / divisor }
    head.append(IntegerStreamKind.scaled.rawValue)
    head.append(zigzag: low)
    head.append(varint: factor)
    return (UnsafePointer(words), factor)
  }

  private func delta(order: Int) -> ShapedIntegers? {
    guard n > order + 1, statistics.range > 0 else { return nil }
    var (words, _) = scaled()
    var count = n
    for _ in 0..<order {
      let deltas = scratch.take(Int64.self, count - 1)
      for i in 1..<count { deltas[i - 1] = words[i] &- words[i - 1] }
      head.append(IntegerStreamKind.delta.rawValue)
      head.append(zigzag: words[0])
      words = UnsafePointer(deltas)
      count -= 1
    }
    let (low, high) = IntegerBounds.of(words, count)
    return shaped(
      order == 1 ? .delta : .deltaOfDelta, words, count, low, UInt64(bitPattern: high &- low))
  }

  /// As `byValue`, with a dictionary that is made for this; nil where it would have more than `limit` values.
  func coded(upTo limit: Int) -> ShapedIntegers? {
    head.removeAll()
    return coded(IntegerDictionary(values, n, statistics, limit: limit, scratch: scratch), .byValue)
  }

  private func coded(_ dictionary: IntegerDictionary?, _ shape: IntegerShape) -> ShapedIntegers? {
    guard let dictionary, dictionary.count > 1 else { return nil }
    head.append(IntegerStreamKind.dictionary.rawValue)
    head.append(count: dictionary.count)
    IntegerShaper.writeSmall(dictionary.values, dictionary.count, to: head, scratch: scratch)
    return shaped(shape, dictionary.codes, n, 0, UInt64(dictionary.count - 1))
  }

  private func runs() -> ShapedIntegers? {
    guard statistics.runs > 1, statistics.runs <= n / 2 else { return nil }
    let count = statistics.runs
    let runValues = scratch.take(Int64.self, count)
    let repeats = scratch.take(Int64.self, count)
    var run = 0
    var start = 0
    for i in 1...n where i == n || values[i] != values[i - 1] {
      runValues[run] = values[i - 1]
      repeats[run] = Int64(i - start - 1)
      run += 1
      start = i
    }
    head.append(IntegerStreamKind.runs.rawValue)
    head.append(count: count)
    IntegerShaper.writeSmall(runValues, count, to: head, scratch: scratch)
    let (low, high) = IntegerBounds.of(repeats, count)
    return shaped(.runs, repeats, count, low, UInt64(bitPattern: high &- low))
  }

  /// Values far from the others, which make all of them wide, in a list of their own.
  private func patched() -> ShapedIntegers? {
    guard n >= 64 else { return nil }
    let size = min(n, 256)
    let sample = scratch.take(Int64.self, size)
    for i in 0..<size { sample[i] = values[i * n / size] }
    var sorted = UnsafeMutableBufferPointer(start: sample, count: size)
    sorted.sort()
    let low = sample[size / 64]
    let bits = IntegerStatistics.bitWidth(UInt64(bitPattern: sample[size - 1 - size / 64] &- low))
    guard bits > 0, bits + 3 <= IntegerStatistics.bitWidth(statistics.range) else { return nil }
    let range: UInt64 = 1 << UInt64(bits) - 1
    let words = scratch.take(Int64.self, n)
    let rows = scratch.take(Int64.self, n / 8)
    let patches = scratch.take(Int64.self, n / 8)
    var found = 0
    var filler = low
    for i in 0..<n {
      let value = values[i]
      if UInt64(bitPattern: value &- low) <= range {
        filler = value
      } else {
        guard found < n / 8 else { return nil }
        rows[found] = Int64(i)
        patches[found] = value
        found += 1
      }
      words[i] = filler
    }
    guard found > 0 else { return nil }
    head.append(IntegerStreamKind.patched.rawValue)
    head.append(count: found)
    IntegerShaper.writeSmall(rows, found, to: head, scratch: scratch)
    IntegerShaper.writeSmall(patches, found, to: head, scratch: scratch)
    let bounds = IntegerBounds.of(words, n)
    return shaped(.patched, words, n, bounds.low, UInt64(bitPattern: bounds.high &- bounds.low))
  }

  private func shaped(
    _ shape: IntegerShape, _ words: UnsafePointer<Int64>, _ count: Int, _ low: Int64, _ range: UInt64
  ) -> ShapedIntegers {
    let kept = scratch.take(UInt8.self, head.count)
    kept.update(from: head.base, count: head.count)
    return ShapedIntegers(
      shape: shape, values: words, n: count, low: low, range: range,
      head: UnsafeBufferPointer(start: kept, count: head.count))
  }
}
