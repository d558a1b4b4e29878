// Sorting by machine words against a plain stable sort of boxed values.

import Foundation
import Testing

@testable import CairnModel

struct SortingTests {
  typealias Term = (path: BoundPath, ascending: Bool)

  private func terms(_ names: [(String, Bool)], _ schema: Schema = itemSchema, _ entity: Int = 0) throws
    -> [Term]
  {
    try BoundPath.bind(names.map { SortTerm($0.0, ascending: $0.1) }, to: EntityID(entity), in: schema)
  }

  /// The plain meaning: rows in selection order, sorted stably by their values.
  private func plainlySorted(_ selection: RowSelection, _ terms: [Term], _ source: TestSource) -> [RowBatch
    .Place]
  {
    let readers = terms.map { PathReader($0.path, source: source) }
    let rows = selection.places().enumerated().map { index, place in
      (index, place, readers.map { $0.value(selection.chunks[Int(place.chunk)], Int(place.row)) })
    }
    return rows.sorted { a, b in
      for (i, term) in terms.enumerated() {
        let order = Value.compare(a.2[i], b.2[i])
        if order != 0 { return term.ascending ? order < 0 : order > 0 }
      }
      return a.0 < b.0
    }.map(\.1)
  }

  /// Sorts with several windows, and says which differ from the plain sort.
  private func wrongWindows(_ source: TestSource, _ terms: [Term], _ entity: String = "Item") -> [Int] {
    var selection = source.selection(of: entity)
    // Half of the masks are there although nothing is deleted, some rows are left out.
    for index in selection.masks.indices where index % 2 == 0 {
      var mask = selection.masks[index] ?? [UInt8](repeating: 1, count: selection.chunks[index].count)
      for row in stride(from: 0, to: mask.count, by: 5) where mask[row] != 0 {
        mask[row] = 0
        selection.count -= 1
      }
      selection.masks[index] = mask
    }
    let expected = plainlySorted(selection, terms, source)
    // By a heap, and by counting.
    let sorters = [1024, -1].map { RowSorter(terms: terms, source: source, largestHeap: $0) }
    return [0, 1, 2, 7, selection.count / 5, selection.count / 2, selection.count, Int.max].filter { limit in
      sorters.contains { $0.sorted(selection, limit: limit) != Array(expected.prefix(limit)) }
    }
  }

  private func items(
    _ count: Int, _ random: inout SplitMix64, _ value: (inout SplitMix64, ValueType) -> Value
  ) -> TestSource {
    let rows = (0..<count).map { index in
      var values: [String: Value] = [:]
      for type in ValueType.allCases { values["\(type)"] = value(&random, type) }
      return TestSource.Row(key: Int64(index + 1), values: values, isDeleted: random.oneIn(15))
    }
    return TestSource(itemSchema, ["Item": rows], chunkSize: 64)
  }

  @Test(arguments: ValueType.allCases, seeds)
  func `rows are in the one order of any type, both ways, nil first ascending and last descending`(
    type: ValueType, seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let source = items(300, &random) { random, type in random.oneIn(6) ? .null : random.value(type) }
    for ascending in [true, false] {
      let wrong = wrongWindows(source, try terms([("\(type)", ascending)]))
      #expect(wrong.isEmpty, "\(type), ascending \(ascending), seed \(seed): limits \(wrong)")
    }
  }

  @Test(arguments: seeds)
  func `several terms weigh in their order, in one word or in more`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let source = items(400, &random) { random, type in
      // Few distinct values, so that later terms matter; int64 and double are wide all the same.
      if random.oneIn(8) { return .null }
      if type == .int64 { return .int(random.oneIn(2) ? .max : Int64(random.below(4))) }
      if type == .double { return .double(Double(random.below(3)) - 1) }
      var few = SplitMix64(seed: UInt64(random.below(5)))
      return few.value(type)
    }
    for _ in 0..<30 {
      let names = (0..<2 + random.below(4)).map { _ in ("\(random.pick(ValueType.allCases))", random.oneIn(2))
      }
      let wrong = wrongWindows(source, try terms(names))
      #expect(wrong.isEmpty, "\(names), seed \(seed): limits \(wrong)")
    }
  }

  @Test(arguments: [true, false])
  func `integers at the ends of Int64, with and without null`(ascending: Bool) throws {
    var random = SplitMix64(seed: 3)
    for (low, high) in [
      (Int64.min, .min + 3), (.max - 3, .max), (.min, .max), (.min, 0), (-1, .max - 1), (0, .max),
    ] as [(Int64, Int64)] {
      for nullShare in [0, 3] {
        let source = items(200, &random) { random, type in
          if type == .int16 { return 1 }
          if type != .int64 || nullShare > 0 && random.oneIn(nullShare) { return .null }
          return .int(
            random.oneIn(2) ? random.pick([low, high]) : Int64.random(in: low...high, using: &random))
        }
        for names in [[("int64", ascending)], [("int64", ascending), ("int16", !ascending)]] {
          let wrong = wrongWindows(source, try terms(names))
          #expect(wrong.isEmpty, "\(low)...\(high), one null in \(nullShare), \(names): limits \(wrong)")
        }
      }
    }
  }

  /// The window is full of nulls before the first value comes: nothing tells a later row apart from them but
  /// that it has a value.
  @Test(arguments: [Int64.min, 0, Int64.max - 300])
  func `values push nulls out of a window, the least integer too`(least: Int64) throws {
    let rows = (0..<400).map { index -> TestSource.Row in
      let value: Value = index < 150 ? .null : .int(least + Int64(index % 250))
      return TestSource.Row(key: Int64(index + 1), values: ["int64": value])
    }
    let source = TestSource(itemSchema, ["Item": rows], chunkSize: 64)
    for names in [[("int64", false)], [("int64", false), ("int16", true)], [("int64", true)]] {
      let wrong = wrongWindows(source, try terms(names))
      #expect(wrong.isEmpty, "from \(least), \(names): limits \(wrong)")
    }
  }

  /// More than 4,096 distinct strings and a small window: the path that compares values and numbers nothing.
  @Test(arguments: ["random", "ascending", "descending"])
  func `a small window over many distinct strings`(order: String) throws {
    var random = SplitMix64(seed: 8)
    let texts = (0..<6000).map {
      "\(Nasty.strings[$0 % 30])\(10_000 + (order == "descending" ? 6000 - $0 : $0))"
    }
    let ordered = order == "random" ? texts.shuffled(using: &random) : texts
    let rows = ordered.enumerated().map { index, text in
      TestSource.Row(
        key: Int64(index + 1),
        values: ["string": random.oneIn(700) ? .null : .string(text), "int16": .int(Int64(index % 3))],
        isDeleted: index % 100 == 3)
    }
    let source = TestSource(itemSchema, ["Item": rows])
    let selection = source.selection(of: "Item")
    for names in [[("string", true)], [("string", false)], [("int16", false), ("string", true)]] {
      let terms = try terms(names)
      let expected = plainlySorted(selection, terms, source)
      for limit in [0, 1, 10, 200, 1000] {
        let found = RowSorter(terms: terms, source: source).sorted(selection, limit: limit)
        #expect(found == Array(expected.prefix(limit)), "\(order), \(names), limit \(limit)")
      }
    }
  }

  @Test(arguments: seeds)
  func `rows sort by what their to-one relationships lead to`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let source = PeopleModel.source(&random, keySpread: random.oneIn(2) ? 1 : 1 << 40)
    for _ in 0..<25 {
      let names = (0..<1 + random.below(3)).map { _ in (random.pick(PeopleModel.paths).0, random.oneIn(2)) }
      let wrong = wrongWindows(
        source, try terms(names, PeopleModel.schema, PeopleModel.person.index), "Person")
      #expect(wrong.isEmpty, "\(names), seed \(seed): limits \(wrong)")
    }
  }

  @Test(arguments: seeds)
  func `radix sort orders by words and keeps the order of equals`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for width in [1, 10, 11, 12, 22, 33, 63, 64] {
      let words = (0..<500).map { _ in random.next() >> UInt64(64 - width) & (random.oneIn(2) ? .max : ~0xFF)
      }
      var order = (0..<UInt32(500)).shuffled(using: &random)
      let expected = order.enumerated().sorted {
        (words[Int($0.element)], $0.offset) < (words[Int($1.element)], $1.offset)
      }.map(\.element)
      RadixSort.sort(&order, by: words, width: width)
      #expect(order == expected, "width \(width), seed \(seed)")
    }
    var none: [UInt32] = []
    RadixSort.sort(&none, by: [], width: 64)
    #expect(none.isEmpty)
  }

  @Test func `an offset and a limit cut a window, whatever they are`() throws {
    let rows = (1...10).map { TestSource.Row(key: Int64($0), values: ["int16": .int(Int64(-$0))]) }
    let source = TestSource(itemSchema, ["Item": rows], chunkSize: 4)
    let query = try RowQuery(entity: EntityID(0), includesSubentities: true, predicate: nil, source: source)
    for sort in [[], try terms([("int16", true)])] {
      func ids(_ offset: Int, _ limit: Int?) -> [Int64] {
        query.rows(sort: sort, offset: offset, limit: limit).ids
      }
      let all = ids(0, nil)
      #expect(all == (sort.isEmpty ? Array(1...10) : (1...10).reversed()))
      for offset in [0, 1, 9, 10, 11, .max] {
        for limit in [0, 1, 5, 10, .max] {
          #expect(ids(offset, limit) == Array(all.dropFirst(offset).prefix(limit)), "\(offset), \(limit)")
        }
        #expect(ids(offset, nil) == Array(all.dropFirst(offset)))
      }
      #expect(ids(-5, 3) == Array(all.prefix(3)) && ids(.min, .min) == [] && ids(2, -1) == [])
    }
  }
}
