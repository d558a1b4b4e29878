import CairnModel
import Testing

@testable import CairnStores

@Suite("Forms of values")
struct ValueFormTests {
  @Test("each form of doubles, UUIDs and strings is chosen for some column")
  func everyFormIsChosen() throws {
    var forms: [ValueType: Set<UInt8>] = [:]
    let encoder = ColumnEncoder(effort: .smallest)
    for sample in EncodingSamples.all {
      let payload = try encoder.encode(sample.parts, type: sample.type).payload()
      if payload[0] == NullForm.none.rawValue, payload.count > 1 {
        forms[sample.type, default: []].insert(payload[1])
      }
    }
    #expect(forms[.double] == [1, 2])
    #expect(forms[.date] == [1, 2])
    #expect(forms[.float] == [1, 2])
    #expect(forms[.uuid] == [1, 2, 3])
    #expect(forms[.string] == [1, 2, 3, 4, 5])
    #expect(forms[.data]?.isSuperset(of: [1, 3]) == true)
  }

  private static let head: [UInt8] = [0]

  @Test(
    "values that are wrong throw",
    arguments: [
      (.double, [0]), (.double, [3, 1, 0]), (.double, [2, 16, 0, 1, 0]), (.double, [2, 0, 3, 1, 0]),
      (.double, [2, 0, 1, 1, 4, 1, 0, 1, 0]), (.float, [1, 1, 0x80, 0x80, 0x80, 0x80, 0x20]),
      (.float, [1, 1, 1]),
      (.uuid, [0]), (.uuid, [4]), (.uuid, [3, 0]), (.uuid, [3, 3]), (.uuid, [1, 0, 0]),
      (.decimal, [1, 0, 1, 0x80, 1, 1, 0, 1, 0]), (.decimal, [1, 0x80, 2, 1, 0, 1, 0, 1, 0]),
      (.decimal, [1, 0, 1, 18, 1, 0, 1, 0]), (.int16, [1, 0x80, 0x80, 4]), (.bool, [1, 4]), (.key, [1, 0]),
      (.string, [0]), (.string, [5]), (.string, [1, 1, 2, 65]), (.string, [1, 1, 1]),
      (.string, [2, 0, 65, 0]),
      (.string, [3, 1, 2, 2, 0, 65, 0, 0]), (.string, [3, 1, 0, 3, 1, 0, 2, 0, 0, 0]),
      (.string, [4, 1, 4, 1, 2, 0, 0, 1, 0, 1, 0]), (.string, [4, 1, 2, 0, 0, 1, 2]), (.string, [4, 0]),
      (.string, [5, 44, 1, 0, 1]), (.string, [5, 44, 1, 2, 0]),
      (.string, [5, 44, 1, 2, 1, 1, 2, 2, 44, 65, 44, 66, 44]),
      (.string, [5, 44, 1, 2, 1, 1, 0, 3, 1, 0, 2, 44, 65, 44, 66, 44]),
      (.string, [5, 44, 1, 0xFE, 1, 1, 1, 0]),
      (.string, [5, 44, 1, 2, 1, 1, 0, 2, 44, 65, 44, 66]),
    ] as [(ValueType, [UInt8])])
  func wrongValues(type: ValueType, bytes: [UInt8]) {
    let payload = ValueFormTests.head + bytes
    let block = EncodedBlock(bytes: payload, codec: .stored, rawLength: payload.count)
    #expect(throws: PayloadError.self) { try ColumnDecoder().decode(block, type: type, counts: [2]) }
  }

  @Test(
    "nulls that are wrong throw",
    arguments: [
      [], [5], [1, 0], [2], [2, 0xFF, 1, 0], [2, 0b1100, 1, 0], [3, 0], [3, 4, 1, 0], [3, 1, 1, 2, 1, 0],
      [3, 2, 1, 4, 1, 0],
    ] as [[UInt8]])
  func wrongNulls(payload: [UInt8]) {
    let block = EncodedBlock(bytes: payload, codec: .stored, rawLength: payload.count)
    #expect(throws: PayloadError.self) { try ColumnDecoder().decode(block, type: .int32, counts: [2]) }
  }

  @Test("the example that the specification takes apart has the values that it says")
  func workedExample() throws {
    let payload: [UInt8] = [4, 0xE7, 7, 9, 0xE7, 7, 0xF4, 3, 4, 0, 3, 2, 7]
    let block = EncodedBlock(bytes: payload, codec: .stored, rawLength: payload.count)
    let column = try ColumnDecoder().decode(block, type: .int32, counts: [4])[0]
    #expect((0..<4).map { column.value($0) } == [.int(500), .null, .int(1500), .int(1000)])
  }

  @Test("entries of joined items are put together again, empty items included")
  func joinedItems() throws {
    // Counts 2 and 1 as varints; two classes 1, 0, 0; "b" and "" in class 0, "a" in class 1.
    let payload: [UInt8] = [0, 5, 124, 5, 4, 2, 2, 5, 2, 0, 0, 2, 124, 98, 124, 124, 2, 124, 97, 124]
    let block = EncodedBlock(bytes: payload, codec: .stored, rawLength: payload.count)
    let column = try ColumnDecoder().decode(block, type: .string, counts: [2])[0]
    #expect((0..<2).map { column.string($0) } == ["a|b", ""])
  }

  @Test("only integers have nulls in band")
  func inBandIsForIntegers() throws {
    let payload: [UInt8] = [4, 0, 1, 0]
    let block = EncodedBlock(bytes: payload, codec: .stored, rawLength: payload.count)
    #expect(throws: PayloadError.self) { try ColumnDecoder().decode(block, type: .double, counts: [2]) }
    #expect(try ColumnDecoder().decode(block, type: .int32, counts: [2])[0].nullCount == 2)
  }

  @Test("deflate is used where it saves 3 %, and not elsewhere")
  func deflatesWhereItPays() {
    let encoder = ColumnEncoder(effort: .default)
    var codecs: Set<BlockCodec> = []
    for sample in EncodingSamples.all {
      let block = encoder.encode(sample.parts, type: sample.type)
      codecs.insert(block.codec)
      #expect(
        block.codec == .deflate
          ? block.bytes.count * 100 <= block.rawLength * 97 : block.bytes.count == block.rawLength)
    }
    #expect(codecs == [.stored, .deflate])
  }
}

extension EncodedBlock {
  /// The payload before deflating.
  func payload() throws -> [UInt8] {
    if codec == .stored { return bytes }
    let inflater = BlockInflater()
    return try withExtendedLifetime(inflater) {
      try bytes.withUnsafeBufferPointer { Array(try inflater.inflate($0, rawLength: rawLength)) }
    }
  }
}
