// Derived attributes in tables: what is packed has the values that a context would have saved.

import Cairn
import Foundation
import Testing

@Suite struct DerivedImportTests {
  /// Fractions that add up to the same in every order.
  private static func quarters(_ dice: inout Dice) -> Double {
    Double(Int.random(in: 0...99, using: &dice)) / 4
  }

  @Test(arguments: Array(1...8))
  func `rows that tables bring have the derived values that a context saves with them`(seed: Int) throws {
    try ToolFolder.with { path in
      let start = Date()
      for (name, model) in [("saved", DerivedGraph.model), ("plain", DerivedGraph.plain)] {
        try DerivedGraph.make(path("\(name).cairn"), of: model, seed: UInt64(seed), price: Self.quarters)
      }
      try ModelFile.write(DerivedGraph.model, to: URL(fileURLWithPath: path("Model.xcdatamodel")))
      let facts = try untimed(StoreFacts.all(path("saved.cairn"), of: DerivedGraph.model), since: start)
      #expect(facts.contains { $0.contains("quiet = ") } && facts.contains { $0.hasSuffix(" = the time") })
      for format in ["csv", "json"] {
        let out = try Tool.run(["convert", path("plain.cairn"), path(format), "--format", format])
        #expect(out.exitCode == 0, "\(out.errors)")
        let tables = try FileManager.default.contentsOfDirectory(atPath: path(format))
          .filter { $0.hasSuffix(format) }.sorted().map { path(format) + "/" + $0 }
        let packed = try Tool.run(
          ["pack"] + tables + [path("\(format).cairn"), "--model", path("Model.xcdatamodel")])
        #expect(packed.exitCode == 0 && packed.errors.isEmpty, "\(packed.errors)")
        let again = try untimed(
          StoreFacts.all(path("\(format).cairn"), of: DerivedGraph.model), since: start)
        #expect(again == facts, "\(zip(facts, again).first { $0 != $1 }.map { "\($0) became \($1)" } ?? "")")
      }
    }
  }

  /// The facts with all dates, which have to be of this test, taken for the same.
  private func untimed(_ facts: [String], since start: Date) throws -> [String] {
    try facts.map { fact in
      guard fact.hasSuffix(" since 2001") else { return fact }
      let parts = fact.split(separator: " = ")
      let seconds = try #require(Double(parts[1].prefix { $0 != "," }))
      #expect(
        (start.timeIntervalSinceReferenceDate...Date().timeIntervalSinceReferenceDate).contains(seconds))
      return parts[0] + " = the time"
    }
  }

  private func withLibrary(
    _ files: [String: String], _ body: (_ path: (String) -> String, _ packed: Tool.Outcome) throws -> Void
  ) throws {
    try ToolFolder.with(files) { path in
      try ModelFile.write(DerivedGraph.model, to: URL(fileURLWithPath: path("Model.xcdatamodel")))
      let packed = try Tool.run(
        ["pack"] + files.keys.sorted().map(path) + [path("a.cairn"), "--model", path("Model.xcdatamodel")])
      try body(path, packed)
    }
  }

  @Test
  func `a derived value that doesn't follow from the objects is told of, and the one that does is written`()
    throws
  {
    let authors = "@id,name,loud,workCount\n1,Ann,ANN,2\n2,Bob,Bob,1\n3,Cid,,7\n4,Dot,dot,0\n"
    let works = "author.@id,price,authorName\n1,0.1,Ann\n1,0.2,\n2,1,Ann\n"
    try withLibrary(["Author.csv": authors, "Magazine.csv": works]) { path, packed in
      #expect(packed.exitCode == 0)
      #expect(
        packed.errors == """
          cairn: warning: \(path("Author.csv")):3: Author.loud is derived, and is "BOB" there, not "Bob", and so in 1 \
          more row
          cairn: warning: \(path("Author.csv")):4: Author.workCount is derived, and is 0 there, not 7
          cairn: warning: \(path("Magazine.csv")):4: Magazine.authorName is derived, and is "Bob" there, not "Ann"

          """, "\(packed.errors)")
      let fetched = try Tool.run([
        "fetch", path("a.cairn"), "--entity", "Author", "--properties", "name,loud,workCount", "--format",
        "csv",
      ])
      #expect(fetched.output == "name,loud,workCount\r\nAnn,ANN,2\r\nBob,BOB,1\r\nCid,CID,0\r\nDot,DOT,0\r\n")
    }
  }

  @Test func `a sum that adding in another order makes is kept, and no other that is near it`() throws {
    let price = "author.@id,price\n1,0.3\n1,0.2\n1,0.1\n"
    #expect(0.3 + 0.2 + 0.1 == 0.6 && 0.1 + 0.2 + 0.3 == 0.600_000_000_000_000_1)
    for (given, written) in [
      ("0.6000000000000001", "0.6000000000000001"), ("0.6", "0.6"), ("", "0.6"), ("0.60000000000001", "0.6"),
    ] {
      try withLibrary(["Author.csv": "@id,priceSum\n1,\(given)\n", "Magazine.csv": price]) { path, packed in
        #expect(packed.exitCode == 0 && packed.errors.isEmpty == (given != "0.60000000000001"))
        let fetched = try Tool.run([
          "fetch", path("a.cairn"), "--entity", "Author", "--properties", "priceSum", "--format", "csv",
        ])
        #expect(fetched.output == "priceSum\r\n\(written)\r\n")
      }
    }
    // Cut off, one order's sum is another whole number than the other's.
    let favourites = [
      "Author.csv": "@id,name,favouriteSum\n1,Ann,1\n",
      "Magazine.csv": "price,@id\n"
        + (1...10).map { "0.1,\($0)\n" }.joined(),
      "Author.favourites.csv": "Author.@id,favourites.@id\n" + (1...10).map { "1,\($0)\n" }.joined(),
    ]
    #expect((1...10).reduce(0.0) { sum, _ in sum + 0.1 } < 1)
    try withLibrary(favourites) { path, packed in
      #expect(packed.exitCode == 0 && packed.errors.isEmpty, "\(packed.errors)")
      let fetched = try Tool.run([
        "fetch", path("a.cairn"), "--entity", "Author", "--properties", "favouriteSum", "--format", "csv",
      ])
      #expect(fetched.output == "favouriteSum\r\n1\r\n")
    }
  }

  @Test func `the time of a save is what a table says, and that of the import where none says it`() throws {
    let json = """
      {"Author": [{"name": "A", "saved": "2013-01-31T10:00:00Z"}, {"name": "B", "saved": null}, {"name": "C"}],
       "Book": [{"author.name": "A"}, {"author.name": "B"}, {"author.name": "C"}, {"author.name": "D"}]}
      """
    let start = Date()
    try withLibrary(["all.json": json]) { path, packed in
      #expect(packed.exitCode == 0 && packed.errors.isEmpty, "\(packed.errors)")
      let facts = try StoreFacts.all(path("a.cairn"), of: DerivedGraph.model)
      let kept = "= 381319200.0, bits \(String((381_319_200.0).bitPattern, radix: 16)) since 2001"
      #expect(facts.contains("Author0.saved \(kept)") && facts.contains("Author1.saved = nil"))
      // What follows from it follows from what is kept.
      #expect(facts.contains("Book0.authorSaved \(kept)") && facts.contains("Book1.authorSaved = nil"))
      let others = facts.filter {
        $0.contains(/^Author[23]\.saved =/) || $0.contains(/^Book[23]\.authorSaved =/)
          || $0.contains(/^Book\d\.bookSaved =/)
      }
      #expect(others.count == 8)
      #expect(try untimed(others, since: start).allSatisfy { $0.hasSuffix(" = the time") })
    }
  }

  @Test func `nothing is made by the name of a derived value`() throws {
    try withLibrary(["Book.csv": "author.loud\nANN\n"]) { _, packed in
      #expect(
        packed.exitCode == 65
          && packed.errors.contains(":2: no Author has \"ANN\" as loud, which is derived"),
        "\(packed.errors)")
    }
  }
}
