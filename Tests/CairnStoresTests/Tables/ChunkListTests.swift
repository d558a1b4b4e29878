// The list of a table's chunks: where two versions differ, and putting chunks in their place.

import CairnModel
import CairnTesting
import Testing

@testable import CairnStores

@Suite struct ChunkListTests {
  private static func chunk(_ key: Int64) -> Chunk {
    let builder = ColumnBuilder(.int64)
    builder.append(key)
    return Chunk.make(
      entity: EntityID(0), types: [.int64], keys: [key], columns: [builder.finish()], range: 0..<1, hints: nil
    )
  }

  @Test func `two versions differ where their chunks do, and nowhere else`() {
    var random = SplitMix64(seed: 3)
    var list = ChunkList((0..<400).map { Self.chunk(Int64($0) * 1000 + 1) })
    #expect(list.difference(from: list).old.isEmpty && list.difference(from: list).new.isEmpty)
    #expect(list.difference(from: ChunkList()).new == 0..<400)
    #expect(ChunkList().difference(from: list).old == 0..<400)
    for round in 0..<300 {
      let old = list
      for _ in 0...random.next() % 3 {
        let all = list.all
        let chunk = all[Int(random.next() % UInt64(all.count))]
        let position = list.position(of: chunk.firstKey)!
        switch random.next() % 4 {
        case 0 where all.count > 100: list.replace(position, with: [])
        case 1:
          list.replace(position, with: [chunk, Self.chunk(chunk.firstKey + Int64(1 + random.next() % 900))])
        case 2: list.append(Self.chunk(list.last!.firstKey + 1000))
        default: list.replace(position, with: [Self.chunk(chunk.firstKey)])
        }
      }
      let (before, after) = (old.all, list.all)
      #expect(old.count == before.count && list.count == after.count)
      let (gone, come) = list.difference(from: old)
      // What is outside is the same; what is inside begins and ends with something else.
      #expect(
        zip(before[..<gone.lowerBound], after[..<come.lowerBound]).allSatisfy { $0 === $1 }
          && gone.lowerBound == come.lowerBound, "round \(round)")
      #expect(
        zip(before[gone.upperBound...], after[come.upperBound...]).allSatisfy { $0 === $1 }
          && before.count - gone.upperBound == after.count - come.upperBound, "round \(round)")
      #expect(zip(list[come], after[come]).allSatisfy { $0 === $1 } && list[come].count == come.count)
      if !gone.isEmpty, !come.isEmpty {
        #expect(before[gone.lowerBound] !== after[come.lowerBound])
        #expect(before[gone.upperBound - 1] !== after[come.upperBound - 1])
      }
      // Putting copies there changes these and nothing else.
      var replaced = list
      let copies = list[come].map { Self.chunk($0.firstKey) }
      replaced.replace(come, with: copies)
      let expected = after[..<come.lowerBound] + copies + after[come.upperBound...]
      #expect(replaced.count == expected.count && zip(replaced.all, expected).allSatisfy { $0 === $1 })
      for chunk in expected.prefix(20) { #expect(replaced.locate(chunk.firstKey)?.chunk === chunk) }
    }
  }
}
