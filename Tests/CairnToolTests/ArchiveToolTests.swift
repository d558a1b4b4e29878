// The commands about archives, as their users meet them.

import Cairn
import Foundation
import Testing

@Suite struct ArchiveToolTests {
  private static let model = ModelDocument(
    entities: [
      .init(
        "Author",
        properties: [
          .attribute(.init("name", .string)), .attribute(.init("born", .date, isOptional: true)),
          .relationship(.init("books", to: "Book", inverse: "author", isOptional: true)),
        ], uniquenessConstraints: [["name"]]),
      .init(
        "Book", className: "Book",
        properties: [
          .attribute(.init("title", .string)), .attribute(.init("pageCount", .integer16, isOptional: true)),
          .attribute(.init("price", .decimal, isOptional: true)),
          .relationship(.init("author", to: "Author", inverse: "books", isOptional: true, maxCount: 1)),
        ]),
    ])

  private static let authors = "name,born\r\nMelville,1819-08-01T00:00:00Z\r\nWoolf,\r\n"
  private static let books = """
    title,pageCount,price,author.name\r
    Moby-Dick,635,12.3,Melville\r
    "Orlando, ""a biography""\",334,0.1,Woolf\r
    Anonymous,,,\r

    """

  /// A folder with the model, the tables and an archive of them, library.cairn; gone afterwards.
  private func withLibrary(_ body: (_ path: (String) -> String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cairn-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
    try ModelFile.write(Self.model, to: folder.appendingPathComponent("Model.xcdatamodel"))
    try Data(Self.authors.utf8).write(to: URL(fileURLWithPath: path("authors.csv")))
    try Data(Self.books.utf8).write(to: URL(fileURLWithPath: path("books.csv")))
    let packed = try Tool.run([
      "pack", path("authors.csv"), path("books.csv"), path("library.cairn"), "--model",
      path("Model.xcdatamodel"),
    ])
    try #require(packed.exitCode == 0, "\(packed.errors)")
    #expect(packed.output.hasPrefix("\(path("library.cairn")): 5 rows in ") && packed.errors.isEmpty)
    try body(path)
  }

  private func flip(_ path: String, at offset: Int) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[offset] ^= 0xFF
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  @Test func `what is packed is fetched from the archive, with its model, and nothing is written`() throws {
    try withLibrary { path in
      let before = try FileManager.default.contentsOfDirectory(atPath: path("")).sorted()
      let outcome = try Tool.run([
        "fetch", path("library.cairn"), "--entity", "Book", "--sort", "title", "--properties",
        "title,pageCount,author.name", "--format", "csv", "--predicate", "pageCount > 300",
      ])
      #expect(
        outcome.output
          == "title,pageCount,author.name\r\nMoby-Dick,635,Melville\r\n\"Orlando, \"\"a biography\"\"\",334,Woolf\r\n",
        "\(outcome.errors)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: path("")).sorted() == before)
      let both = try Tool.run(["fetch", path("library.cairn"), path("books.csv")])
      #expect(both.exitCode == 64 && both.errors.contains("is a store"))
      let model = try Tool.run(["fetch", path("library.cairn"), "--model", path("Model.xcdatamodel")])
      #expect(model.exitCode == 64 && model.errors.contains("has its model in it"))
    }
  }

  @Test func `an archive opens with the model that it was packed with`() throws {
    try withLibrary { path in
      let model = try NSManagedObjectModel(document: Self.model)
      let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
      let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: path("library.cairn")))
      description.type = CairnArchiveStoreType
      container.persistentStoreDescriptions = [description]
      var failure: (any Error)?
      container.loadPersistentStores { _, error in failure = error }
      #expect(failure == nil)
      let context = container.newBackgroundContext()
      let count = try context.performAndWait {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Author"))
      }
      #expect(count == 2)
    }
  }

  @Test func `the model inside of an archive has the classes of the one that it was packed with`() throws {
    try withLibrary { path in
      let model = try NSManagedObjectModel(ofStoreAt: URL(fileURLWithPath: path("library.cairn")))
      #expect(model.entitiesByName["Book"]?.managedObjectClassName == "Book")
      #expect(model.entitiesByName["Author"]?.managedObjectClassName == "NSManagedObject")
    }
  }

  @Test func `a title can be given in one input and not in another`() throws {
    try withLibrary { path in
      try Data("name,kept\r\nPoe,1809-01-19T00:00:00Z\r\n".utf8).write(
        to: URL(fileURLWithPath: path("authors.csv")))
      try Data("name,author\r\nThe Raven,Poe\r\n".utf8).write(to: URL(fileURLWithPath: path("books.csv")))
      let packed = try Tool.run([
        "pack", path("authors.csv"), path("books.csv"), path("poe.cairn"), "--model",
        path("Model.xcdatamodel"), "--rename", "books.name=title,author=author.name,authors.kept=born",
      ])
      #expect(packed.exitCode == 0 && packed.errors.isEmpty, "\(packed.errors)")
      let found = try Tool.run([
        "fetch", path("poe.cairn"), "--entity", "Book", "--properties", "title,author.name,author.born",
        "--format", "csv",
      ])
      #expect(found.output.contains("The Raven,Poe,1809-01-19"), "\(found.output)")
    }
  }

  @Test func `an export is what was packed, and converts back`() throws {
    try withLibrary { path in
      let authors = try Tool.run(["export", path("library.cairn"), "--entity", "Author"])
      #expect(authors.exitCode == 0 && authors.output == Self.authors, "\(authors.errors)")
      let books = try Tool.run(["export", path("library.cairn"), "--entity=Book"])
      #expect(books.output == Self.books && books.errors.isEmpty, "\(books.errors)")
      for format in ["csv", "json"] {
        let folder = path("folder-\(format)")
        let out = try Tool.run(["convert", path("library.cairn"), folder, "--format", format])
        #expect(out.exitCode == 0, "\(out.errors)")
        let back = try Tool.run(["convert", folder, path("\(format).cairn"), "--profile", "smallest"])
        #expect(back.exitCode == 0, "\(back.errors)")
        let again = try Tool.run(["convert", path("\(format).cairn"), path("\(format)2.cairn")])
        #expect(again.exitCode == 0, "\(again.errors)")
        for archive in ["\(format).cairn", "\(format)2.cairn"] {
          #expect(try Tool.run(["export", path(archive), "--entity", "Book"]).output == Self.books)
          #expect(try Tool.run(["export", path(archive), "--entity", "Author"]).output == Self.authors)
        }
      }
      let json = try Tool.run(["export", path("library.cairn"), "--format", "json"])
      let parsed =
        try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: [[String: Any]]]
      #expect(parsed?["Author"]?.count == 2 && parsed?["Book"]?.count == 3)
      let which = try Tool.run(["export", path("library.cairn")])
      #expect(which.exitCode == 64 && which.errors.contains("--entity is one of Author, Book"))
    }
  }

  @Test func `info shows entities, rows and bytes, for people and for programs`() throws {
    try withLibrary { path in
      let text = try Tool.run(["info", path("library.cairn")])
      #expect(text.exitCode == 0, "\(text.errors)")
      for part in ["commit", "0 of them dead", "Author", "Book", "pageCount", "model       inside"] {
        #expect(text.output.contains(part), "\(part) in \(text.output)")
      }
      let json = try Tool.run(["info", path("library.cairn"), "--json"])
      let parsed = try #require(
        try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
      let tables = try #require(parsed["tables"] as? [[String: Any]])
      #expect(tables.map { $0["name"] as? String } == ["Author", "Book"])
      #expect(tables.map { $0["rows"] as? Int } == [2, 3])
      let size = try FileManager.default.attributesOfItem(atPath: path("library.cairn"))[.size] as? Int
      let columns = tables.compactMap { $0["bytes"] as? Int }.reduce(0, +)
      let rest = ["footerBytes", "schemaBytes", "metadataBytes", "copyBytes", "deadBytes"]
        .compactMap { parsed[$0] as? Int }.reduce(0, +)
      #expect(tables.allSatisfy { ($0["rawBytes"] as? Int ?? 0) >= ($0["bytes"] as? Int ?? Int.max) })
      // Header, slots and trailer are 272 bytes.
      #expect(parsed["fileBytes"] as? Int == size && columns + rest + 272 == size)
    }
  }

  @Test(arguments: ["json", "table"])
  func `fetching a column that can't be read fails, whatever was printed before`(_ format: String) throws {
    try withLibrary { path in
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path("library.cairn")))
      var start = bytes.startIndex
      while let block = bytes.range(of: Data("BLK1".utf8), in: start..<bytes.endIndex) {
        start = block.upperBound
        // A column that is a slot, not keys or versions.
        if bytes[block.lowerBound + 4] == 3, bytes[block.lowerBound + 11] == 0 {
          bytes[block.lowerBound + 36] ^= 0xFF
        }
      }
      try bytes.write(to: URL(fileURLWithPath: path("library.cairn")))
      for more in [[], ["--distinct"]] {
        let fetched = try Tool.run(
          ["fetch", path("library.cairn"), "--entity", "Book", "--properties", "title", "--format", format]
            + more)
        #expect(fetched.exitCode == 65 && fetched.errors.contains("Book.title"), "\(fetched)")
      }
    }
  }

  @Test func `verify finds nothing in a whole archive, and exits with 65 for a damaged one`() throws {
    try withLibrary { path in
      let whole = try Tool.run(["verify", path("library.cairn")])
      #expect(whole.exitCode == 0 && whole.output == "\(path("library.cairn")): nothing is wrong\n")
      try flip(path("library.cairn"), at: 90)
      let damaged = try Tool.run(["verify", path("library.cairn")])
      #expect(damaged.exitCode == 65 && damaged.errors.isEmpty)
      #expect(damaged.output.contains("at byte 80: a commit slot is damaged"))
      let other = try Tool.run(["verify", path("books.csv")])
      #expect(other.exitCode == 65 && other.output.contains("it doesn't begin as an archive does"))
      #expect(try Tool.run(["verify", path("none.cairn")]).exitCode == 66)
    }
  }

  @Test func `salvage exits with 0 where nothing is lost, and with 2 and a report where something is`() throws
  {
    try withLibrary { path in
      try flip(path("library.cairn"), at: 90)
      let slot = try Tool.run(["salvage", path("library.cairn"), path("a.cairn")])
      #expect(slot.exitCode == 0 && slot.output.contains("nothing was lost"), "\(slot.errors)\(slot.output)")
      #expect(try Tool.run(["export", path("a.cairn"), "--entity", "Book"]).output == Self.books)
      let taken = try Tool.run(["salvage", path("library.cairn"), path("a.cairn")])
      #expect(taken.exitCode == 73 && taken.errors.contains("is there already"))
      // A title's letters lie as they are in a file so small, or deflated: the block is found by its header.
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path("a.cairn"))))
      let book = try #require(
        bytes.indices.dropLast(40).first {
          bytes[$0...].starts(with: [0x42, 0x4C, 0x4B, 0x31, 3]) && bytes[$0 + 8] == 1 && bytes[$0 + 10] == 0
        })
      try flip(path("a.cairn"), at: book + 34)
      let column = try Tool.run(["salvage", path("a.cairn"), path("b.cairn")])
      #expect(column.exitCode == 2, "\(column.output)\(column.errors)")
      #expect(column.output.contains("of 3 rows, keys 1–3: the block's checksum is wrong"))
      #expect(try Tool.run(["verify", path("b.cairn")]).exitCode == 0)
      #expect(try Tool.run(["export", path("b.cairn"), "--entity", "Author"]).output == Self.authors)
      let none = try Tool.run(["salvage", path("books.csv"), path("c.cairn")])
      #expect(none.exitCode == 65 && !FileManager.default.fileExists(atPath: path("c.cairn")))
    }
  }

  @Test func `the model of a store is shown, compared and converted as that of a file`() throws {
    try withLibrary { path in
      #expect(try Tool.run(["convert", path("library.cairn"), path("library.cairnlog")]).exitCode == 0)
      let shown = try Tool.run(["model", "show", path("Model.xcdatamodel")])
      try #require(shown.exitCode == 0)
      for store in ["library.cairn", "library.cairnlog"] {
        #expect(try Tool.run(["model", "show", path(store)]).output == shown.output)
        let same = try Tool.run(["model", "diff", path("Model.xcdatamodel"), path(store)])
        #expect(same.exitCode == 0 && same.output.hasPrefix("no difference\n"), "\(same.errors)")
        for target in ["\(store).xcdatamodel", "\(store).xcdatamodeld", "\(store).mom"] {
          let converted = try Tool.run(["model", "convert", path(store), path(target)])
          #expect(converted.exitCode == 0, "\(converted.errors)")
          let difference = try Tool.run(["model", "diff", path("Model.xcdatamodel"), path(target)])
          #expect(difference.output.hasPrefix("no difference\n"), "\(difference.output)\(difference.errors)")
        }
      }
      let version = try Tool.run(["model", "show", path("library.cairn"), "--version", "1"])
      #expect(version.exitCode == 65 && version.errors.contains("has one version of its model"))
    }
  }

  @Test func `tables in the place of a store are called so, and say what reads them`() throws {
    try withLibrary { path in
      #expect(try Tool.run(["convert", path("library.cairn"), path("tables")]).exitCode == 0)
      for (words, parts) in [
        (["info", path("tables")], ["is a folder of CSV or JSON files", "cairn fetch", "cairn convert"]),
        (["export", path("tables")], ["is a folder of CSV or JSON files", "cairn fetch", "cairn convert"]),
        (["verify", path("tables")], ["is a folder of CSV or JSON files", "cairn fetch", "cairn convert"]),
        (["compact", path("books.csv")], ["is a CSV file", "cairn fetch", "cairn pack"]),
        (["export", path("books.csv")], ["is a CSV file", "cairn fetch", "cairn pack"]),
        (["salvage", path("books.csv"), path("x")], ["is a CSV file", "cairn fetch", "cairn pack"]),
      ] {
        let outcome = try Tool.run(words)
        #expect(outcome.exitCode == 65 && outcome.output.isEmpty && !outcome.errors.contains("corrupt"))
        for part in parts { #expect(outcome.errors.contains(part), "\(outcome.errors)") }
      }
      let fetched = try Tool.run(["fetch", path("tables")])
      #expect(fetched.exitCode == 66 && fetched.errors.contains("it is a folder: name the files in it"))
    }
  }

  @Test func `compact leaves the rows as they are`() throws {
    try withLibrary { path in
      let outcome = try Tool.run(["compact", path("library.cairn"), "--profile=smallest"])
      #expect(outcome.exitCode == 0 && outcome.output.contains(" now\n"), "\(outcome.errors)")
      #expect(try Tool.run(["export", path("library.cairn"), "--entity", "Book"]).output == Self.books)
      #expect(try Tool.run(["compact", path("none.cairn")]).exitCode == 66)
    }
  }

  @Test func `nothing is overwritten, and what can't be read or written has its exit code`() throws {
    try withLibrary { path in
      let there = try Tool.run(["pack", path("authors.csv"), path("library.cairn")])
      #expect(there.exitCode == 73 && there.errors.contains("is there already"))
      #expect(try Tool.run(["pack", path("none.csv"), path("new.cairn")]).exitCode == 66)
      #expect(try Tool.run(["pack", path("authors.csv"), path("no/folder/new.cairn")]).exitCode == 73)
      #expect(try Tool.run(["convert", path("books.csv"), path("new.cairn")]).exitCode == 65)
      #expect(!FileManager.default.fileExists(atPath: path("new.cairn")))
    }
  }

  @Test func `a percentage of the input is printed where an archive is the smaller one`() throws {
    try ToolFolder.with([
      "few.csv": "n\n1\n", "many.csv": "n\n" + (0..<20_000).map { "\($0 / 100)\n" }.joined(),
    ]) { path in
      let few = try Tool.run(["pack", path("few.csv"), path("few.cairn")])
      #expect(few.output.hasSuffix(" bytes, from 4 bytes of input\n"), "\(few.output)")
      let many = try Tool.run(["pack", path("many.csv"), path("many.cairn")])
      #expect(many.output.contains(/: 20,000 rows in [\d,]+ bytes, \d\d?\.\d % of [\d,]+ bytes of input\n$/))
    }
  }

  @Test(arguments: [
    ["pack", "a.csv"], ["pack", "a.csv", "b.cairn", "--profile", "tiny"], ["info"], ["info", "a", "b"],
    ["verify", "a", "--json"], ["salvage", "a"], ["export", "a", "--format", "xml"], ["convert", "a"],
    ["pack", "a.csv", "b.cairn", "--version", "1"],
    ["compact", "a", "--profile=default", "--profile=default"],
  ])
  func `wrong command lines exit with 64 and the usage`(arguments: [String]) throws {
    let outcome = try Tool.run(arguments)
    #expect(outcome.exitCode == 64 && outcome.output.isEmpty)
    #expect(outcome.errors.hasPrefix("cairn: ") && outcome.errors.contains("usage: cairn \(arguments[0])"))
  }
}
