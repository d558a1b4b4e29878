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

  /// Appends the stream in the form chosen.
  func write(_ values: UnsafePointer<Int64>, _ n: Int, to sink: ByteSink) {
    if n == 0 { return }
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    choose(values, n).write(to: sink)
  }

  /// `n` is at least 1. The choice is valid until the scratch is released. Between equals the first wins.
  func choose(_ values: UnsafePointer<Int64>, _ n: Int) -> IntegerChoice {
    let shaper = IntegerShaper(values, n, dictionaryLimit: dictionaryLimit(n), scratch: scratch)
    var best: IntegerChoice?
    for shape in shapes(for: shaper) {
      guard let shaped = shaper.make(shape) else { continue }
      for leaf in leaves where shaped.range == 0 ? leaf == .planes : leaf.suits(shaped.range) {
        let estimate = estimate(shaped, leaf)
        if estimate < best?.estimate ?? Int.max {
          best = IntegerChoice(shaped: shaped, leaf: leaf, estimate: estimate)
        }
      }
    }
    return best!
  }

  private func dictionaryLimit(_ n: Int) -> Int { effort == .fastest ? min(n / 4, 1024) : n / 2 }

  private func shapes(for shaper: IntegerShaper) -> [IntegerShape] {
    if shaper.statistics.range == 0 { return [.plain] }
    switch effort {
    case .fastest: return [.plain, .delta, .byValue, .runs]
    case .default: return [.plain, .delta, .deltaOfDelta, .byValue, .byFrequency, .runs]
    case .smallest: return IntegerShape.allCases
    }
  }

  private var leaves: [IntegerLeaf] {
    effort == .smallest ? IntegerLeaf.allCases : [.planes, .bits, .varints]
  }

  private func estimate(_ shaped: ShapedIntegers, _ leaf: IntegerLeaf) -> Int {
    let limit = effort == .smallest ? Int.max : sampleRows
    let (values, n) = (shaped.values, shaped.n)
    if n <= limit || shaped.range == 0 {
      return measure { shaped.write(leaf, to: $0) }
    }
    let start = (n - limit) / 2
    let part = measure { leaf.write(values + start, limit, low: shaped.low, range: shaped.range, to: $0) }
    return shaped.head.count + part * n / limit
  }

  private var sampleRows: Int { effort == .fastest ? 1024 : 4096 }
}
