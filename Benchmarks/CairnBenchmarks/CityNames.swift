// The case about searching texts in every script: 34,006 cities by parts of their alternate names.

import Cairn
import Foundation

struct CityNames {
  let folder: URL

  /// Counts the cities one of whose names contains each of some texts, upper or lower case and diacritics
  /// aside. SQLite's LIKE knows neither diacritics nor upper case beyond ASCII, so the texts are such that
  /// both find the same: what only Cairn finds is a matter of tests.
  func searched(_ sqlite: SQLiteLibrary?, peer: String) -> Case {
    Case(
      name: "city names, 4 x CONTAINS[cd]: count", peer: peer, goal: 0.5,
      ours: {
        let cities = try PlainTable.cities(folder)
        let store = MemoryStore(schema: try Schema(SchemaDescription(entities: [cities.entity])))
        try cities.insert(into: store)
        let entity = store.schema.entities[0].id
        let requests = Self.texts.map { text in
          StoreRequest(
            entity: entity,
            predicate: .compare(
              "alternatenames", .contains, .string(text), options: [.caseInsensitive, .diacriticInsensitive]))
        }
        let snapshot = try store.snapshot()
        return .timed(
          run: { try requests.map { try store.count($0, in: snapshot) } },
          answer: { counts in .total(Int64(counts.reduce(0) { $0 * 31 + $1 }), count: counts.count) })
      },
      theirs: sqlite.map { sqlite in
        {
          let database = Database(sqlite)
          do { try PlainTable.cities(folder).insert(into: database) } catch { fatalError("\(error)") }
          let selects = Self.texts.map { text in
            database.prepare("SELECT count(*) FROM city WHERE alternatenames LIKE '%\(text)%'")
          }
          return .timed(
            run: { selects.map { Int($0.singleInteger()) } },
            answer: { counts in .total(Int64(counts.reduce(0) { $0 * 31 + $1 }), count: counts.count) })
        }
      })
  }

  private static let texts = ["stad", "Kirch", "town", "wick"]
}
