import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite("Transactions that are damaged or made up")
struct TransactionCodingHostileTests {
  /// Decodes; anything but a change set that can be used or an error of the right kind fails the test.
  private func attempt(_ bytes: [UInt8], _ schema: Schema) -> Bool {
    do {
      let changes = try TransactionCoding.decode(bytes, schema: schema)
      for batch in changes.inserts {
        #expect(batch.keys.first.map { $0 > 0 } ?? false)
        for column in batch.columns { use(column, batch.keys.count) }
      }
      for batch in changes.updates { for column in batch.columns { use(column, batch.keys.count) } }
      // Whatever is decoded could have been written.
      if bytes.count < 1000 { _ = try TransactionCoding.encode(changes, schema: schema) }
      return true
    } catch {
      let known = error as? PayloadError
      #expect(known != nil && known!.byteOffset <= bytes.count, "\(error)")
      return false
    }
  }

  private func use(_ column: Column?, _ count: Int) {
    guard let column else { return }
    #expect(column.count == count)
    for row in 0..<min(count, 50) { _ = column.value(row) }
  }

  /// Short ones, since each of their bytes is changed.
  private func samples() throws -> [(bytes: [UInt8], schema: Schema)] {
    try TransactionCodingTests.schemas.flatMap { _, schema in
      try (1...UInt64(40)).map { seed in
        var samples = TransactionSamples(seed: 1000 + seed, schema)
        return (try TransactionCoding.encode(samples.changes(rows: 30), schema: schema), schema)
      }.filter { (1...600).contains($0.0.count) }.prefix(5)
    }
  }

  @Test("a transaction that was cut off is an error, or ends with a whole batch")
  func truncations() throws {
    for (bytes, schema) in try samples() {
      var whole = 0
      for length in 0..<bytes.count where attempt(Array(bytes[..<length]), schema) { whole += 1 }
      let changes = try TransactionCoding.decode(bytes, schema: schema)
      let batches =
        changes.inserts.count + changes.updates.count + changes.deletes.count + changes.links.count
      #expect(whole == batches, "\(bytes.count) bytes")
    }
  }

  @Test("a changed byte gives another change set or an error")
  func flips() throws {
    for (bytes, schema) in try samples() {
      var changed = bytes
      for place in 0..<bytes.count {
        for new in [bytes[place] ^ 1, bytes[place] ^ 0x80, 0xFF, 0] {
          changed[place] = new
          _ = attempt(changed, schema)
        }
        changed[place] = bytes[place]
      }
    }
  }

  @Test("changed bytes of encoded blocks give another change set or an error")
  func flipsInBlocks() throws {
    var samples = TransactionSamples(seed: 5, .specimen)
    var changes = ChangeSet()
    changes.updates = [samples.updates(1500)]
    changes.inserts = [samples.inserts(1100)]
    let bytes = try TransactionCoding.encode(changes, schema: .specimen)
    var changed = bytes
    for place in stride(from: 0, to: bytes.count, by: max(bytes.count / 400, 1)) {
      for new in [bytes[place] ^ 1, bytes[place] ^ 0x80, 0xFF] {
        changed[place] = new
        _ = attempt(changed, .specimen)
      }
      changed[place] = bytes[place]
    }
  }

  @Test("made-up bytes give a change set or an error")
  func madeUp() {
    var numbers = SeededNumbers(seed: 7)
    var decodedCount = 0
    for round in 0..<30_000 {
      let schema = TransactionCodingTests.schemas[round % 3].schema
      var bytes = (0..<Int(numbers.next() % 40)).map { _ in UInt8(truncatingIfNeeded: numbers.next() % 9) }
      if !bytes.isEmpty, round % 4 == 0 { bytes[0] |= 0x10 }
      if attempt(bytes, schema) { decodedCount += 1 }
    }
    // Some of them have to get past the first checks; one in forty is empty.
    #expect(decodedCount > 770)
  }

  private static let room = Schema.company.entity(named: "Room")!
  private static let roomID = UInt8(room.id.index)
  private static let person = Schema.company.entity(named: "Person")!
  private static let rooms = UInt8(
    Schema.company.entity(named: "Department")!.relationship(named: "rooms")!.index)
  private static let departmentID = UInt8(Schema.company.entity(named: "Department")!.id.index)
  private static let vast: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]

  /// Bytes with one fault, and what the error says. Room's slots are number, dept, dept#order.
  private static let faults: [(name: String, bytes: [UInt8], says: String)] = [
    ("kind 0", [0], "no batch of kind 0"),
    ("kind 7", [7], "no batch of kind 7"),
    ("links in blocks", [0x14], "no batch of kind 20"),
    ("flags", [0x21], "no batch of kind 33"),
    ("order of batches", [3, roomID, 1, 0, 2, roomID, 1, 0, 1, 0, 2], "another order"),
    ("unknown entity", [3, 99, 1, 0], "isn't in"),
    ("abstract entity", [3, UInt8(Schema.company.entity(named: "Thing")!.id.index), 1, 0], "abstract"),
    ("no rows", [3, roomID, 0], "isn't in 1..."),
    ("no slots", [2, roomID, 1, 0, 0], "isn't in 1..."),
    ("too many slots", [2, roomID, 1, 0, 4, 0, 2, 4, 6, 2, 2, 2, 2], "isn't in 1...3"),
    ("unknown slot", [2, roomID, 1, 0, 1, 6, 2], "isn't in"),
    ("slot twice", [2, roomID, 1, 0, 2, 0, 0, 2, 2], "slot 0 twice"),
    ("slot twice out of order", [2, roomID, 1, 0, 3, 2, 0, 2, 2, 2, 2], "slot 1 twice"),
    ("slots that aren't there", [1, roomID, 1, 0, 8], "slots that aren't there"),
    ("key beyond 63 bits", [3, roomID, 1] + vast.map { $0 | 0x80 } + [0xFF, 1], "a key is too great"),
    ("key after the last", [3, roomID, 2, 0xFE] + vast + [0x7F, 0], "a key is too great"),
    ("a vast count of rows", [3, roomID] + vast + [0], "isn't in 1..."),
    ("a vast count of rows in blocks", [0x13, roomID] + vast + [0, 0, 0, 0], "isn't in 1..."),
    ("blocks that aren't there", [0x13, roomID, 0x81, 0x80, 0x02, 4, 0, 0], "there aren't blocks"),
    ("a vast block", [0x13, roomID, 1] + vast, "isn't in"),
    ("a block that inflates to much", [0x13, roomID, 1, 5, 0xFF, 0xFF, 0xFF, 0x7F, 0, 0], "refused|inflate"),
    ("a truth value", [2, UInt8(Schema.company.entities.count)], "isn't in"),
    ("a key of 0", [2, roomID, 1, 0, 1, 2, 0], "isn't of type key"),
    ("a key below 0", [2, roomID, 1, 0, 1, 2] + vast.map { $0 | 0x80 } + [0xFF, 1], "isn't of type key"),
    ("an age beyond 16 bits", [2, UInt8(person.id.index), 1, 0, 1, ageCode, 0x80, 0x80, 4], "type int16"),
    ("a form of nulls", [2, roomID, 2, 0, 0, 1, 0, 2, 2], "nulls have no form 2"),
    ("nulls behind the last row", [2, roomID, 2, 0, 0, 1, 0, 1, 4, 2], "bits behind its last row"),
    ("a bitmap without nulls", [2, roomID, 2, 0, 0, 1, 0, 1, 0, 2, 2], "0 of 2 rows"),
    ("a bitmap of all", [2, roomID, 2, 0, 0, 1, 0, 1, 3], "2 of 2 rows"),
    ("a long text", [2, UInt8(person.id.index), 1, 0, 1, 0, 9, 65], "isn't in 0...2"),
    ("a relationship", [4, 99], "isn't in"),
    ("an owner of another entity", [4, rooms, roomID, 2, 0], "can't stand here"),
    ("a member of another entity", [4, rooms, departmentID, 2, 1, departmentID, 2, 0], "can't stand here"),
    ("many members", [4, rooms, departmentID, 2, 60, roomID, 2, 0], "isn't in"),
    ("members without an end", [4, rooms, departmentID, 2, 1, roomID, 2], "ends early"),
    ("a last byte too many", [3, roomID, 1, 0, 0], "no batch of kind 0"),
  ]

  private static let ageCode = UInt8(person.slot(named: "age")! << 1)

  @Test("each fault is refused, and the error says which it is", arguments: faults.indices)
  func refuses(index: Int) throws {
    let (name, bytes, says) = TransactionCodingHostileTests.faults[index]
    let error = #expect(throws: PayloadError.self, "\(name)") {
      try TransactionCoding.decode(bytes, schema: .company)
    }
    let description = try #require(error).description
    #expect(says.split(separator: "|").contains { description.contains($0) }, "\(name): \(description)")
    #expect(description.contains("at byte"))
  }

  @Test("keys in blocks ascend")
  func ascendingInBlocks() throws {
    for keys: [Int64] in [[2, 1], [1, 1], [0, 1], [-1, 1]] {
      let builder = ColumnBuilder(.int64)
      for key in keys { builder.append(key) }
      let block = ColumnEncoder(effort: .fastest).encode([builder.finish()], type: .int64)
      #expect(block.codec == .stored)
      let bytes =
        [0x13, TransactionCodingHostileTests.roomID, 2, UInt8(block.bytes.count << 1)] + block.bytes
      let error = #expect(throws: PayloadError.self) {
        try TransactionCoding.decode(bytes, schema: .company)
      }
      #expect(try #require(error).description.contains("ascend"))
    }
  }

  @Test("texts in blocks don't grow out of common fronts")
  func fronts() throws {
    // No nulls; fronts: none is shared; and a list by lengths of "a" and "b".
    let texts: [UInt8] = [0, 3, 1, 0, 1, 1, 2, 97, 98]
    let column = try texts.withUnsafeBufferPointer {
      try ColumnDecoder().decode($0, codec: .stored, rawLength: texts.count, type: .string, counts: [2])[0]
    }
    #expect(column.string(0) == "a" && column.string(1) == "b")
    let keys = ColumnEncoder(effort: .untried).encode(
      [EncodingSamples.column([.int(1), .int(2)], .int64)], type: .int64)
    func update(_ texts: [UInt8]) -> [UInt8] {
      [0x12, UInt8(TransactionCodingHostileTests.person.id.index), 2, 1, 0, UInt8(keys.bytes.count << 1)]
        + keys.bytes
        + [UInt8(texts.count << 1)] + texts
    }
    let plain: [UInt8] = [0, 1, 1, 2, 97, 98]
    #expect(
      try TransactionCoding.decode(update(plain), schema: .company).updates[0].columns[0].string(1) == "b")
    let error = #expect(throws: PayloadError.self) {
      try TransactionCoding.decode(update(texts), schema: .company)
    }
    #expect(try #require(error).what.contains("no form 3"))
  }

  @Test("what takes little to say and much to hold is refused by readers, and written otherwise by writers")
  func bombs() throws {
    let keys = (1...20_000).map { Int64($0) }
    let zeros = EncodingSamples.column(Array(repeating: .int(0), count: keys.count), .int32)
    let nulls = EncodingSamples.column(Array(repeating: .null, count: keys.count), .int16)
    let entity = Schema.specimen.entities[0]
    let slots = try ["int32", "int16"].map { try #require(entity.slot(named: $0)) }
    func update(_ slots: [Int], _ columns: [Column]) -> ChangeSet {
      var changes = ChangeSet()
      changes.updates = [
        .init(entity: entity.id, keys: keys, versions: nil, slots: slots, columns: columns)
      ]
      return changes
    }
    let changes = update([slots[0]], [zeros])
    let limits = TransactionCoding.Limits(base: 1000, perByte: 64)
    let small = try TransactionCoding.encode(changes, schema: .specimen)
    #expect(small.count < 200)
    #expect(throws: PayloadError.self) {
      try small.withUnsafeBytes { try TransactionCoding.decode($0, schema: .specimen, limits: limits) }
    }
    let large = try TransactionCoding.encode(changes, schema: .specimen, limits: limits)
    #expect(large.count > 2 * keys.count)
    let decoded = try large.withUnsafeBytes {
      try TransactionCoding.decode($0, schema: .specimen, limits: limits)
    }
    #expect(areSame(decoded, changes))
    // Nulls can't be said at length.
    let strict = TransactionCoding.Limits(base: 1000, perByte: 8)
    #expect(throws: StoreError(.unsupportedRequest, "")) {
      try TransactionCoding.encode(update([slots[1]], [nulls]), schema: .specimen, limits: strict)
    }
  }

  @Test("costs that would overflow are refused")
  func vastCosts() {
    #expect(TransactionCoding.Limits.cost(rows: 1 << 60, columns: 1 << 16) > 1 << 61)
    #expect(TransactionCoding.Limits.cost(rows: 1 << 58, columns: 0) > 1 << 59)
    #expect(TransactionCoding.Limits.cost(rows: 10, columns: 2) == 240)
  }
}
