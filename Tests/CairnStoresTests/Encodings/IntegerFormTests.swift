import CairnModel
import CairnTesting
import Testing

@testable import CairnStores

@Suite("Streams of integers")
struct IntegerFormTests {
  private static let lists: [[Int64]] = {
    var numbers = SeededNumbers(seed: 7)
    func random(_ n: Int, _ range: ClosedRange<Int64>) -> [Int64] {
      (0..<n).map { _ in .random(in: range, using: &numbers) }
    }
    return [
      [0], [.min], [.max, .min], [.min, .max, .min, .max], [5, 5, 5], [1, 2], [1, 2, 4],
      (0..<100).map { $0 * 3600 }, (0..<500).map { $0 / 50 * 7 - 20 }, (0..<200).map { $0 * $0 },
      random(300, 0...1), random(300, -3...9), random(300, 100...70_000), random(300, -1 << 30...1 << 40),
      random(300, .min ... .max), random(77, 0...((1 << 56) - 1)), random(77, 0...(1 << 57)),
      random(300, 0...20) + [1 << 40] + random(300, 0...20),
      (0..<400).map { [9, -400, 9, 9, 70_000][$0 % 5] },
      random(1, 3...3) + Array(repeating: 8, count: 999), random(3000, 0...200).map { $0 * $0 / 160 },
    ]
  }()

  @Test("what one look finds is hardly larger than what a search finds, where values are few or run")
  func oneLookIsEnough() {
    var numbers = SeededNumbers(seed: 8)
    let few = (0..<220).map { _ in Int64.random(in: 80...4983, using: &numbers) }
    let lists: [[Int64]] = [
      (0..<4096).map { _ in few[Int.random(in: 0..<few.count, using: &numbers)] },
      (0..<4096).map { _ in few[min(Int.random(in: 0..<900, using: &numbers), 219)] },
      (0..<4096).map { _ in Int64.random(in: 0...59, using: &numbers) },
      (0..<4096).map { $0 == 77 ? 2 : 1 }, (0..<4096).map { Int64($0 / 300) },
    ]
    for list in lists {
      let builder = ColumnBuilder(.int64)
      for value in list { builder.append(value) }
      let column = builder.finish()
      func size(_ effort: EncodingEffort) -> Int {
        ColumnEncoder(effort: effort).encode([column], type: .int64).bytes.count
      }
      #expect(size(.quick) <= size(.default) * 6 / 5 + 16, "\(list.prefix(5))")
      #expect(size(.quick) <= size(.untried), "\(list.prefix(5))")
    }
  }

  @Test("every shape laid out in every way gives back its values")
  func everyFormComesBack() throws {
    let scratch = Scratch()
    var made: Set<String> = []
    for list in IntegerFormTests.lists {
      try list.withUnsafeBufferPointer { values in
        let n = values.count
        let shaper = IntegerShaper(values.baseAddress!, n, dictionaryLimit: n, scratch: scratch)
        for shape in IntegerShape.allCases {
          guard let shaped = shaper.make(shape) else { continue }
          for leaf in IntegerLeaf.allCases where leaf != .bits || shaped.range < 1 << 56 {
            made.insert("\(shape) \(leaf)")
            let sink = ByteSink()
            shaped.write(leaf, to: sink)
            let found = try read(sink, n, scratch)
            #expect(found == list, "\(shape), \(leaf)")
          }
        }
        let sink = ByteSink()
        IntegerShaper.writeSmall(values.baseAddress!, n, to: sink, scratch: scratch)
        let found = try read(sink, n, scratch)
        #expect(found == list)
      }
    }
    #expect(made.count == IntegerShape.allCases.count * IntegerLeaf.allCases.count)
  }

  private func read(_ sink: ByteSink, _ n: Int, _ scratch: Scratch) throws -> [Int64] {
    var source = ByteSource(sink.buffer)
    let out = scratch.take(Int64.self, n)
    try IntegerReader(scratch: scratch).read(n, from: &source, into: out)
    #expect(source.remaining == 0)
    return Array(UnsafeBufferPointer(start: out, count: n))
  }

  @Test(
    "values of each width in bits come back, at the end of the payload and before more", arguments: 1...56)
  func bits(width: Int) {
    var numbers = SeededNumbers(seed: UInt64(width))
    let mask: UInt64 = (1 << UInt64(width)) - 1
    for n in [1, 2, 7, 8, 9, 63, 64, 65, 200] {
      let values = (0..<n).map { _ in Int64(bitPattern: numbers.next() & mask) }
      let length = BitPacking.byteCount(n, width: width)
      let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: length + 16)
      defer { memory.deallocate() }
      BitPacking.pack(values, n, base: 0, width: width, to: memory)
      for readable in [length, length + 16] {
        var found: [Int64] = []
        BitPacking.unpack(memory, readable: readable, n, width: width) { _, value in
          found.append(Int64(bitPattern: value))
        }
        #expect(found == values)
      }
    }
  }

  @Test(
    "varints hold every 64-bit number, and nothing longer",
    arguments: [0, 1, 127, 128, 1 << 35, .max - 1, .max])
  func varints(value: UInt64) {
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: Varint.maxLength)
    defer { memory.deallocate() }
    let length = Varint.write(value, to: memory)
    #expect(length == Varint.length(value))
    var read: UInt64 = 0
    #expect(Varint.read(memory, length, &read) == length && read == value)
    #expect(Varint.read(memory, length - 1, &read) == nil)
    let signed = Int64(bitPattern: value)
    #expect(Varint.unzigzag(Varint.zigzag(signed)) == signed)
    let tooLong: [UInt8] = Array(repeating: 0xFF, count: 9) + [2]
    #expect(Varint.read(tooLong, 10, &read) == nil)
    let endless: [UInt8] = Array(repeating: 0x80, count: 12)
    #expect(Varint.read(endless, 12, &read) == nil)
  }

  @Test(
    "streams that are wrong throw",
    arguments: [
      ("of kind 0", [0]), ("of no kind", [11, 0]), ("cut off", [2, 0, 1, 7]),
      ("of width 0", [2, 0, 0, 1, 1, 1]),
      ("of width 9", [2, 0, 9] + Array(repeating: 0, count: 27)),
      ("of planes of width 1", [3, 0, 1, 1, 2, 3]),
      ("of 57 bits", [4, 0, 57] + Array(repeating: 0, count: 30)), ("of runs too long", [7, 1, 1, 0, 1, 6]),
      ("of runs too short", [7, 1, 1, 0, 1, 2]), ("of no runs", [7, 0]),
      ("of negative runs", [7, 2, 1, 0, 2, 1, 2, 0, 5]),
      ("of a code beyond the dictionary", [8, 1, 1, 0, 1, 2]), ("of an empty dictionary", [8, 0, 1, 0]),
      ("of a byte beyond the dictionary", [8, 2, 2, 0, 1, 5, 6, 2, 0, 1, 0, 1, 2]),
      ("of bytes that end early as codes", [8, 2, 2, 0, 1, 5, 6, 2, 0, 1, 0, 1]),
      ("of bits beyond the dictionary", [8, 3, 2, 0, 1, 5, 6, 7, 4, 0, 2, 52]),
      ("of a byte beyond the dictionary with its base", [8, 2, 2, 0, 1, 5, 6, 2, 2, 1, 0, 0, 1]),
      ("of a dictionary larger than it", [8, 4, 1, 0, 1, 0]),
      ("of a patch outside", [10, 1, 1, 6, 1, 0, 1, 0]),
      ("of streams too deep", [9, 0, 1, 9, 0, 1, 9, 0, 1, 9, 0, 1, 9, 0, 1, 1, 0]),
    ] as [(String, [UInt8])])
  func wrongStreams(name: String, bytes: [UInt8]) {
    let scratch = Scratch()
    bytes.withUnsafeBufferPointer { bytes in
      var source = ByteSource(bytes)
      #expect(throws: PayloadError.self, "a stream \(name)") {
        try IntegerReader(scratch: scratch).read(3, from: &source, into: scratch.take(Int64.self, 3))
      }
    }
  }

  @Test("each form of integers is chosen for some column")
  func everyFormIsChosen() throws {
    var kinds: Set<UInt8> = []
    var nulls: Set<UInt8> = []
    let encoder = ColumnEncoder(effort: .smallest)
    for sample in EncodingSamples.all
      + IntegerFormTests.lists.map({ list in
        EncodingSamples.sample("list", .int64, list.map { .int($0) })
      }) where sample.type.integerRange != nil
    {
      let payload = try encoder.encode(sample.parts, type: sample.type).payload()
      nulls.insert(payload[0])
      if payload[0] == NullForm.none.rawValue, payload.count > 1 { kinds.insert(payload[1]) }
    }
    #expect(nulls == [0, 1, 2, 3, 4])
    #expect(kinds == Set(1...10))
  }

  @Test func `what is known of a stream is what each value and each pair of neighbours says`() {
    var random = SplitMix64(seed: 11)
    for round in 0..<400 {
      let n = round < 40 ? round + 1 : 1 + Int(random.next() % 300)
      // Differences that fit into 16 bits by little, not at all, and those that wrap; with and without equal ones.
      let span: UInt64 = [1, 2, 100, 0x7FFF, 0x8000, 0x1_0000, 1 << 40, .max][round % 8]
      let base = Int64(bitPattern: random.next()) >> [0, 20, 40][round % 3]
      let values = (0..<n).map { _ in base &+ Int64(bitPattern: random.next() % span) }
      expectStatistics(values)
    }
    // More equal neighbours than are counted at once.
    expectStatistics([Int64](repeating: -7, count: 200_001))
    expectStatistics([Int64](repeating: 3, count: 70_000) + [4])
  }

  private func expectStatistics(_ values: [Int64]) {
    let found = IntegerStatistics(values, values.count)
    let deltas = zip(values.dropFirst(), values).map { $0 &- $1 }
    #expect(found.low == values.min() && found.high == values.max())
    #expect(found.lowestDelta == deltas.min() ?? .max && found.highestDelta == deltas.max() ?? .min)
    #expect(found.runs == deltas.count { $0 != 0 } + 1)
  }
}
