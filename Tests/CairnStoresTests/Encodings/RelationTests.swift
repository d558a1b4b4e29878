import CairnModel
import Testing

@testable import CairnStores

@Suite("Values that follow from other slots")
struct RelationTests {
  private static let kinds: [ColumnRelation.Kind] =
    [.lastOfKey, .nearLastOfKey, .quotient(7), .remainder(100), .quotient(.max)]
    + ColumnRelation.Sum.allCases.map { .sum($0) } + [.item(0x2D), .item(0)]

  // Rows of slots of many types, in parts of the same sizes.
  private static func table(_ rows: Int) -> [[Column]] {
    var numbers = SeededNumbers(seed: 5)
    func random(_ n: UInt64) -> Int64 { Int64(numbers.next() % n) }
    let hours = (0..<rows).map { _ in random(24) * 100 + random(60) }
    let keys = (0..<rows).map { _ in random(20) }
    let slots: [(ValueType, (Int) -> Value)] = [
      (.int32, { .int(hours[$0]) }),
      (.int16, { .int(hours[$0] / 100) }),
      (.int64, { $0 % 11 == 0 ? .null : .int([.max, .min, 0, -5, 1 << 50][$0 % 5]) }),
      (.key, { keys[$0] == 3 ? .null : .key(keys[$0] + 1) }),
      (.bool, { keys[$0] == 3 ? .null : .bool(keys[$0] % 2 == 0) }),
      (.double, { $0 % 13 == 0 ? .null : .double([-0.0, .nan, 0.5, 3][$0 % 4]) }),
      (.date, { .date(.init(timeIntervalSinceReferenceDate: Double(keys[$0] * 3600))) }),
      (.float, { .float([1.5, -0.0, .infinity][$0 % 3]) }),
      (.string, { keys[$0] == 7 ? .null : .string(["", "x", "yy"][Int(keys[$0]) % 3]) }),
      (.int32, { _ in .null }),
      (.string, { keys[$0] == 7 ? .null : .string(["", "-", "x-y", "a-yy-é", "q-x"][Int(keys[$0]) % 5]) }),
      (.uri, { $0 % 6 == 0 ? .null : .uri(["", "yy", "x", "other", "é"][Int(keys[$0]) % 5]) }),
    ]
    return slots.map { type, value in
      EncodingSamples.sample("", type, (0..<rows).map(value), parts: 3).parts
    }
  }

  private static func relations(_ table: [[Column]]) -> [(target: Int, relation: ColumnRelation)] {
    var all: [(Int, ColumnRelation)] = []
    for kind in kinds {
      for target in table.indices where RelationWriter.canPredict(table[target][0].type, by: kind) {
        let usable = table.indices.filter {
          RelationWriter.canRead(table[$0][0].type, for: kind) && $0 != target
        }
        for (i, a) in usable.enumerated() {
          let others = [usable[(i + 1) % usable.count], usable[(i + 2) % usable.count]]
          switch kind.sourceCount {
          case 1: all.append((target, ColumnRelation(kind, of: [a])))
          case 2: all.append((target, ColumnRelation(kind, of: [a, others[0]])))
          default:
            for count in 1...3 {
              all.append((target, ColumnRelation(kind, of: Array(([a] + others)[..<count]))))
            }
          }
        }
      }
    }
    return all
  }

  @Test(
    "every kind of relation gives back the values, whether it holds or not", arguments: [0, 1, 2, 70, 300])
  func comesBack(rows: Int) throws {
    let table = RelationTests.table(rows)
    let encoder = ColumnEncoder(effort: .fastest)
    let decoder = ColumnDecoder()
    for (target, relation) in RelationTests.relations(table) {
      let type = table[target][0].type
      let block = encoder.encode(
        table[target], type: type, relation: relation, sources: relation.sources.map { table[$0] })
      let decoded = try decoder.decode(block, type: type, counts: table[0].map(\.count)) { table[$0] }
      for (new, old) in zip(decoded, table[target]) {
        #expect(areSame(new, old), "\(type) by \(relation)")
        // Texts have one entry a row then, however they lay before.
        #expect((new.layout == old.layout || relation.kind.joint != nil) && new.zone == old.zone)
      }
    }
  }

  @Test("damaged payloads give columns of the right counts, or an error")
  func damaged() throws {
    let table = RelationTests.table(40)
    let counts = table[0].map(\.count)
    let encoder = ColumnEncoder(effort: .fastest)
    let decoder = ColumnDecoder()
    for (index, (target, relation)) in RelationTests.relations(table).enumerated() where index % 4 == 0 {
      let type = table[target][0].type
      let payload = try encoder.encode(
        table[target], type: type, relation: relation, sources: relation.sources.map { table[$0] }
      ).payload()
      func attempt(_ bytes: [UInt8]) -> Bool {
        let block = EncodedBlock(bytes: bytes, codec: .stored, rawLength: bytes.count)
        do {
          let columns = try decoder.decode(block, type: type, counts: counts) { slot in
            guard table.indices.contains(slot) else { throw PayloadError(what: "no slot", byteOffset: 0) }
            return table[slot]
          }
          #expect(columns.map(\.count) == counts)
          return true
        } catch {
          #expect(error is PayloadError, "\(error)")
          return false
        }
      }
      for length in payload.indices { #expect(!attempt(Array(payload[..<length]))) }
      #expect(!attempt(payload + [0]))
      for place in payload.indices {
        var bytes = payload
        for change: UInt8 in [1, 0x80, 0xFF] {
          bytes[place] = payload[place] ^ change
          _ = attempt(bytes)
        }
      }
    }
  }

  @Test("a payload that follows from other slots needs them, with the same rows")
  func needsSources() throws {
    let table = RelationTests.table(70)
    let counts = table[0].map(\.count)
    let block = ColumnEncoder(effort: .fastest).encode(
      table[1], type: .int16, relation: ColumnRelation(.quotient(100), of: [0]), sources: [table[0]])
    let decoder = ColumnDecoder()
    #expect(throws: PayloadError.self) { try decoder.decode(block, type: .int16, counts: counts) }
    for wrong in [[], [table[0][0]], Array(table[0].reversed()), table[8], table[5]] {
      if wrong.map(\.count) == counts, wrong[0].type == .int32 { continue }
      #expect(throws: PayloadError.self) {
        try decoder.decode(block, type: .int16, counts: counts) { _ in wrong }
      }
    }
  }

  // MARK: Chains

  /// Blocks in which each slot follows from the one that `sources` names.
  private func chain(_ sources: [Int?]) throws -> RelatedColumns {
    let column = EncodingSamples.column((0..<50).map { .int($0 * $0) }, .int32)
    let encoder = ColumnEncoder(effort: .fastest)
    let blocks = sources.map { source in
      source.map {
        encoder.encode(
          [column], type: .int32, relation: ColumnRelation(.sum(.first), of: [$0]), sources: [[column]])
      } ?? encoder.encode([column], type: .int32)
    }
    let memory = blocks.map { block in
      let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: block.bytes.count)
      _ = copy.initialize(from: block.bytes)
      return UnsafeBufferPointer(copy)
    }
    return RelatedColumns(decoder: ColumnDecoder(), counts: [50]) { slot in
      RelatedColumns.Block(
        bytes: memory[slot], codec: blocks[slot].codec, rawLength: blocks[slot].rawLength, type: .int32)
    }
  }

  @Test("slots are decoded from those that they follow from, however they are asked for")
  func decodesChains() throws {
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1]] {
      let related = try chain([nil, 0, 1, 2])
      for slot in order { #expect(try related.columns(slot)[0].integer(7) == 49) }
    }
  }

  @Test("circles and chains that are too long throw, whichever slot is asked first")
  func refusesCircles() throws {
    for circle in [[0], [1, 0], [1, 2, 0]] as [[Int?]] {
      let related = try chain(circle)
      for slot in circle.indices { #expect(throws: PayloadError.self) { try related.columns(slot) } }
    }
    let long = try chain([nil, 0, 1, 2, 3])
    #expect(throws: PayloadError.self) { try long.columns(4) }
    for slot in 0...3 { _ = try long.columns(slot) }
    #expect(throws: PayloadError.self) { try long.columns(4) }
  }

  // MARK: Finding

  private static func planted() -> [[Column]] {
    var numbers = SeededNumbers(seed: 11)
    func random(_ n: UInt64) -> Int64 { Int64(numbers.next() % n) }
    let n = 3000
    let times = (0..<n).map { _ in random(20) * 100 + random(60) }
    let delays = (0..<n).map { _ in random(300) }
    let planes = (0..<n).map { _ in random(400) + 1 }
    let owners = (0..<401).map { _ in random(90) + 1 }
    let noise = (0..<n).map { _ in random(1 << 30) }
    let slots: [(ValueType, (Int) -> Value)] = [
      (.int32, { .int(times[$0]) }),
      (.int32, { .int(delays[$0]) }),
      (.int32, { .int(Clock.number(Clock.minutes(times[$0]) + delays[$0])) }),
      (.key, { .key(planes[$0]) }),
      (.key, { .key(owners[Int(planes[$0])]) }),
      (.int64, { .int(noise[$0]) }),
      (.int64, { .int(noise[$0] / 3600) }),
      (.int32, { .int(Int64($0 * $0 % 7 == 1 ? noise[$0] % 2000 : noise[($0 * 31) % n] % 2000)) }),
    ]
    return slots.map { type, value in EncodingSamples.sample("", type, (0..<n).map(value), parts: 1).parts }
  }

  @Test("relations that were planted are found, and pay")
  func findsPlanted() throws {
    let table = RelationTests.planted()
    let plan = RelationFinder.plan(table)
    #expect(plan[4] == ColumnRelation(.lastOfKey, of: [3]))
    #expect(plan[6] == ColumnRelation(.quotient(3600), of: [5]))
    // Time, delay and time after it: one of them follows from the others, and a second one nearly so.
    let exact = plan[0...2].compactMap { $0 }.filter { $0.sources.count == 2 }
    #expect(exact.count == 1 && exact[0].kind != .sum(.firstPlusSecond))
    #expect(plan[3] == nil && plan[5] == nil && plan[7] == nil)
    let encoder = ColumnEncoder(effort: .default)
    for (slot, relation) in plan.enumerated() {
      guard let relation else { continue }
      let type = table[slot][0].type
      let alone = encoder.encode(table[slot], type: type).bytes.count
      let related = encoder.encode(
        table[slot], type: type, relation: relation, sources: relation.sources.map { table[$0] })
      #expect(related.bytes.count < alone)
      if slot > 2 { #expect(related.bytes.count * 2 < alone) }
    }
    #expect(RelationFinder.plan(table) == plan)
  }

  private static func texts(_ type: ValueType, _ values: [String?]) -> [Column] {
    let builder = ColumnBuilder(type)
    for value in values { if let value { builder.append(value) } else { builder.appendNull() } }
    return [builder.finish()]
  }

  @Test("texts that are items of others are found, and pay")
  func findsItems() throws {
    var numbers = SeededNumbers(seed: 9)
    func word() -> String { String(numbers.next() % 1_000_000_007, radix: 36) }
    let lists = (0..<2_000).map { _ in (0..<1 + Int(numbers.next() % 5)).map { _ in word() } }
    let picked = lists.map { list in
      numbers.next() % 9 == 0 ? word() : list[Int(numbers.next() % UInt64(list.count))]
    }
    let table = [
      Self.texts(.string, lists.map { $0.joined(separator: ";") }), Self.texts(.string, picked),
      Self.texts(.string, (0..<2_000).map { _ in word() }),
      Self.texts(.uri, picked.enumerated().map { $0 % 50 == 0 ? nil : $1 }),
    ]
    let plan = RelationFinder.plan(table)
    #expect(plan[1] == ColumnRelation(.item(UInt8(ascii: ";")), of: [0]))
    // Whole texts are items too, whatever byte joins.
    #expect(plan[3]?.kind.joint != nil && plan[0] == nil && plan[2] == nil)
    #expect(RelationFinder.plan(table, allowingItems: false) == [nil, nil, nil, nil])
    let nothing = Self.texts(.string, (0..<2_000).map { _ in nil })
    let halfEmpty = Self.texts(.string, picked.enumerated().map { $0 % 2 == 0 ? "" : $1 })
    #expect(RelationFinder.plan([nothing, halfEmpty]) == [nil, nil])
    let encoder = ColumnEncoder(effort: .default)
    let related = encoder.encode(table[1], type: .string, relation: plan[1]!, sources: [table[0]])
    #expect(related.bytes.count * 2 < encoder.encode(table[1], type: .string).bytes.count)
  }

  @Test("texts that are items don't grow without bound")
  func itemsAreBounded() throws {
    let long = Self.texts(.string, (0..<300).map { _ in String(repeating: "long ", count: 1_000) })
    let relation = ColumnRelation(.item(0), of: [0])
    let block = ColumnEncoder(effort: .fastest).encode(
      long, type: .string, relation: relation, sources: [long])
    #expect(throws: PayloadError.self) {
      try ColumnDecoder().decode(block, type: .string, counts: [300]) { _ in long }
    }
    #expect(RelationFinder.plan([long, long]).allSatisfy { $0?.kind.joint == nil })
  }

  @Test("tables without rows, slots or relations have none")
  func findsNothing() {
    #expect(RelationFinder.plan([]).isEmpty)
    #expect(RelationFinder.plan(RelationTests.table(0)) == Array(repeating: nil, count: 12))
    #expect(RelationFinder.plan([[], []]) == [nil, nil])
  }

  @Test("plans have no circles, no long chains, and save no less than the best first")
  func plansAreSound() {
    var numbers = SeededNumbers(seed: 3)
    func random(_ n: Int) -> Int { Int(numbers.next() % UInt64(n)) }
    for _ in 0..<300 {
      let slots = 2 + random(7)
      let candidates = (0..<random(30)).map { _ in
        RelationCandidate(
          target: random(slots), relation: ColumnRelation(.lastOfKey, of: [random(slots), random(slots)]),
          gain: random(100))
      }
      let plan = RelationPlan(slots: slots, candidates: candidates)
      var greedy: [Int: (ColumnRelation, Int)] = [:]
      for candidate in candidates.sorted(by: { $0.gain > $1.gain }) where greedy[candidate.target] == nil {
        greedy[candidate.target] = (candidate.relation, candidate.gain)
        if !isSound((0..<slots).map { greedy[$0]?.0 }) { greedy[candidate.target] = nil }
      }
      #expect(isSound(plan.relations))
      let gain = plan.chosen.compactMap { $0.map { candidates[$0].gain } }.reduce(0, +)
      let greedyGain = greedy.values.map(\.1).reduce(0, +)
      #expect(gain >= greedyGain || candidates.map(\.gain).count > Set(candidates.map(\.gain)).count)
    }
  }

  /// Whether each slot is reached from ones without relations in three rounds.
  private func isSound(_ relations: [ColumnRelation?]) -> Bool {
    var known = Set(relations.indices.filter { relations[$0] == nil })
    for _ in 0..<ColumnRelation.maxDepth {
      known.formUnion(relations.indices.filter { relations[$0]?.sources.allSatisfy(known.contains) != false })
    }
    return known.count == relations.count
  }
}
