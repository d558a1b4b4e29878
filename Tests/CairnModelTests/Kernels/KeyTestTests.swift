// Tests of keys over whole columns, held to the test of one key.

import Testing

@testable import CairnModel

@Suite struct KeyTestTests {
  @Test(arguments: [Int64(1), 100, 40_000, 3_000_000_000])
  func `a column of keys is answered as each key is, whatever keys answer differently`(first: Int64) {
    var random = SplitMix64(seed: UInt64(first))
    for round in 0..<60 {
      let span = Int64([1, 3, 20, 100, 5_000][round % 5])
      let otherwise = random.oneIn(2)
      var test = KeyTest(range: first...first + span - 1, rowCount: 4, otherwise: otherwise)
      // Runs of keys, runs with gaps, none at all.
      let low = Int64(random.below(Int(span)))
      for offset in low..<min(span, low + Int64(random.below(6))) where !random.oneIn(8) {
        test.set(first + offset, !otherwise)
      }
      let column = ColumnBuilder(.key)
      var keys: [Int64?] = []
      for _ in 0..<200 {
        let key = random.oneIn(10) ? nil : max(1, first - 3 + Int64(random.below(Int(span) + 6)))
        keys.append(key)
        if let key { column.append(key) } else { column.appendNull() }
      }
      let mask = [UInt8](unsafeUninitializedCapacity: 200) { buffer, count in
        test.fill(buffer.baseAddress!, column.finish(), count: 200)
        count = 200
      }
      let expected = keys.map { $0.map(test.matches) ?? otherwise ? 1 : 0 } as [UInt8]
      #expect(mask == expected, "first \(first), round \(round)")
      for _ in 0..<20 {
        let from = first + Int64(random.below(Int(span)))
        let to = from + Int64(random.below(4))
        // Exactly what lies outside of all keys that answer differently.
        let keys = test.exceptions
        let isOutside = keys.isEmpty || to < keys[0] || from > keys[keys.count - 1]
        #expect(test.excludes(from, to) == (!otherwise && isOutside), "\(from)...\(to) of \(keys)")
      }
    }
  }
}
