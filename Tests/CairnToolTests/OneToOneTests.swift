// Relationships that are to-one both ways: a table can say of them what no graph of objects has.

import Cairn
import Foundation
import Testing

@Suite struct OneToOneTests {
  private static let model = ModelDocument(
    entities: [
      .init(
        "Person",
        properties: [
          .attribute(.init("name", .string)),
          .relationship(.init("pass", to: "Pass", inverse: "owner", isOptional: true, maxCount: 1)),
          // Its own inverse.
          .relationship(.init("partner", to: "Person", inverse: "partner", isOptional: true, maxCount: 1)),
        ], uniquenessConstraints: [["name"]]),
      .init("Clerk", superentity: "Person", properties: []),
      .init(
        "Pass",
        properties: [
          .attribute(.init("number", .integer64)),
          .relationship(.init("owner", to: "Person", inverse: "pass", isOptional: true, maxCount: 1)),
        ], uniquenessConstraints: [["number"]]),
      // Another name that its table could have.
      .init("Persons", properties: [.attribute(.init("count", .integer64))]),
    ])

  private func packed(
    _ files: [String: String], _ body: (_ path: (String) -> String, _ packed: Tool.Outcome) throws -> Void
  ) throws {
    try ToolFolder.with(files) { path in
      try ModelFile.write(Self.model, to: URL(fileURLWithPath: path("Model.xcdatamodel")))
      let packed = try Tool.run(
        ["pack"] + files.keys.sorted().map(path) + [path("a.cairn"), "--model", path("Model.xcdatamodel")])
      try body(path, packed)
    }
  }

  @Test func `two objects that have the same partner are refused with file and line, in one table or in two`()
    throws
  {
    let message = ": two objects have the same Person.pass, which is to-one both ways"
    try packed(["Person.csv": "name,pass.number\nA,7\nB,\nC,7\n"]) { path, packed in
      let person = path("Person.csv")
      #expect(packed.exitCode == 65 && packed.errors.contains("\(person):2 and \(person):4\(message)"))
    }
    try packed(["Person.csv": "name,pass.number\nA,7\n", "Clerk.csv": "name,pass.number\nC,7\n"]) {
      #expect($1.exitCode == 65)
      #expect($1.errors.contains("\($0("Person.csv")):2 and \($0("Clerk.csv")):2\(message)"), "\($1.errors)")
    }
  }

  @Test func `a partner whose own row says nothing leads back, also where the row is made`() throws {
    try packed(["Person.csv": "name,partner.name\nA,B\nB,\nC,C\nD,E\nF,G\nG,F\n"]) { path, packed in
      #expect(packed.exitCode == 0, "\(packed.errors)")
      let fetched = try Tool.run([
        "fetch", path("a.cairn"), "--entity", "Person", "--properties", "name,partner.name", "--sort", "name",
        "--format", "csv",
      ])
      #expect(fetched.output == "name,partner.name\r\nA,B\r\nB,A\r\nC,C\r\nD,E\r\nE,D\r\nF,G\r\nG,F\r\n")
    }
  }

  @Test(arguments: ["A,B\nB,C\nC,\n", "A,B\nB,C\nC,A\n", "A,B\nB,B\n"])
  func `a partner that leads to another is refused`(people: String) throws {
    try packed(["Person.csv": "name,partner.name\n\(people)"]) { path, packed in
      #expect(packed.exitCode == 65 && packed.errors.contains("Person.csv:"), "\(packed.errors)")
      #expect(packed.errors.contains("Person.partner"), "\(packed.errors)")
      #expect(!FileManager.default.fileExists(atPath: path("a.cairn")))
    }
  }

  /// Makes a store as saves leave it that knew nothing of each other.
  private func makeStore(
    _ path: String, _ people: [(name: String, links: [String: Value])], passes: Int
  ) throws {
    try StoreFacts.open(path, of: Self.model) { container in
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first?.store)
      let entities = try (
        person: #require(store.schema.entity(named: "Person")),
        pass: #require(store.schema.entity(named: "Pass"))
      )
      #expect(try store.reserveKeys(people.count, root: entities.person.root).lowerBound == 1)
      let numbers = try store.reserveKeys(passes, root: entities.pass.root)
      var changes = ChangeSet()
      for (number, person) in people.enumerated() {
        try changes.insert(
          RowKey(entity: entities.person.id, id: Int64(number + 1)),
          person.links.merging(["name": .string(person.name)]) { $1 }, in: store.schema)
      }
      for number in numbers {
        try changes.insert(
          RowKey(entity: entities.pass.id, id: number), ["number": .int(number)], in: store.schema)
      }
      _ = try store.commit(changes)
    }
  }

  @Test func `of two that lead to one in a store the one that it leads back to is exported, with a warning`()
    throws
  {
    try ToolFolder.with { path in
      try makeStore(
        path("a.cairn"),
        [
          ("A", ["pass": .key(1), "partner": .key(2)]), ("B", ["pass": .key(1), "partner": .key(3)]),
          ("C", ["pass": .key(2), "partner": .key(2)]), ("D", ["partner": .key(5)]), ("E", [:]),
        ], passes: 2)
      let owner = try Tool.run([
        "fetch", path("a.cairn"), "--entity", "Pass", "--sort", "number", "--properties", "owner.name",
        "--format", "csv",
      ])
      let name = owner.output.contains("A\r\n") ? "A" : "B"
      let out = try Tool.run(["convert", path("a.cairn"), path("out")])
      #expect(
        out.errors == """
          cairn: warning: Person.pass of 1 row leads to what doesn't lead back, and is left out
          cairn: warning: Person.partner of 1 row leads to what doesn't lead back, and is left out

          """)
      let back = try Tool.run(["convert", path("out"), path("b.cairn")])
      #expect(back.exitCode == 0, "\(back.errors)")
      let fetched = try Tool.run([
        "fetch", path("b.cairn"), "--entity", "Person", "--sort", "name", "--properties",
        "name,pass.number,partner.name", "--format", "csv",
      ])
      let (first, second) = name == "A" ? ("1", "") : ("", "1")
      #expect(
        fetched.output
          == "name,pass.number,partner.name\r\nA,\(first),\r\nB,\(second),C\r\nC,2,B\r\nD,,E\r\nE,,D\r\n"
      )
    }
  }

  @Test func `a table is of the entity that it is called after, and of one whose plural it is otherwise`()
    throws
  {
    try packed(["Person.csv": "name\nA\n", "Persons.csv": "count\n3\n"]) { path, packed in
      #expect(packed.exitCode == 0, "\(packed.errors)")
      let tables = try Tool.run(["export", path("a.cairn"), "--format", "json"])
      #expect(tables.output.contains(#""Persons": [\#n  {"count": 3}"#), "\(tables.output)")
    }
  }
}
