// `cairn model` as its users meet it.

import Cairn
import Foundation
import Testing

@Suite struct ModelToolTests {
  private static let library = ModelDocument(
    entities: [
      .init(
        "Author", className: "Author", isAbstract: true,
        properties: [
          .attribute(.init("name", .string, defaultValue: "Anon")),
          .relationship(.init("books", to: "Book", inverse: "author", isOptional: true, isOrdered: true)),
        ], uniquenessConstraints: [["name"]]),
      .init(
        "Book",
        properties: [
          .attribute(.init("year", .integer16, isOptional: true)),
          .relationship(
            .init(
              "author", to: "Author", inverse: "books", isOptional: true, maxCount: 1, deleteRule: .cascade)),
          .fetched(
            .init(
              "namesakes",
              request: .init("fetchedPropertyFetchRequest", entity: "Author", predicate: "name == $x"))),
        ]),
      .init("Poet", superentity: "Author"),
    ], versionIdentifiers: ["7"])

  /// A package of two versions, `Library` (the current one) and `Library 2`, with a year that became a date.
  private func withPackage(_ body: (_ package: String, _ folder: URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cairn-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var second = ModelToolTests.library
    second.entities[1].properties[0] = .attribute(.init("published", .date, renamingIdentifier: "year"))
    second.versionIdentifiers = ["8"]
    let package = folder.appendingPathComponent("Library.xcdatamodeld")
    try ModelFile.write(
      [("Library", ModelToolTests.library), ("Library 2", second)], current: "Library", to: package)
    try body(package.path, folder)
  }

  @Test("show lists entities with hashes and properties, of the current version or the one named")
  func show() throws {
    try withPackage { package, _ in
      let outcome = try Tool.run(["model", "show", package])
      #expect(outcome.exitCode == 0 && outcome.errors.isEmpty)
      let lines = outcome.output.split(separator: "\n").map(String.init)
      #expect(lines.first == "3 entities, version 7")
      #expect(lines.contains("checksum \(ModelToolTests.library.versionChecksum)"))
      #expect(lines.contains("abstract entity Author, class Author"))
      #expect(lines.contains("entity Poet of Author"))
      #expect(lines.contains("  year       Integer 16      optional"))
      #expect(lines.contains("  author     to one Author   optional, inverse books, on delete cascade"))
      #expect(lines.contains("  unique (name)"))
      let hash = try #require(ModelToolTests.library.versionHashes["Book"])
      #expect(lines.contains("  hash " + hash.map { String(format: "%02x", $0) }.joined()))
      let second = try Tool.run(["model", "show", package, "--version", "Library 2"])
      #expect(second.output.hasPrefix("3 entities, version 8\n") && second.output.contains("published  Date"))
    }
  }

  @Test("show --json has the checksum and every entity with hash, attributes and relationships")
  func json() throws {
    try withPackage { package, _ in
      let outcome = try Tool.run(["model", "show", "--json", package])
      #expect(outcome.exitCode == 0)
      let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
      let model = try #require(object as? [String: Any])
      #expect(model["versionChecksum"] as? String == ModelToolTests.library.versionChecksum)
      let entities = try #require(model["entities"] as? [[String: Any]])
      #expect(entities.map { $0["name"] as? String } == ["Author", "Book", "Poet"])
      let hashes = ModelToolTests.library.versionHashes
      for entity in entities {
        let hash = hashes[entity["name"] as? String ?? ""] ?? Data()
        #expect(entity["versionHash"] as? String == hash.map { String(format: "%02x", $0) }.joined())
      }
      let attributes = try #require(entities[0]["attributes"] as? [[String: Any]])
      #expect(attributes.map { $0["name"] as? String } == ["name"])
      #expect(attributes[0]["defaultValue"] as? String == "Anon")
      let relationships = try #require(entities[1]["relationships"] as? [[String: Any]])
      #expect(relationships[0]["destination"] as? String == "Author")
      #expect(relationships[0]["isToMany"] as? Bool == false)
    }
  }

  @Test("show --diagram is a Mermaid class diagram with inheritance and one line for a pair of inverses")
  func diagram() throws {
    try withPackage { package, _ in
      let outcome = try Tool.run(["model", "show", "--diagram", package])
      #expect(
        outcome.output == """
          classDiagram
            class Author {
              <<abstract>>
              String name
            }
            class Book {
              Integer_16? year
            }
            class Poet
            Author <|-- Poet
            Author "0..1" -- "0..*" Book : books / author

          """)
    }
  }

  @Test("check ends with 0 without errors and with 65 where there are some")
  func check() throws {
    try withPackage { package, folder in
      let sound = try Tool.run(["model", "check", package])
      #expect(sound.exitCode == 0 && sound.output == "0 errors, 0 warnings\n")
      let broken = folder.appendingPathComponent("Broken.xcdatamodel")
      var document = ModelToolTests.library
      document.entities[1].properties.append(.relationship(.init("shelf", to: "Shelf", maxCount: 1)))
      document.entities[1].properties.append(.attribute(.init("Size", .transformable)))
      try ModelFile.write(document, to: broken)
      let outcome = try Tool.run(["model", "check", broken.path])
      #expect(outcome.exitCode == 65)
      #expect(outcome.output.contains("error: Book.shelf: its destination Shelf isn't there\n"))
      #expect(
        outcome.output.contains("warning: Book.Size: the name of a property begins with a lowercase letter\n")
      )
      #expect(outcome.output.hasSuffix("1 error, 2 warnings\n"))
    }
  }

  @Test("diff names what differs between two versions, and whose hashes do")
  func diff() throws {
    try withPackage { package, _ in
      let same = try Tool.run(["model", "diff", package, package])
      #expect(
        same.exitCode == 0
          && same.output == "no difference\n\nall version hashes are the same: no store needs a migration\n")
      let outcome = try Tool.run([
        "model", "diff", package, package, "--version", "Library", "--version=Library 2",
      ])
      #expect(
        outcome.output == """
          ~ version identifiers: 7 → 8
          > Book.published  was year
          ~ Book.published  type: Integer 16 → Date
          ~ Book.published  optional: yes → no
          ~ Book.published  renaming identifier: none → year

          version hashes differ: Book

          """)
    }
  }

  @Test("convert goes between all forms and back, with every version and its hashes")
  func convert() throws {
    try withPackage { package, folder in
      let compiled = folder.appendingPathComponent("Library.momd")
      let there = try Tool.run(["model", "convert", package, compiled.path])
      #expect(there.exitCode == 0 && there.output.isEmpty && there.errors.isEmpty)
      #expect(try ModelFile.versions(at: compiled).map(\.name) == ["Library", "Library 2"])
      let back = folder.appendingPathComponent("Back.xcdatamodeld")
      #expect(try Tool.run(["model", "convert", compiled.path, back.path]).exitCode == 0)
      for name in ["Library", "Library 2"] {
        let original = try ModelFile.read(at: URL(fileURLWithPath: package), version: name)
        #expect(try ModelFile.read(at: back, version: name).compiled == original.compiled)
        #expect(try ModelFile.read(at: compiled, version: name).versionHashes == original.versionHashes)
      }
      let one = folder.appendingPathComponent("One.mom")
      #expect(
        try Tool.run(["model", "convert", back.path, one.path, "--version", "Library 2"]).exitCode == 0)
      #expect(try ModelFile.read(at: one).versionIdentifiers == ["8"])
      let taken = try Tool.run(["model", "convert", package, compiled.path])
      #expect(taken.exitCode == 73 && taken.errors.contains("already"))
    }
  }

  @Test("convert says on standard error what the new form doesn't keep")
  func losses() throws {
    try withPackage { _, folder in
      let mom = folder.appendingPathComponent("Code.mom")
      var document = ModelToolTests.library
      document.fetchRequests = [.init("page", entity: "Book", fetchOffset: 20)]
      try ModelFile.write(document, to: mom)
      let outcome = try Tool.run([
        "model", "convert", mom.path, folder.appendingPathComponent("Code.xcdatamodel").path,
      ])
      #expect(outcome.exitCode == 0)
      #expect(outcome.errors == "cairn: Code: warning: not kept: page: the fetch request's offset\n")
    }
  }

  @Test("no input exits with 66, bad data with 65, a wrong command line with 64 and the usage")
  func failures() throws {
    try withPackage { package, folder in
      let missing = try Tool.run(["model", "show", folder.appendingPathComponent("No.momd").path])
      #expect(
        missing.exitCode == 66 && missing.output.isEmpty && missing.errors.contains("there is no such file"))
      let bad = folder.appendingPathComponent("bad.mom")
      try Data("bplist00 and then nothing".utf8).write(to: bad)
      #expect(try Tool.run(["model", "show", bad.path]).exitCode == 65)
      let version = try Tool.run(["model", "show", package, "--version", "Library 9"])
      #expect(version.exitCode == 65 && version.errors.contains("it has \"Library\", \"Library 2\""))
      for words in [
        ["model"], ["model", "draw", package], ["model", "show"], ["model", "show", package, package],
        ["model", "diff", package], ["model", "check", package, "--json"],
        ["model", "show", package, "--version"],
        ["model", "show", package, "--colour"],
      ] {
        let outcome = try Tool.run(words)
        #expect(
          outcome.exitCode == 64 && outcome.output.isEmpty
            && outcome.errors.contains("usage: cairn model show"))
      }
      let help = try Tool.run(["model", "--help"])
      #expect(help.exitCode == 0 && help.output.contains("usage: cairn model show"))
    }
  }

  @Test("a model with errors isn't compiled: its errors, 65 and no file; as a source it goes over")
  func faulty() throws {
    try withPackage { _, folder in
      let broken = folder.appendingPathComponent("Broken.xcdatamodel")
      var document = ModelToolTests.library
      document.entities[1].properties.append(.relationship(.init("shelf", to: "Shelf", maxCount: 1)))
      try ModelFile.write(document, to: broken)
      let target = folder.appendingPathComponent("Broken.mom")
      let outcome = try Tool.run(["model", "convert", broken.path, target.path])
      #expect(outcome.exitCode == 65 && !FileManager.default.fileExists(atPath: target.path))
      #expect(
        outcome.errors.contains("cairn: Broken: error: Book.shelf: its destination Shelf isn't there\n"))
      #expect(outcome.errors.contains("\(broken.path): a model with errors can't be compiled"))
      let copy = folder.appendingPathComponent("Copy.xcdatamodel")
      #expect(try Tool.run(["model", "convert", broken.path, copy.path]).exitCode == 0)
      #expect(FileManager.default.fileExists(atPath: copy.path))
    }
  }

  @Test("a device and a pipe are no model's file, and say so")
  func devices() throws {
    try withPackage { _, folder in
      let pipe = folder.appendingPathComponent("pipe").path
      #expect(mkfifo(pipe, 0o600) == 0)
      for path in ["/dev/null", pipe] {
        let outcome = try Tool.run(["model", "show", path])
        #expect(
          outcome.exitCode == 66 && outcome.errors.contains("\(path): it is a device or a pipe, no file"))
      }
    }
  }
}
