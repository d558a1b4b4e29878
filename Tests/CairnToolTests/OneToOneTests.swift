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
