// Which rows of a block are null: how it is written and read.

import CairnModel

/// The first byte of a payload.
enum NullForm: UInt8 {
  case none = 0
  case all = 1
  /// A bit a row.
  case bitmap = 2
  /// The lengths of alternating runs, the first one of rows that aren't null.
  case runs = 3
  /// The integer that stands for null.
  case inBand = 4
  /// As in a source of a relation, but for rows that are listed.
  case likeSource = 5
}

struct NullMaskWriter {
  let chooser: IntegerChooser

  /// Writes the rows' null form and mask, in the shorter form; never in band.
  func write(_ rows: BlockRows, to sink: ByteSink) {
    if rows.nullCount == 0 { return sink.append(NullForm.none.rawValue) }
    if rows.nullCount == rows.count { return sink.append(NullForm.all.rawValue) }
    let bitmapCost = chooser.measure { NullMaskWriter.writeBitmap(rows, to: $0) }
    let mark = chooser.scratch.mark
    defer { chooser.scratch.release(to: mark) }
    let (lengths, count) = NullMaskWriter.runs(rows, scratch: chooser.scratch)
    if count < rows.count / 4 {
      let choice = chooser.choose(lengths, count)
      if choice.estimate < bitmapCost {
        sink.append(NullForm.runs.rawValue)
        sink.append(count: count)
        return choice.write(to: sink)
      }
    }
    NullMaskWriter.writeBitmap(rows, to: sink)
  }

  static func writeBitmap(_ rows: BlockRows, to sink: ByteSink) {
    sink.append(NullForm.bitmap.rawValue)
    let length = (rows.count + 7) / 8
    let target = sink.reserve(length)
    for i in 0..<length {
      target[i] = UInt8(truncatingIfNeeded: rows.nullBits[i >> 3] &>> UInt64(8 * (i & 7)))
    }
    sink.commit(length)
  }

  private static func runs(_ rows: BlockRows, scratch: Scratch) -> (UnsafeMutablePointer<Int64>, Int) {
    let lengths = scratch.take(Int64.self, rows.count + 1)
    var count = 0
    var isNull = false
    var start = 0
    for row in 0..<rows.count where rows.isNull(row) != isNull {
      lengths[count] = Int64(row - start)
      count += 1
      isNull.toggle()
      start = row
    }
    lengths[count] = Int64(rows.count - start)
    return (lengths, count + 1)
  }
}

/// The null rows of a block that is being read.
struct NullMask {
  let rowCount: Int
  let bits: UnsafeMutablePointer<UInt64>
  private(set) var nullCount = 0

  /// No nulls yet.
  init(rowCount: Int, scratch: Scratch) {
    self.rowCount = rowCount
    let wordCount = (rowCount + 63) / 64 + 1
    bits = scratch.take(UInt64.self, wordCount)
    bits.update(repeating: 0, count: wordCount)
  }

  func isNull(_ row: Int) -> Bool { bits[row >> 6] & (1 << UInt64(row & 63)) != 0 }

  mutating func setAll() { set(0..<rowCount) }

  private mutating func set(_ rows: Range<Int>) {
    for row in rows { bits[row >> 6] |= 1 << UInt64(row & 63) }
    nullCount += rows.count
  }

  mutating func readBitmap(from source: inout ByteSource) throws {
    let length = (rowCount + 7) / 8
    let bytes = try source.take(length)
    for i in 0..<length { bits[i >> 3] |= UInt64(bytes[i]) << UInt64(8 * (i & 7)) }
    guard rowCount % 8 == 0 || bytes[length - 1] >> UInt8(rowCount % 8) == 0 else {
      throw source.error("a bitmap has bits behind its last row")
    }
    for word in 0..<((rowCount + 63) / 64) { nullCount += bits[word].nonzeroBitCount }
  }

  mutating func readRuns(from source: inout ByteSource, _ reader: IntegerReader) throws {
    let count = try source.count(from: 1, upTo: rowCount + 1)
    let lengths = reader.scratch.take(Int64.self, count)
    try reader.readIndexes(count, below: rowCount + 1, from: &source, into: lengths)
    var row = 0
    for i in 0..<count {
      let end = row + Int(lengths[i])
      guard end <= rowCount else { throw source.error("runs of nulls are too long") }
      if i % 2 == 1 { set(row..<end) }
      row = end
    }
    guard row == rowCount else { throw source.error("runs of nulls are too short") }
  }

  /// Makes each row null whose value is `null`, and its value 0.
  mutating func readInBand(_ null: Int64, _ values: UnsafeMutablePointer<Int64>) {
    var row = 0
    while row < rowCount {
      let end = min(row + 64, rowCount)
      var word: UInt64 = 0
      for i in row..<end {
        let isNull = values[i] == null
        word |= (isNull ? 1 : 0) &<< UInt64(i - row)
        values[i] = isNull ? 0 : values[i]
      }
      bits[row >> 6] = word
      nullCount += word.nonzeroBitCount
      row = end
    }
  }

  /// Makes those rows null for which `other` has a bit, the rows listed the other way round.
  mutating func set(like other: UnsafePointer<UInt64>, except rows: UnsafePointer<Int64>, _ count: Int) {
    let wordCount = (rowCount + 63) / 64
    bits.update(from: other, count: wordCount)
    for i in 0..<count { bits[Int(rows[i] >> 6)] ^= 1 << UInt64(rows[i] & 63) }
    for word in 0..<wordCount { nullCount += bits[word].nonzeroBitCount }
  }

  /// Moves the values of rows that aren't null together.
  func compact<T: BitwiseCopyable>(_ values: UnsafeMutablePointer<T>) {
    if nullCount == 0 { return }
    var next = 0
    for row in 0..<rowCount where !isNull(row) {
      values[next] = values[row]
      next += 1
    }
  }

  /// Moves values from the start of the memory to their rows, and puts `filler` where rows are null.
  func expand<T>(_ values: UnsafeMutablePointer<T>, filler: T) {
    if nullCount == 0 { return }
    if nullCount < rowCount / 8 { return expandRuns(values, filler: filler) }
    var next = rowCount - nullCount
    for row in stride(from: rowCount - 1, through: 0, by: -1) {
      if isNull(row) {
        values[row] = filler
      } else {
        next -= 1
        values[row] = values[next]
      }
    }
  }

  /// The same, run by run between the rows that are null: they are few.
  private func expandRuns<T>(_ values: UnsafeMutablePointer<T>, filler: T) {
    var end = rowCount
    var next = rowCount - nullCount
    for index in stride(from: (rowCount - 1) >> 6, through: 0, by: -1) {
      var word = bits[index]
      while word != 0 {
        let row = index << 6 + 63 - word.leadingZeroBitCount
        word &= ~(1 << UInt64(row & 63))
        let count = end - row - 1
        next -= count
        (values + row + 1).update(from: values + next, count: count)
        values[row] = filler
        end = row
      }
    }
  }

  /// The nulls of `count` rows from `start` on; nil where there are none.
  func bitmap(from start: Int, count: Int, scratch: Scratch) -> Bitmap? {
    if nullCount == 0 || count == 0 { return nil }
    let mark = scratch.mark
    defer { scratch.release(to: mark) }
    let wordCount = (count + 63) / 64
    let words = scratch.take(UInt64.self, wordCount)
    var all: UInt64 = 0
    for i in 0..<wordCount {
      let bit = start + 64 * i
      let shift = UInt64(bit & 63)
      var word = bits[bit >> 6] >> shift
      // The word behind the last one is there and clear; see `init`.
      if shift > 0 { word |= bits[bit >> 6 + 1] << (64 - shift) }
      if count - 64 * i < 64 { word &= 1 << UInt64(count - 64 * i) - 1 }
      words[i] = word
      all |= word
    }
    return all == 0 ? nil : Bitmap(rowCount: count, copying: words)
  }
}
