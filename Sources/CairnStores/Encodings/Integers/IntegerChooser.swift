// Finds the smallest form of a stream of integers by trying: each shape is made of all values, each way to
// lay it side by side is tried on some of them.

/// A form that was found, and how long it is thought to be after deflating.
struct IntegerChoice {
  let shaped: ShapedIntegers
  let leaf: IntegerLeaf
  let estimate: Int

  func write(to sink: ByteSink) { shaped.write(leaf, to: sink) }
}

/// Confined to its encoder.
struct IntegerChooser {
  let scratch: Scratch
  let measure: SizeMeasure
  let effort: EncodingEffort
  /// Whether values are laid side by side as they are, whatever else may be smaller.
  var isPlain = false

  /// Appends the stream in the form chosen.
  func write(_ values: UnsafePointer<Int64>, _ n: Int, to sink: ByteSink) {
    if n == 0 { return }
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    choose(values, n).write(to: sink)
  }

  /// `n` is at least 1. The choice is valid until the scratch is released. Between equals the first wins.
  /// The plain shape is always among those tried.
  func choose(
    _ values: UnsafePointer<Int64>, _ n: Int, among shapes: [IntegerShape] = IntegerShape.allCases
  ) -> IntegerChoice {
    let usesDictionary = shapes.contains(.byValue) && effort.triesForms
    let shaper = IntegerShaper(
      values, n, dictionaryLimit: usesDictionary ? dictionaryLimit(n) : 0, scratch: scratch)
    let plain = shaper.make(.plain)!
    if isPlain {
      let leaf: IntegerLeaf = IntegerLeaf.frame.suits(plain.range) ? .frame : .planes
      return IntegerChoice(shaped: plain, leaf: leaf, estimate: 0)
    }
    if !effort.triesForms { return untried(plain, shaper) }
    var choices = self.choices(plain, plain: nil)
    if plain.range == 0 { return choices[0] }
    var delta: ShapedIntegers?
    for shape in shapes where shape != .plain && isTried(shape) {
      if shape == .deltaOfDelta, effort != .smallest, delta.map(hasSmoothDeltas) != true { continue }
      guard let shaped = shaper.make(shape) else { continue }
      if shape == .delta { delta = shaped }
      choices += self.choices(shaped, plain: plain)
    }
    if effort == .smallest, n > sampleRows { choices = measuredOnAllRows(choices) }
    return choices.min { $0.estimate < $1.estimate }!
  }

  /// The form of fewest bytes as far as bounds and counts tell.
  private func untried(_ plain: ShapedIntegers, _ shaper: IntegerShaper) -> IntegerChoice {
    let statistics = shaper.statistics
    var best = packed(plain)
    if plain.range == 0 { return best }
    func consider(_ shape: IntegerShape) {
      guard let other = shaper.make(shape).map(packed), other.estimate < best.estimate else { return }
      best = other
    }
    let deltas =
      UInt64(bitPattern: statistics.highestDelta &- statistics.lowestDelta) / max(statistics.factor, 1)
    if IntegerStatistics.bitWidth(deltas) < IntegerStatistics.bitWidth(plain.range) { consider(.delta) }
    if statistics.runs <= plain.n / 16 { consider(.runs) }
    guard effort == .quick else { return best }
    // Values of a byte have codes of a byte at best.
    if best.estimate > plain.n, let other = shaper.coded(upTo: dictionaryLimit(plain.n)).map(packed),
      other.estimate < best.estimate
    {
      best = other
    }
    return wholeBytes(best)
  }

  /// The same in whole bytes, where Huffman codes make these shorter than as many bits as each value needs.
  private func wholeBytes(_ packed: IntegerChoice) -> IntegerChoice {
    guard packed.leaf == .bits, packed.shaped.range > 0 else { return packed }
    let length = measure { packed.shaped.write(.planes, to: $0) }
    guard length < packed.estimate else { return packed }
    return IntegerChoice(shaped: packed.shaped, leaf: .planes, estimate: length)
  }

  private func packed(_ shaped: ShapedIntegers) -> IntegerChoice {
    let leaf: IntegerLeaf = IntegerLeaf.bits.suits(shaped.range) ? .bits : .planes
    let length = shaped.range == 0 ? 0 : leaf.byteCount(shaped.n, range: shaped.range)
    return IntegerChoice(shaped: shaped, leaf: leaf, estimate: shaped.head.count + length)
  }

  /// The best few, measured again.
  private func measuredOnAllRows(_ choices: [IntegerChoice]) -> [IntegerChoice] {
    let order = choices.indices.sorted { a, b in
      choices[a].estimate == choices[b].estimate ? a < b : choices[a].estimate < choices[b].estimate
    }
    let limit = choices[order[0]].estimate * 108 / 100
    return order.prefix(5).map { choices[$0] }.filter { $0.estimate <= limit }.map { choice in
      IntegerChoice(
        shaped: choice.shaped, leaf: choice.leaf,
        estimate: measure { choice.shaped.write(choice.leaf, to: $0) })
    }
  }

  private func dictionaryLimit(_ n: Int) -> Int {
    switch effort {
    case .untried: 0
    case .quick, .fastest: min(n / 8, 1024)
    case .default, .smallest: n / 2
    }
  }

  private func isTried(_ shape: IntegerShape) -> Bool {
    switch effort {
    case .untried, .quick: false
    case .fastest: shape == .delta || shape == .byValue || shape == .runs
    case .default: shape != .patched
    case .smallest: true
    }
  }

  /// Whether differences of differences span less than half of what differences do.
  private func hasSmoothDeltas(_ delta: ShapedIntegers) -> Bool {
    var low = Int64.max
    var high = Int64.min
    for i in 1..<max(delta.n, 1) {
      let second = delta.values[i] &- delta.values[i - 1]
      low = min(low, second)
      high = max(high, second)
    }
    return low <= high && UInt64(bitPattern: high &- low) < delta.range / 2
  }

  /// Each way to lay the values side by side that may win.
  private func choices(_ shaped: ShapedIntegers, plain: ShapedIntegers?) -> [IntegerChoice] {
    leaves.filter { isWorthTrying($0, shaped, plain: plain) }.map {
      IntegerChoice(shaped: shaped, leaf: $0, estimate: estimate(shaped, $0))
    }
  }

  private var leaves: [IntegerLeaf] {
    effort == .smallest ? IntegerLeaf.allCases : [.planes, .bits, .varints]
  }

  /// False where a candidate can't win, or hardly, by what is known without trying it.
  private func isWorthTrying(_ leaf: IntegerLeaf, _ shaped: ShapedIntegers, plain: ShapedIntegers?) -> Bool {
    if shaped.range == 0 { return leaf == .planes }
    guard leaf.suits(shaped.range) else { return false }
    if effort == .smallest { return true }
    let width = IntegerStatistics.byteWidth(shaped.range)
    switch leaf {
    case .planes, .frame:
      // Codes of one byte for values of one byte are as many different bytes, just as often.
      return shaped.shape != .byValue || width > 1 || plain.map { $0.range > 255 } ?? true
    case .bits:
      // Codes in as many bits as the values have are as long as these.
      return shaped.shape != .byValue
        || plain.map {
          leaf.byteCount(shaped.n, range: $0.range) > leaf.byteCount(shaped.n, range: shaped.range)
        }
          ?? true
    case .varints:
      // Where most are as long as the longest, planes do better. As many are looked at as `estimate` lays out.
      let count = min(shaped.n, sampleRows)
      let values = shaped.values + (shaped.n - count) / 2
      var length = 0
      for i in 0..<count { length += Varint.length(Varint.zigzag(values[i])) }
      return length * 10 < count * width * 8
    }
  }

  private func estimate(_ shaped: ShapedIntegers, _ leaf: IntegerLeaf) -> Int {
    let (values, n) = (shaped.values, shaped.n)
    if leaf == .bits, effort != .smallest, !deflatesWell(bits: IntegerStatistics.bitWidth(shaped.range)) {
      return shaped.head.count + leaf.byteCount(n, range: shaped.range)
    }
    let limit = sampleRows
    if n <= limit || shaped.range == 0 { return measure { shaped.write(leaf, to: $0) } }
    let start = (n - limit) / 2
    let part = measure { leaf.write(values + start, limit, low: shaped.low, range: shaped.range, to: $0) }
    return shaped.head.count + part * n / limit
  }

  /// Deflate finds nothing in values that begin anywhere in a byte.
  private func deflatesWell(bits: Int) -> Bool { bits == 1 || bits == 2 || bits == 4 }

  private var sampleRows: Int {
    switch effort {
    case .untried, .quick, .fastest: 1024
    case .default: 2048
    case .smallest: 4096
    }
  }
}
