// Writes strings, URIs, data and transformable values.

import CairnModel

struct TextWriter {
  let chooser: IntegerChooser

  func write(_ rows: BlockRows, to sink: ByteSink) {
    let list = TextWriter.list(rows, scratch: chooser.scratch)
    let plain = chooseForm(list)
    guard let coded = chooseDictionary(list, below: plain.estimate) else {
      return write(list, plain.form, to: sink)
    }
    sink.append(TextForm.dictionary.rawValue)
    sink.append(count: coded.dictionary.entries.count)
    write(coded.dictionary.entries, coded.form, to: sink)
    coded.codes.write(to: sink)
  }

  /// A list without a dictionary.
  func writeList(_ list: TextList, to sink: ByteSink) { write(list, chooseForm(list).form, to: sink) }

  /// The entries of the rows that aren't null.
  static func list(_ rows: BlockRows, scratch: Scratch) -> TextList {
    let list = TextList(capacity: rows.valueCount, scratch: scratch)
    var next = 0
    var byteCount = 0
    for part in rows.parts {
      for row in 0..<part.count where !part.isNull(row) {
        let bytes = part.bytes(row)
        list.starts[next] = bytes.baseAddress ?? TextList.nowhere
        list.lengths[next] = Int64(bytes.count)
        byteCount += bytes.count
        next += 1
      }
    }
    return TextList(starts: list.starts, lengths: list.lengths, count: next, byteCount: byteCount)
  }

  // MARK: Choosing

  /// How a list without a dictionary is written.
  private struct Form {
    var fronts: Bool
    /// nil for lengths.
    var separator: UInt8?
    /// What joins items, for entries that are taken apart.
    var joint: UInt8?
  }

  private func chooseForm(_ list: TextList) -> (form: Form, estimate: Int) {
    if !chooser.effort.triesForms {
      return (Form(fronts: false, separator: nil), list.byteCount + 2 * list.count)
    }
    let mark = chooser.scratch.mark
    defer { chooser.scratch.release(to: mark) }
    let separator = TextWriter.separator(list)
    let part = list.prefix(bytes: sampleBytes)
    var best = Form(fronts: false, separator: nil)
    var bestSize = Int.max
    for fronts in [false, true] where !fronts || list.count > 1 {
      for choice in separator == nil ? [nil] : [separator, nil] {
        let form = Form(fronts: fronts, separator: choice)
        let size = chooser.measure { write(part, form, to: $0) }
        if size < bestSize {
          best = form
          bestSize = size
        }
      }
    }
    if let joint = TextItems.joint(part), let items = TextItems(part, joint: joint, scratch: chooser.scratch)
    {
      let size = chooser.measure { items.write(to: $0, chooser) }
      if size < bestSize {
        best = Form(fronts: false, separator: separator, joint: joint)
        bestSize = size
      }
    }
    if best.fronts, !FrontCoding(list, scratch: chooser.scratch).isAllowed { best.fronts = false }
    if part.count < list.count {
      let share = Double(list.byteCount + list.count) / Double(part.byteCount + part.count)
      return (best, Int(Double(bestSize) * share))
    }
    return (best, bestSize)
  }

  private var sampleBytes: Int {
    switch chooser.effort {
    case .untried, .quick, .fastest: 1 << 15
    case .default: 1 << 17
    case .smallest: Int.max
    }
  }

  /// A byte that occurs in no entry: 0, which few texts have, or else the smallest.
  private static func separator(_ list: TextList) -> UInt8? {
    var seen: [Bool] = Array(repeating: false, count: 256)
    seen.withUnsafeMutableBufferPointer { seen in
      for i in 0..<list.count {
        for byte in list[i] { seen[Int(byte)] = true }
      }
    }
    return seen.firstIndex(of: false).map { UInt8($0) }
  }

  private struct Coded {
    let dictionary: TextDictionary
    let form: Form
    let codes: IntegerChoice
    let estimate: Int
  }

  /// How many of the entries may be distinct for a dictionary to be tried.
  private var share: (numerator: Int, denominator: Int) {
    switch chooser.effort {
    case .untried, .quick: (1, 8)
    case .fastest: (1, 4)
    case .default, .smallest: (3, 4)
    }
  }

  /// The best dictionary, if one is smaller than `limit`.
  private func chooseDictionary(_ list: TextList, below limit: Int) -> Coded? {
    let scratch = chooser.scratch
    let most = min(list.count * share.numerator / share.denominator + 1, 65_534)
    guard list.count > 1, let first = TextDictionary(list, limit: most, scratch: scratch) else { return nil }
    var orders = [first]
    if chooser.effort.triesForms, chooser.effort != .fastest || first.entries.count <= 1024 {
      orders.append(first.sorted(rows: list.count, scratch: scratch))
    }
    if chooser.effort == .smallest {
      orders.append(first.byFrequency(rows: list.count, scratch: scratch))
    }
    var best: Coded?
    for dictionary in orders {
      let (form, size) = chooseForm(dictionary.entries)
      let codes = chooser.choose(dictionary.codes, list.count)
      let estimate = size + codes.estimate
      if estimate < best?.estimate ?? limit {
        best = Coded(dictionary: dictionary, form: form, codes: codes, estimate: estimate)
      }
    }
    return best
  }

  // MARK: Writing

  private func write(_ list: TextList, _ form: Form, to sink: ByteSink) {
    let scratch = chooser.scratch
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    if let joint = form.joint, let items = TextItems(list, joint: joint, scratch: scratch) {
      return items.write(to: sink, chooser)
    }
    var rest = list
    if form.fronts {
      let fronts = FrontCoding(list, scratch: scratch)
      sink.append(TextForm.fronts.rawValue)
      writeStream(fronts.shared, list.count, to: sink)
      rest = fronts.rest
    }
    if let separator = form.separator {
      sink.append(TextForm.separated.rawValue)
      sink.append(separator)
    } else {
      sink.append(TextForm.lengths.rawValue)
      writeStream(rest.lengths, rest.count, to: sink)
    }
    for i in 0..<rest.count {
      sink.append(rest[i])
      if let separator = form.separator { sink.append(separator) }
    }
  }

  /// Lengths are small beside the bytes they are of, so that they aren't worth a search.
  private func writeStream(_ values: UnsafePointer<Int64>, _ n: Int, to sink: ByteSink) {
    IntegerShaper.writeSmall(values, n, to: sink, scratch: chooser.scratch)
  }
}

/// A list of strings as what each has in common with the one before and the rest of each.
struct FrontCoding {
  let shared: UnsafeMutablePointer<Int64>
  let rest: TextList
  private let byteCount: Int

  init(_ list: TextList, scratch: Scratch) {
    shared = scratch.take(Int64.self, list.count)
    let rest = TextList(capacity: list.count, scratch: scratch)
    var restBytes = 0
    for i in 0..<list.count {
      let entry = list[i]
      var common = 0
      if i > 0 {
        let previous = list[i - 1]
        let limit = min(entry.count, previous.count)
        while common < limit, entry[common] == previous[common] { common += 1 }
      }
      shared[i] = Int64(common)
      rest.starts[i] = list.starts[i] + common
      rest.lengths[i] = Int64(entry.count - common)
      restBytes += entry.count - common
    }
    self.rest = TextList(
      starts: rest.starts, lengths: rest.lengths, count: list.count, byteCount: restBytes)
    byteCount = list.byteCount
  }

  /// Whether a reader lets the fronts grow that much; see `TextReader`.
  var isAllowed: Bool { byteCount <= TextReader.expansionLimit(rest.byteCount) }
}
