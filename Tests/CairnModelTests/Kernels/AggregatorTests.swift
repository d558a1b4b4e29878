// Groups and figures against the plain meaning: values collected in arrays, and `Aggregator.figure`.

import Foundation
import Testing

@testable import CairnModel

struct AggregatorTests {
  typealias Function = AggregateRequest.Function
  private let functions: [Function] = [.count, .sum, .average, .min, .max]

  /// Groups by the equality of values, figures value by value.
  private func plainAnswer(
    _ selection: RowSelection, _ groupBy: [BoundPath], _ terms: [(function: Function, path: BoundPath?)],
    _ source: TestSource
  ) -> [AggregateRow] {
    var groups: [(key: [Value], rows: [RowBatch.Place])] = groupBy.isEmpty ? [([], [])] : []
    var numbers: [[Value]: Int] = [:]
    let readers = groupBy.map { PathReader($0, source: source) }
    for place in selection.places() {
      let key = readers.map { $0.value(selection.chunks[Int(place.chunk)], Int(place.row)) }
      if groupBy.isEmpty {
        groups[0].rows.append(place)
      } else if let number = numbers[key] {
        groups[number].rows.append(place)
      } else {
        numbers[key] = groups.count
        groups.append((key, [place]))
      }
    }
    return groups.map { group in
      AggregateRow(
        group: group.key,
        values: terms.map { term in
          guard let path = term.path else { return .int(Int64(group.rows.count)) }
          let reader = PathReader(path, source: source)
          let values = group.rows.map { reader.value(selection.chunks[Int($0.chunk)], Int($0.row)) }
          return Aggregator.figure(term.function, values.filter { !$0.isNull })
        })
    }.sorted { a, b in
      for (x, y) in zip(a.group, b.group) where x != y { return x < y }
      return false
    }
  }

  private func isWrong(
    _ source: TestSource, groupBy: [String], of path: String?, _ entity: String = "Item"
  ) throws -> Bool {
    let id = try source.schema.requireEntity(named: entity).id
    func bound(_ path: String) throws -> BoundPath {
      try BoundPath(path.split(separator: ".").map(String.init), from: id, in: source.schema)
    }
    let terms = try functions.map { (function: $0, path: try path.map(bound)) }.prefix(path == nil ? 1 : 5)
    let paths = try groupBy.map(bound)
    let selection = source.selection(of: entity)
    let found = Aggregator(groupBy: paths, terms: Array(terms), source: source).run(selection)
    let expected = plainAnswer(selection, paths, Array(terms), source)
    return found != expected
  }

  private func items(_ count: Int, _ random: inout SplitMix64, distinct: Int) -> TestSource {
    let rows = (0..<count).map { index in
      var values: [String: Value] = [:]
      for type in ValueType.allCases where !random.oneIn(7) {
        var few = SplitMix64(seed: UInt64(random.below(distinct)))
        values["\(type)"] = few.value(type)
      }
      return TestSource.Row(key: Int64(index + 1), values: values, isDeleted: random.oneIn(12))
    }
    return TestSource(itemSchema, ["Item": rows], chunkSize: 64)
  }

  @Test(arguments: ValueType.allCases, seeds)
  func `figures of any type are those of its values, in one group and in groups of any type`(
    type: ValueType, seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let source = items(400, &random, distinct: 30)
    #expect(try !isWrong(source, groupBy: [], of: "\(type)"), "all of \(type), seed \(seed)")
    for group in ValueType.allCases {
      #expect(try !isWrong(source, groupBy: ["\(group)"], of: "\(type)"), "\(type) by \(group), seed \(seed)")
    }
    #expect(try !isWrong(source, groupBy: ["\(type)"], of: nil), "counts by \(type), seed \(seed)")
  }

  /// bool and int16 take few bits together, int64 and string more than 16, two doubles more than 64.
  @Test(arguments: seeds)
  func `groups of a few bits, of a word and of more words`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let source = items(500, &random, distinct: 6)
    for groupBy in [
      ["bool"], ["bool", "bool"], ["bool", "string"], ["int64", "string"], ["double", "date"],
      ["double", "bool", "uuid"],
    ] {
      #expect(try !isWrong(source, groupBy: groupBy, of: "int32"), "by \(groupBy), seed \(seed)")
      #expect(try !isWrong(source, groupBy: groupBy, of: "double"), "by \(groupBy), seed \(seed)")
    }
  }

  @Test(arguments: seeds)
  func `groups and figures follow to-one relationships`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let source = PeopleModel.source(&random, keySpread: 1)
    for _ in 0..<12 {
      let group = random.pick(PeopleModel.paths).0
      let path = random.pick(PeopleModel.paths).0
      #expect(try !isWrong(source, groupBy: [group], of: path, "Person"), "\(path) by \(group), seed \(seed)")
    }
  }

  /// The narrow loops add up within a chunk in 64 bits, and keep their hands off once there are many groups.
  @Test func `more groups than the narrow loops have parts for`() throws {
    let rows = (0..<3000).map {
      TestSource.Row(key: Int64($0 + 1), values: ["int16": .int(Int64($0 % 1500)), "int32": .int(Int64($0))])
    }
    let source = TestSource(itemSchema, ["Item": rows])
    #expect(try !isWrong(source, groupBy: ["int16"], of: "int32"))
    #expect(try !isWrong(source, groupBy: ["int16"], of: "int16"))
  }

  private func figures(_ type: ValueType, _ values: [Value]) throws -> [Value] {
    let rows = values.enumerated().map { TestSource.Row(key: Int64($0 + 1), values: ["\(type)": $1]) }
    let source = TestSource(itemSchema, ["Item": rows])
    let path = try BoundPath(["\(type)"], from: EntityID(0), in: itemSchema)
    let query = try RowQuery(entity: EntityID(0), includesSubentities: true, predicate: nil, source: source)
    #expect(try !isWrong(source, groupBy: [], of: "\(type)"))
    return query.aggregate(groupBy: [], terms: functions.map { ($0, path) })[0].values
  }

  @Test func `sums beyond Int64 become doubles, sums within it are exact`() throws {
    #expect(try figures(.int64, [.int(.max), .int(.max)])[1] == .double(0x1p64))
    #expect(try figures(.int64, [.int(.max), .int(.max), .int(.min), -5])[1] == .int(.max - 6))
    #expect(try figures(.int64, [.int(.min), .int(.min)])[1] == .double(-0x1p64))
    #expect(try figures(.int64, [.int(.max), .int(.max)])[2] == .double(0x1p63))
    #expect(
      try figures(.int32, [Value](repeating: .int(Int64(Int32.max)), count: 5000))[1]
        == .int(5000 * 2_147_483_647))
  }

  @Test func `nil is left out, and figures of nothing are 0, 0, nil, nil, nil`() throws {
    for type in [ValueType.int16, .int64, .double, .float, .bool, .decimal, .string, .date, .key, .data] {
      for values in [[], [.null, .null]] as [[Value]] {
        let found = try figures(type, values)
        #expect(found == [0, 0, .null, .null, .null], "\(type): \(found)")
      }
    }
    #expect(try figures(.int16, [2, .null, 4]) == [2, 6, 3, 2, 4])
    #expect(try figures(.bool, [true, .null, false, true]) == [3, 2, .double(2.0 / 3.0), false, true])
  }

  @Test func `NaN is the least value, and makes sums NaN`() throws {
    #expect(
      try figures(.double, [1, .double(.nan), 2]) == [3, .double(.nan), .double(.nan), .double(.nan), 2])
    #expect(
      try figures(.double, [.double(.nan)]) == [
        1, .double(.nan), .double(.nan), .double(.nan), .double(.nan),
      ])
    #expect(try figures(.double, [.double(.infinity)])[3...] == [.double(.infinity), .double(.infinity)])
    #expect(try figures(.double, [.double(-.infinity)])[3...] == [.double(-.infinity), .double(-.infinity)])
  }

  @Test func `what is no number counts and has a least and a greatest value, but no sum`() throws {
    let texts = try figures(.string, ["b", "a"])
    #expect(texts == [2, 0, .null, "a", "b"])
    let dates = try figures(.date, [.date(.distantPast), .date(.distantFuture)])
    #expect(dates == [2, 0, .null, .date(.distantPast), .date(.distantFuture)])
  }

  @Test func `results have the type of the attribute`() throws {
    #expect(isSame(try figures(.bool, [true])[3], true))
    #expect(isSame(try figures(.float, [.float(0.5)])[4], .float(0.5)))
    #expect(isSame(try figures(.int16, [3])[1], 3))
    #expect(isSame(try figures(.decimal, [.decimal(3)])[1], .decimal(3)))
  }

  @Test func `without rows there is one group if none was asked for, else none`() throws {
    let query = try RowQuery(
      entity: EntityID(0), includesSubentities: true, predicate: nil, source: TestSource(itemSchema))
    #expect(query.aggregate(groupBy: [], terms: [(.count, nil)]) == [AggregateRow(group: [], values: [0])])
    let path = try BoundPath(["string"], from: EntityID(0), in: itemSchema)
    #expect(query.aggregate(groupBy: [path], terms: [(.count, nil)]).isEmpty)
  }
}
