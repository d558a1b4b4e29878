// A model with every kind of to-one relationship, for tests of key paths.

import Foundation

@testable import CairnModel

/// People have a passport (which holds the key: it is declared first), a home and a friend; homes have a
/// city. Employees are people and visas are passports, so that hops lead to more than one table.
enum PeopleModel {
  static let schema = try! Schema(
    SchemaDescription(entities: [
      .init(
        name: "Passport", attributes: [.init("number", .string), .init("expires", .date)],
        relationships: [.init("holder", to: "Person", inverse: "passport", maxCount: 1)]),
      .init(name: "Visa", superentity: "Passport"),
      .init(
        name: "Person", attributes: [.init("name", .string), .init("age", .int16)],
        relationships: [
          .init("passport", to: "Passport", inverse: "holder", maxCount: 1),
          .init("home", to: "Home", inverse: "people", maxCount: 1),
          .init("friend", to: "Person", maxCount: 1),
        ]),
      .init(name: "Employee", superentity: "Person", attributes: [.init("salary", .decimal)]),
      .init(
        name: "Home", attributes: [.init("street", .string)],
        relationships: [
          .init("people", to: "Person", inverse: "home"), .init("city", to: "City", maxCount: 1),
        ]),
      .init(name: "City", attributes: [.init("name", .string), .init("population", .int64)]),
    ]))

  static let person = schema.entity(named: "Person")!.id

  /// Paths from Person.
  static let paths: [(String, ValueType)] = [
    ("name", .string), ("home", .key), ("home.street", .string), ("home.city", .key),
    ("home.city.name", .string),
    ("home.city.population", .int64), ("friend", .key), ("friend.age", .int16), ("friend.friend", .key),
    ("friend.friend.age", .int16), ("passport", .key), ("passport.number", .string),
    ("passport.expires", .date),
    ("friend.passport", .key), ("friend.passport.number", .string), ("passport.holder", .key),
    ("passport.holder.name", .string), ("friend.home.city.name", .string),
  ]

  /// Every slot at random; about one key in ten dangles or leads to a deleted row.
  static func source(_ random: inout SplitMix64, keySpread: Int64) -> TestSource {
    var rows: [String: [TestSource.Row]] = [:]
    for entity in schema.entities {
      // Hierarchies share a key space: subentities take the even numbers.
      let isSub = entity.superentity != nil
      var list: [TestSource.Row] = []
      for index in 0..<40 {
        var values: [String: Value] = [:]
        for slot in entity.slots where !random.oneIn(6) {
          values[slot.name] =
            slot.type == .key ? .key((Int64(random.below(90)) + 1) * keySpread) : random.value(slot.type)
        }
        let key = (Int64(index) * 2 + (isSub ? 2 : 1)) * keySpread
        list.append(.init(key: key, values: values, isDeleted: random.oneIn(9)))
      }
      rows[entity.name] = list
    }
    return TestSource(schema, rows, chunkSize: 16)
  }
}
