// No block takes more than its values do side by side, however samples mislead.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct PlainFormTests {
  private static let count = 16_384

  /// Integers of which the middle, where samples are taken, isn't like the rest.
  private static func misleading(_ seed: UInt64) -> [Int64] {
    var random = SplitMix64(seed: seed)
    let middle = Int(1_024 << (seed % 3))
    let width = UInt64(8 + seed % 57)
    let kind = random.next() % 5
    var last: Int64 = 0
    return (0..<count).map { row in
      let noise = Int64(bitPattern: random.next() >> (64 - width))
      if abs(row - count / 2) > middle { return noise }
      switch kind {
      case 0: last = 7
      case 1: last += 1
      case 2: last = Int64(row / 100)
      case 3: last = Int64(random.next() % 3) * 1_000_003
      default: last += Int64(random.next() % 4)
      }
      return last
    }
  }

  private static func column(_ type: ValueType, _ values: [Int64], nulls: Bool) throws -> Column {
    let builder = ColumnBuilder(type)
    for (row, value) in values.enumerated() {
      try builder.append(value: nulls && row % 3 == 0 ? .null : made(type, UInt64(bitPattern: value)))
    }
    return builder.finish()
  }

  private static func made(_ type: ValueType, _ bits: UInt64) -> Value {
    switch type {
    case .double: .double(Double(bitPattern: bits))
    case .string: .string(String(bits, radix: 36))
    case .uuid:
      .uuid(withUnsafeBytes(of: (bits, bits ^ 0x55)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    case .decimal: .decimal(Decimal(Int64(bitPattern: bits)))
    default: .int(Int64(bitPattern: bits))
    }
  }

  /// The bytes that each value takes by itself.
  private static func size(_ column: Column, _ type: ValueType) -> Int {
    (0..<column.count).reduce(0) { sum, row in
      if column.isNull(row) { return sum }
      switch type {
      case .uuid: return sum + 16
      case .decimal: return sum + 20
      case .string: return sum + 4 + column.bytes(row).count
      default: return sum + 8
      }
    }
  }

  @Test(arguments: EncodingEffort.allCases)
  func `no block takes more than its values side by side`(_ effort: EncodingEffort) throws {
    let encoder = ColumnEncoder(effort: effort)
    let decoder = ColumnDecoder()
    for seed in UInt64(0)..<(effort == .smallest ? 8 : 40) {
      let values = Self.misleading(seed)
      for type in [ValueType.int64, .double, .string, .uuid, .decimal] where seed < 8 || type != .decimal {
        let column = try Self.column(type, values, nulls: seed % 2 == 1)
        let block = encoder.encode([column], type: type)
        let most =
          Self.size(column, type) + PlainForms.overhead(type) + (column.nulls == nil ? 0 : Self.count / 8)
        #expect(block.bytes.count <= most, "\(type), seed \(seed): \(block.bytes.count) > \(most)")
        let decoded = try decoder.decode(block, type: type, counts: [column.count])
        #expect(areSame(decoded[0], column))
      }
    }
  }

  @Test(arguments: EncodingEffort.allCases)
  func `nor does a small block`(_ effort: EncodingEffort) throws {
    let encoder = ColumnEncoder(effort: effort)
    var random = SplitMix64(seed: 11)
    for round in 0..<3_000 {
      let type = [ValueType.int64, .double, .string, .uuid, .decimal][round % 5]
      let width = random.next() % 64
      let few = 1 + random.next() % 4
      let some = (0..<few).map { _ in Int64(bitPattern: random.next() >> width) }
      let values = (0..<1 + Int(random.next() % 60)).map { row in
        random.next() % 3 == 0 ? Int64(bitPattern: random.next() >> width) : some[row % some.count]
      }
      let column = try Self.column(type, values, nulls: random.next() % 4 == 0)
      if column.nullCount == column.count { continue }
      let block = encoder.encode([column], type: type)
      let nulls = column.nullCount == 0 ? 0 : (column.count + 7) / 8
      let most = Self.size(column, type) + PlainForms.overhead(type) + nulls
      #expect(block.bytes.count <= most, "\(type), round \(round): \(block.bytes.count) > \(most)")
      #expect(areSame(try ColumnDecoder().decode(block, type: type, counts: [column.count])[0], column))
    }
  }

  @Test(arguments: ValueType.allCases.filter { $0 != .key })
  func `the plain forms give back every value, in no more bytes than they say`(_ type: ValueType) throws {
    for values in [Golden.edges(type), Array(repeating: Golden.edges(type)[0], count: 9)] {
      for withNulls in [false, true] {
        let builder = ColumnBuilder(type)
        for value in values {
          try builder.append(value: value)
          if withNulls { builder.appendNull() }
        }
        let column = builder.finish()
        let encoder = ColumnEncoder(effort: .default)
        let rows = BlockRows([column], scratch: encoder.scratch)
        var chooser = encoder.chooser
        chooser.isPlain = true
        let sink = ByteSink()
        PlainForms.write(rows, type, to: sink, chooser)
        #expect(sink.count <= PlainForms.byteCount(rows, type))
        let block = EncodedBlock(bytes: Array(sink.buffer), codec: .stored, rawLength: sink.count)
        let decoded = try ColumnDecoder().decode(block, type: type, counts: [column.count])
        #expect(areSame(decoded[0], column), "\(type)")
      }
    }
  }
}
