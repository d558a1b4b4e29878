// New versions of columns. Every test that changes a column also holds the old one and compares it.

import Foundation
import Testing

@testable import CairnModel

struct ColumnChangingTests {
  /// Appends in uneven pieces, from columns of every shape, and compares all versions at the end.
  @Test(arguments: ValueType.allCases, seeds)
  func `appending adds rows and leaves every older version as it was`(type: ValueType, seed: UInt64) {
    var shapes = Shapes(random: SplitMix64(seed: seed))
    for hint in [Column.Layout.bytes, .codes] {
      var random = SplitMix64(seed: seed)
      var versions: [(column: Column, values: [Value])] = [
        (Column.empty(type: type, capacity: 32, preferring: hint), [])
      ]
      for (_, values) in shapes.all(type) {
        let source = column(type, values)
        var next = 0
        while next < values.count {
          let end = min(values.count, next + 1 + random.below(120))
          let last = versions[versions.count - 1]
          let total = last.values.count + end - next
          let longer = last.column.appending(
            source, next..<end, capacity: random.oneIn(2) ? total : total * 2)
          versions.append((longer, last.values + values[next..<end]))
          next = end
        }
      }
      for (index, version) in versions.enumerated() {
        let found = problems(version.column, version.values)
        #expect(found.isEmpty, "\(type), seed \(seed), version \(index): \(found.prefix(3))")
      }
    }
  }

  @Test(arguments: ValueType.allCases, seeds)
  func `replacing changes the rows named and leaves the old version as it was`(type: ValueType, seed: UInt64)
  {
    var shapes = Shapes(random: SplitMix64(seed: seed))
    var random = SplitMix64(seed: seed &+ 100)
    for (name, values) in shapes.all(type) where !values.isEmpty {
      for hint in [Column.Layout.bytes, .codes] {
        var column = Column.empty(type: type, capacity: values.count, preferring: hint)
          .appending(CairnModelTests.column(type, values), 0..<values.count, capacity: values.count)
        var expected = values
        for _ in 0..<4 {
          let rows = values.indices.filter { _ in random.oneIn(3) }
          let new = (0..<rows.count + 2).map { _ in random.oneIn(4) ? Value.null : random.value(type) }
          let changed = column.replacing(rows, with: CairnModelTests.column(type, new), from: 2)
          #expect(problems(column, expected).isEmpty, "\(type), \(name), seed \(seed): the old version")
          for (i, row) in rows.enumerated() { expected[row] = new[i + 2] }
          #expect(
            problems(changed, expected).isEmpty,
            "\(type), \(name), seed \(seed): \(problems(changed, expected))")
          column = changed
        }
        // What was replaced can be appended to again.
        let longer = column.appending(
          CairnModelTests.column(type, [.null, values[0]]), 0..<2, capacity: values.count + 2)
        #expect(
          problems(longer, expected + [.null, values[0]]).isEmpty, "\(type), \(name), seed \(seed): appended")
        #expect(problems(column, expected).isEmpty, "\(type), \(name), seed \(seed): before appending")
      }
    }
  }

  @Test(arguments: ValueType.allCases, seeds)
  func `gathering gives the rows named, in that order, as often as named`(type: ValueType, seed: UInt64) {
    var shapes = Shapes(random: SplitMix64(seed: seed))
    var random = SplitMix64(seed: seed)
    for (name, values) in shapes.all(type) where !values.isEmpty {
      let plain = column(type, values)
      let coded = Column.empty(type: type, capacity: values.count).appending(
        plain, 0..<values.count, capacity: 0)
      let rows = (0..<values.count).map { _ in random.below(values.count) }
      for source in [plain, coded] {
        let gathered = source.gathering(rows)
        #expect(problems(gathered, rows.map { values[$0] }).isEmpty, "\(type), \(name), seed \(seed)")
        #expect(problems(source.gathering([]), []).isEmpty)
        // Whatever was gathered can be appended to.
        let longer = gathered.appending(source, 0..<1, capacity: 1)
        #expect(
          problems(longer, rows.map { values[$0] } + [values[0]]).isEmpty, "\(type), \(name), seed \(seed)")
      }
    }
  }

  @Test func `appending widens at each boundary, and only then`() {
    var column = Column.empty(type: .int64, capacity: 64)
    var values: [Value] = []
    for (next, layout) in [
      (Int64(127), Column.Layout.int8), (-128, .int8), (128, .int16), (-32768, .int16), (32768, .int32),
      (5, .int32),
      (-2_147_483_648, .int32), (2_147_483_648, .int64), (.min, .int64), (.max, .int64),
    ] {
      let before = column
      column = column.appending(CairnModelTests.column(.int64, [.int(next)]), 0..<1, capacity: 64)
      #expect(column.layout == layout, "after \(next)")
      #expect(column.storage === before.storage || column.layout != before.layout, "room was there")
      values.append(.int(next))
      #expect(problems(column, values).isEmpty && before.count == values.count - 1)
    }
  }

  @Test func `a dictionary is kept while it pays and given up when it doesn't`() {
    func coded(_ texts: [String]) -> Column {
      let source = column(.string, texts.map { .string($0) })
      return Column.empty(type: .string, capacity: texts.count).appending(
        source, 0..<texts.count, capacity: 0)
    }
    #expect(coded((0..<4096).map { "v\($0 % 300)" }).layout == .codes)
    #expect(coded((0..<4096).map { "v\($0)" }).layout == .bytes)
    #expect(coded((0..<60).map { "v\($0)" }).layout == .codes, "few entries always fit")
    let few = coded((0..<200).map { "v\($0 % 3)" })
    let many = few.appending(column(.string, (0..<400).map { .string("u\($0)") }), 0..<400, capacity: 600)
    #expect(few.layout == .codes && many.layout == .bytes)
  }

  @Test func `replacing a few strings of a dictionary keeps its entries where they are`() {
    let texts = (0..<1000).map { Value.string("v\($0 % 10)") }
    let old = Column.empty(type: .string, capacity: 1000).appending(
      column(.string, texts), 0..<1000, capacity: 1000)
    let new = old.replacing([5, 7], with: column(.string, ["new", "v1"]), from: 0)
    #expect(new.pool === old.pool && new.poolCount == old.poolCount + 1 && new.string(5) == "new")
    var latest = new
    for i in 0..<1000 {
      latest = latest.replacing([i], with: column(.string, [.string("unique \(i)")]), from: 0)
    }
    #expect((0..<1000).allSatisfy { latest.string($0) == "unique \($0)" })
    #expect(old.allValues == texts, "the old version")
  }

  /// An append that is never published leaves rubbish behind the count, which the next one writes over.
  @Test(arguments: ValueType.allCases)
  func `an append that was given up leaves no trace in the next one`(type: ValueType) {
    var random = SplitMix64(seed: 5)
    let first = (0..<20).map { _ in random.value(type) }
    let published = Column.empty(type: type, capacity: 64).appending(
      column(type, first), 0..<20, capacity: 64)
    for _ in 0..<5 {
      let lost = (0..<20).map { _ in random.value(type) }
      _ = published.appending(column(type, lost), 0..<20, capacity: 64)
      _ = published.replacing([3], with: column(type, lost), from: 0)
    }
    let second = (0..<20).map { _ in random.oneIn(3) ? Value.null : random.value(type) }
    let next = published.appending(column(type, second), 0..<20, capacity: 64)
    #expect(problems(published, first).isEmpty && problems(next, first + second).isEmpty)
    // Entries that nothing names don't pile up in a dictionary.
    let plain = Column.empty(type: type, capacity: 64).appending(
      column(type, first + second), 0..<40, capacity: 64)
    #expect(next.poolCount == plain.poolCount)
  }
}
