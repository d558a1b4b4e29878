import CairnModel
import Testing

@testable import CairnStores

@Suite("Payloads that are damaged or made up")
struct HostilePayloadTests {
  /// Decodes; anything but columns of the right counts or an error of the right kind fails the test.
  private func attempt(
    _ bytes: [UInt8], _ codec: BlockCodec, rawLength: Int, _ sample: EncodingSample, _ decoder: ColumnDecoder
  ) -> Bool {
    do {
      let columns = try bytes.withUnsafeBufferPointer {
        try decoder.decode($0, codec: codec, rawLength: rawLength, type: sample.type, counts: sample.counts)
      }
      #expect(columns.map(\.count) == sample.counts)
      for column in columns {
        for row in 0..<column.count { _ = column.value(row) }
      }
      return true
    } catch {
      #expect(error is PayloadError, "\(error)")
      return false
    }
  }

  private static let small = EncodingSamples.all.filter { $0.counts.reduce(0, +) <= 900 && $0.name != "huge" }

  @Test("no payload that was cut off decodes", arguments: [EncodingEffort.fastest, .smallest])
  func truncations(effort: EncodingEffort) throws {
    let encoder = ColumnEncoder(effort: effort)
    let decoder = ColumnDecoder()
    for sample in HostilePayloadTests.small {
      let payload = try encoder.encode(sample.parts, type: sample.type).payload()
      for length in stride(from: 0, to: payload.count, by: max(payload.count / 80, 1)) {
        let cut = Array(payload[..<length])
        #expect(!attempt(cut, .stored, rawLength: length, sample, decoder), "\(sample), \(length)")
      }
      let longer = payload + [0]
      #expect(!attempt(longer, .stored, rawLength: longer.count, sample, decoder), "\(sample)")
    }
  }

  @Test(
    "a changed byte gives columns of the right counts, or an error",
    arguments: [EncodingEffort.fastest, .smallest])
  func flips(effort: EncodingEffort) throws {
    let encoder = ColumnEncoder(effort: effort)
    let decoder = ColumnDecoder()
    for sample in HostilePayloadTests.small {
      var payload = try encoder.encode(sample.parts, type: sample.type).payload()
      for place in stride(from: 0, to: payload.count, by: max(payload.count / 40, 1)) {
        let old = payload[place]
        for new in [old ^ 1, old ^ 0x80, 0xFF] {
          payload[place] = new
          _ = attempt(payload, .stored, rawLength: payload.count, sample, decoder)
        }
        payload[place] = old
      }
    }
  }

  @Test("made-up payloads give columns of the right counts, or an error")
  func madeUp() {
    var numbers = SeededNumbers(seed: 42)
    let decoder = ColumnDecoder()
    var decodedCount = 0
    for round in 0..<15_000 {
      let type = ValueType.allCases[round % ValueType.allCases.count]
      let counts = [Int(numbers.next() % 40), Int(numbers.next() % 3)]
      var bytes = (0..<Int(numbers.next() % 60)).map { _ in UInt8(truncatingIfNeeded: numbers.next() % 12) }
      if !bytes.isEmpty { bytes[0] %= 5 }
      let sample = EncodingSample(
        name: "made up", type: type,
        parts: counts.map { EncodingSamples.column(Array(repeating: .null, count: $0), type) })
      if attempt(bytes, .stored, rawLength: bytes.count, sample, decoder) { decodedCount += 1 }
    }
    // Some of them have to get past the first checks.
    #expect(decodedCount > 30)
  }

  @Test("damaged deflate streams give an error or columns of the right counts")
  func damagedDeflate() throws {
    let sample = EncodingSamples.all.first { $0.type == .string && $0.name == "sorted" }!
    let block = ColumnEncoder(effort: .default).encode(sample.parts, type: .string)
    #expect(block.codec == .deflate)
    let decoder = ColumnDecoder()
    for length in 0..<block.bytes.count {
      let cut = Array(block.bytes[..<length])
      #expect(!attempt(cut, .deflate, rawLength: block.rawLength, sample, decoder))
    }
    for place in block.bytes.indices {
      var bytes = block.bytes
      bytes[place] ^= 0x10
      _ = attempt(bytes, .deflate, rawLength: block.rawLength, sample, decoder)
    }
    for rawLength in [0, 1, block.rawLength - 1, block.rawLength + 1, 1 << 40, -1] {
      #expect(!attempt(block.bytes, .deflate, rawLength: rawLength, sample, decoder))
    }
    #expect(!attempt(block.bytes + [0], .deflate, rawLength: block.rawLength, sample, decoder))
  }

  @Test(
    "counts that no block can have throw", arguments: [[-1], [70_000], [65_535, 1], [Int.max, Int.max]])
  func impossibleCounts(counts: [Int]) {
    let block = ColumnEncoder(effort: .default).encode(
      [EncodingSamples.column([.int(1)], .int64)], type: .int64)
    #expect(throws: PayloadError.self) { try ColumnDecoder().decode(block, type: .int64, counts: counts) }
  }

  @Test("other counts than those encoded throw, or give columns of those counts")
  func otherCounts() {
    let decoder = ColumnDecoder()
    let encoder = ColumnEncoder(effort: .default)
    for sample in HostilePayloadTests.small where sample.counts.reduce(0, +) > 1 {
      let block = encoder.encode(sample.parts, type: sample.type)
      for counts in [[0], [1], [sample.counts[0] + 1], [65_535]] {
        guard let columns = try? decoder.decode(block, type: sample.type, counts: counts) else { continue }
        #expect(columns.map(\.count) == counts)
      }
    }
  }

  @Test("a payload longer than the limit isn't inflated")
  func limit() throws {
    let sample = EncodingSamples.all.first { $0.name == "huge" }!
    let block = ColumnEncoder(effort: .fastest).encode(sample.parts, type: sample.type)
    let limits = DecodingLimits(rawLength: block.rawLength - 1)
    #expect(throws: PayloadError.self) {
      try ColumnDecoder(limits: limits).decode(block, type: sample.type, counts: sample.counts)
    }
    _ = try ColumnDecoder().decode(block, type: sample.type, counts: sample.counts)
  }

  @Test("entries that share their fronts don't grow beyond 64 times the payload")
  func frontsAreBounded() throws {
    // One entry of 40,000 bytes, and 4,000 entries that share all of it.
    var bytes: [UInt8] = [0, 3]
    let n = 4001
    let sink = ByteSink()
    let scratch = Scratch()
    let shared = scratch.take(Int64.self, n)
    let lengths = scratch.take(Int64.self, n)
    for i in 0..<n {
      shared[i] = i == 0 ? 0 : 40_000
      lengths[i] = i == 0 ? 40_000 : 0
    }
    IntegerShaper.writeSmall(shared, n, to: sink, scratch: scratch)
    sink.append(TextForm.lengths.rawValue)
    IntegerShaper.writeSmall(lengths, n, to: sink, scratch: scratch)
    bytes += Array(sink.buffer) + Array(repeating: 65, count: 40_000)
    let error = #expect(throws: PayloadError.self) {
      try bytes.withUnsafeBufferPointer {
        try ColumnDecoder().decode($0, codec: .stored, rawLength: bytes.count, type: .string, counts: [n])
      }
    }
    #expect(error?.what.contains("grows") == true)
  }
}
