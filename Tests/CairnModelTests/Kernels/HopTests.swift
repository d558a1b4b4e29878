// Key paths over to-one relationships: stored as keys, stored on the other side, several in a row.

import Foundation
import Testing

@testable import CairnModel

struct HopTests {
  private let schema = PeopleModel.schema
  private let paths = PeopleModel.paths

  @Test(arguments: seeds, [Int64(1), 1 << 40])
  func `a path gives each row the answer of the row that it leads to`(seed: UInt64, keySpread: Int64) throws {
    var random = SplitMix64(seed: seed)
    let source = PeopleModel.source(&random, keySpread: keySpread)
    var failures = Failures()
    for (path, type) in paths {
      let bound = try BoundPath(
        path.split(separator: ".").map(String.init), from: PeopleModel.person, in: schema)
      #expect(bound.type == type)
      let reader = PathReader(bound, source: source)
      let sample = source.chunks(of: PeopleModel.person).flatMap { chunk in
        (0..<chunk.count).map { reader.value(chunk, $0) }
      }
      for _ in 0..<6 {
        let tree = random.comparison(path, type, like: sample)
        for found in try disagreements(tree, "Person", source) { failures.add("\(tree): \(found)") }
      }
    }
    for _ in 0..<15 {
      let tree = random.tree(depth: 3) { random in
        let (path, type) = random.pick(paths)
        if random.oneIn(3) {
          return .comparison(
            .init(.path(path), random.pick([.equal, .notEqual]), .path(random.pick(paths).0)))
        }
        return random.comparison(path, type, like: [])
      }
      for found in try disagreements(tree, "Person", source) { failures.add("\(tree): \(found)") }
    }
    #expect(failures.isEmpty, "seed \(seed): \(failures)")
  }

  /// A small example by hand, so that PathReader isn't only compared with itself.
  private var family: TestSource {
    TestSource(
      schema,
      [
        "Person": [
          .init(key: 1, values: ["name": "Ann", "age": 30, "home": .key(1), "friend": .key(2)]),
          .init(key: 2, values: ["name": "Bob", "home": .key(2), "friend": .key(99)]),
          .init(key: 3, values: ["name": "Cy", "age": 7, "friend": .key(4)]),
          .init(key: 4, values: ["name": "Gone", "age": 8, "home": .key(1)], isDeleted: true),
        ],
        "Employee": [.init(key: 5, values: ["name": "Eve", "age": 40, "home": .key(3), "friend": .key(1)])],
        "Passport": [
          .init(key: 1, values: ["number": "P1", "holder": .key(1)]),
          .init(key: 3, values: ["number": "P3", "holder": .key(5)]),
          .init(key: 5, values: ["number": "P5", "holder": .key(2)], isDeleted: true),
          .init(key: 7, values: ["number": "P7", "holder": .key(2)]),
          .init(key: 9, values: ["number": "P9", "holder": .key(1)]),
          .init(key: 11, values: ["number": "P11", "holder": .key(4)], isDeleted: true),
        ],
        "Visa": [.init(key: 2, values: ["number": "V2", "holder": .key(5)])],
        "Home": [
          .init(key: 1, values: ["street": "Main", "city": .key(1)]),
          .init(key: 2, values: ["street": "Side"]),
          .init(key: 3, values: ["street": "Lost", "city": .key(1)], isDeleted: true),
        ],
        "City": [.init(key: 1, values: ["name": "Bern", "population": 134_000])],
      ])
  }

  private func ids(_ tree: PredicateTree) throws -> [Int64] {
    #expect(try disagreements(tree, "Person", family).isEmpty, "\(tree)")
    return try RowQuery(
      entity: PeopleModel.person, includesSubentities: true, predicate: tree, source: family
    )
    .rows(sort: [], offset: 0, limit: nil).ids
  }

  @Test func `one hop and two hops over keys; a null key, a missing row and a deleted row read as nil`()
    throws
  {
    #expect(try ids(.compare("home.street", .equal, "Main")) == [1])
    #expect(try ids(.compare("home.city.name", .equal, "Bern")) == [1])
    #expect(try ids(.compare("home.street", .equal, .null)) == [3, 5])
    #expect(try ids(.compare("home.city.name", .notEqual, "Bern")) == [2, 3, 5])
    #expect(try ids(.compare("friend.name", .equal, .null)) == [2, 3])
    #expect(try ids(.compare("friend.age", .greater, 10)) == [5])
    #expect(try ids(.not(.compare("friend.age", .greater, 10))) == [1, 2, 3])
  }

  @Test func `a to-one property itself is the key that is stored, whether its row is there or not`() throws {
    #expect(try ids(.compare("friend", .equal, .null)) == [])
    #expect(try ids(.compare("friend", .equal, .key(99))) == [2])
    #expect(try ids(.compare("home", .equal, .null)) == [3])
    #expect(try ids(.isIn("home", [.key(1), .key(3)])) == [1, 5])
  }

  @Test
  func `a one-to-one pair is followed from the side without the key; of two claims the smaller key counts`()
    throws
  {
    #expect(try ids(.compare("passport.number", .equal, "P1")) == [1])
    #expect(try ids(.compare("passport.number", .equal, "P9")) == [], "P1 has the smaller key")
    #expect(try ids(.compare("passport.number", .equal, "P7")) == [2], "a deleted passport claims nothing")
    #expect(try ids(.compare("passport", .equal, .null)) == [3])
    #expect(try ids(.compare("passport.number", .equal, "P3")) == [])
    #expect(try ids(.compare("passport.number", .equal, "V2")) == [5], "the visa has the smaller key")
    #expect(try ids(.compare("passport", .equal, .key(2))) == [5])
    #expect(try ids(.compare("friend.passport.number", .equal, "P1")) == [5])
    #expect(try ids(.compare("passport.holder.name", .equal, "Eve")) == [5])
  }
}
