// Sets of rows as bits.

import Testing

@testable import CairnModel

struct BitmapTests {
  @Test(arguments: seeds)
  func `a bitmap holds exactly the rows that were set`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for capacity in [1, 63, 64, 65, 128, 4096] {
      var expected: Set<Int> = []
      var bitmap = Bitmap(setting: [], capacity: capacity)
      for _ in 0..<4 {
        let rows = (0..<capacity / 5).map { _ in random.below(capacity) }
        expected.formUnion(rows)
        bitmap = bitmap.setting(rows, capacity: capacity)
      }
      #expect((0..<capacity).filter { bitmap[$0] } == expected.sorted())
      #expect(bitmap.setCount == expected.count)
      var visited: [Int] = []
      let limit = random.below(capacity + 1)
      bitmap.forEach(below: limit) { visited.append($0) }
      #expect(
        visited == expected.sorted().filter { $0 < limit }, "seed \(seed), below \(limit) of \(capacity)")
      let start = random.below(limit + 1)
      visited = []
      bitmap.forEach(in: start..<limit) { visited.append($0) }
      #expect(
        visited == expected.sorted().filter { $0 >= start && $0 < limit },
        "seed \(seed), \(start)..<\(limit) of \(capacity)")
      visited = []
      bitmap.forEach(in: capacity + start..<capacity + start + 200) { visited.append($0) }
      #expect(visited.isEmpty, "rows behind the capacity are clear")
    }
  }

  @Test func `rows beyond the capacity read as clear`() {
    let bitmap = Bitmap(setting: [0, 63], capacity: 64)
    #expect(bitmap[63] && !bitmap[64] && !bitmap[1_000_000])
  }

  @Test func `setting makes a copy and grows it`() {
    let old = Bitmap(setting: [3], capacity: 10)
    let new = old.setting([5, 200], capacity: 201)
    #expect(old[3] && !old[5] && old.setCount == 1)
    #expect(new[3] && new[5] && new[200] && new.setCount == 3)
    #expect(new.setting([], capacity: 5).capacity >= 201, "a smaller capacity loses no rows")
  }

  @Test func `a row beyond the capacity can't be set`() async {
    await #expect(processExitsWith: .failure) { _ = Bitmap(setting: [64], capacity: 64) }
  }
}
