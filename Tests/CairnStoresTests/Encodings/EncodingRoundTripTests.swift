import CairnModel
import CairnStores
import Testing

@Suite("Encodings give back what was encoded")
struct EncodingRoundTripTests {
  @Test("every type in every arrangement comes back bit for bit", arguments: EncodingEffort.allCases)
  func comesBack(effort: EncodingEffort) throws {
    let encoder = ColumnEncoder(effort: effort)
    let decoder = ColumnDecoder()
    for sample in EncodingSamples.all {
      let block = encoder.encode(sample.parts, type: sample.type)
      let decoded = try decoder.decode(block, type: sample.type, counts: sample.counts)
      #expect(decoded.count == sample.parts.count)
      for (new, old) in zip(decoded, sample.parts) { #expect(areSame(new, old), "\(sample)") }
    }
  }

  @Test("columns come back at the layout and with the bounds that a builder gives them")
  func isAsBuilt() throws {
    let encoder = ColumnEncoder(effort: .default)
    let decoder = ColumnDecoder()
    for sample in EncodingSamples.all {
      let block = encoder.encode(sample.parts, type: sample.type)
      for (new, old) in zip(try decoder.decode(block, type: sample.type, counts: sample.counts), sample.parts)
      {
        // Strings may come back with a dictionary.
        #expect(new.layout == old.layout || new.layout == .codes, "\(sample)")
        #expect(new.zone == old.zone, "\(sample)")
      }
    }
  }

  @Test(
    "the same values give the same bytes, whatever the encoder did before", arguments: EncodingEffort.allCases
  )
  func isDeterministic(effort: EncodingEffort) {
    let used = ColumnEncoder(effort: effort)
    for sample in EncodingSamples.all.reversed() { _ = used.encode(sample.parts, type: sample.type) }
    for sample in EncodingSamples.all {
      let fresh = ColumnEncoder(effort: effort).encode(sample.parts, type: sample.type)
      #expect(used.encode(sample.parts, type: sample.type) == fresh, "\(sample)")
    }
  }

  @Test("bytes depend on the values, not on how columns hold them")
  func ignoresLayout() {
    let words = (0..<900).map { ["ant", "bee", ""][$0 * $0 % 3] }
    let spread = EncodingSamples.column(words.map { .string($0) }, .string)
    let coded = Chunk.make(
      entity: EntityID(1), types: [.string], keys: (1...900).map { Int64($0) }, columns: [spread],
      range: 0..<900
    ).columns[0]
    #expect(coded.layout == .codes && spread.layout == .bytes)
    let encoder = ColumnEncoder(effort: .default)
    #expect(encoder.encode([coded], type: .string) == encoder.encode([spread], type: .string))
  }

  @Test(
    "no block is larger than its values laid side by side and a few bytes", arguments: EncodingEffort.allCases
  )
  func isNeverLarger(effort: EncodingEffort) {
    let encoder = ColumnEncoder(effort: effort)
    for sample in EncodingSamples.all {
      let block = encoder.encode(sample.parts, type: sample.type)
      #expect(block.bytes.count <= plainByteCount(sample) + 24, "\(sample)")
    }
  }

  /// A bit a row for nulls, whole values, and four bytes for each length.
  private func plainByteCount(_ sample: EncodingSample) -> Int {
    let rows = sample.counts.reduce(0, +)
    var count = sample.parts.contains { $0.nullCount > 0 } ? (rows + 7) / 8 : 0
    for part in sample.parts {
      for row in 0..<part.count where !part.isNull(row) {
        switch sample.type {
        case .bool: count += 1
        case .int16: count += 2
        case .int32, .float: count += 4
        case .int64, .key, .double, .date: count += 8
        case .uuid: count += 16
        case .decimal: count += 20
        case .string, .uri, .data, .transformable: count += part.bytes(row).count + 4
        }
      }
    }
    return count
  }

  @Test("columns that share a decoded dictionary are changed apart from each other")
  func sharedDictionaryIsSafe() throws {
    let words = (0..<400).map { Value.string(["ant", "bee", "cat"][$0 % 3]) }
    let sample = EncodingSamples.sample("", .string, words, parts: 2)
    let block = ColumnEncoder(effort: .default).encode(sample.parts, type: .string)
    let columns = try ColumnDecoder().decode(block, type: .string, counts: sample.counts)
    #expect(columns.allSatisfy { $0.layout == .codes })
    func appended(_ column: Column, _ word: String) -> Column {
      let keys = (1...Int64(column.count)).map { $0 }
      let chunk = Chunk.make(
        entity: EntityID(1), types: [.string], keys: keys, columns: [column], range: 0..<column.count)
      return chunk.appending(
        keys: [Int64(column.count) + 1], columns: [EncodingSamples.column([.string(word)], .string)],
        range: 0..<1
      ).columns[0]
    }
    let (first, second) = (appended(columns[0], "dog"), appended(columns[1], "emu"))
    #expect(first.string(200) == "dog" && second.string(200) == "emu")
    #expect(first.string(0) == "ant" && second.string(1) == sample.parts[1].string(1))
  }
}
