// How to-many relationships stand in tables: what `cairn export` prints, and what `cairn pack` takes and refuses.

import Cairn
import Foundation
import Testing

@Suite struct ListTableTests {
  private static let model = ModelDocument(
    entities: [
      .init(
        "Book",
        properties: [
          .attribute(.init("title", .string)),
          .relationship(
            .init("chapters", to: "Chapter", inverse: "book", isOptional: true, isOrdered: true)),
          .relationship(.init("tags", to: "Tag", inverse: "books", isOptional: true, isOrdered: true)),
        ], uniquenessConstraints: [["title"]]),
      .init(
        "Chapter",
        properties: [
          .attribute(.init("text", .string)),
          .relationship(.init("book", to: "Book", inverse: "chapters", isOptional: true, maxCount: 1)),
        ]),
      .init(
        "Tag",
        properties: [
          .attribute(.init("label", .string)),
          .relationship(.init("books", to: "Book", inverse: "tags", isOptional: true)),
        ], uniquenessConstraints: [["label"]]),
    ])

  private static let tables = [
    "Book.csv": "title\r\nEmma\r\nMoby-Dick\r\n", "Tag.csv": "label\r\nsea\r\nold\r\n",
    "Chapter.csv":
      "text,book.title,book.@position\r\nLoomings,Moby-Dick,2\r\nOne,Emma,1\r\nEtymology,Moby-Dick,1\r\n",
    "Book.tags.csv":
      "Book.title,tags.label,tags.@position\r\nEmma,old,1\r\nMoby-Dick,sea,1\r\nMoby-Dick,old,2\r\n",
  ]

  /// A folder of the files and the model; `library.cairn` is packed of them, with what that said.
  private func withFiles(
    _ files: [String: String],
    _ body: (_ path: @escaping (String) -> String, _ packed: Tool.Outcome) throws -> Void
  ) throws {
    try ToolFolder.with(files) { path in
      try ModelFile.write(Self.model, to: URL(fileURLWithPath: path("Model.xcdatamodel")))
      let packed = try Tool.run(
        ["pack"] + files.keys.sorted().map(path) + [
          path("library.cairn"), "--model", path("Model.xcdatamodel"),
        ])
      try body(path, packed)
    }
  }

  @Test func `pairs are a table in CSV, and places a column beside the to-one side, both ways`() throws {
    try withFiles(Self.tables) { path, packed in
      #expect(packed.exitCode == 0 && packed.errors.isEmpty, "\(packed.errors)")
      let out = try Tool.run(["export", path("library.cairn"), "--to", path("out")])
      #expect(out.exitCode == 0 && out.errors.isEmpty)
      for (name, text) in Self.tables {
        #expect(try String(contentsOfFile: path("out") + "/\(name)", encoding: .utf8) == text, "\(name)")
      }
      let pairs = try Tool.run(["export", path("library.cairn"), "--entity", "Book.tags"])
      #expect(pairs.output == Self.tables["Book.tags.csv"] && pairs.errors.isEmpty)
      let books = try Tool.run(["export", path("library.cairn"), "--entity", "Book"])
      #expect(books.output == Self.tables["Book.csv"])
      #expect(books.errors.contains("Book.tags leads to many from many") && books.exitCode == 0)
      #expect(books.errors.contains("--entity Book.tags"))
      let which = try Tool.run(["export", path("library.cairn")])
      #expect(
        which.exitCode == 64 && which.errors.contains("--entity is one of Book, Book.tags, Chapter, Tag"))
      let wrong = try Tool.run(["export", path("library.cairn"), "--entity", "Book.chapters"])
      #expect(wrong.exitCode == 65 && wrong.errors.contains("there is no table \"Book.chapters\""))
    }
  }

  @Test func `lists are arrays in JSON, in their order, and numbers name what has nothing unique`() throws {
    try withFiles(Self.tables) { path, _ in
      let out = try Tool.run(["export", path("library.cairn"), "--format", "json"])
      #expect(out.exitCode == 0 && out.errors.isEmpty)
      #expect(
        out.output == """
          {
          "Book": [
            {"title": "Emma", "chapters.@id": [2], "tags.label": ["old"]},
            {"title": "Moby-Dick", "chapters.@id": [3, 1], "tags.label": ["sea", "old"]}
          ],
          "Chapter": [
            {"@id": 1, "text": "Loomings", "book.title": "Moby-Dick"},
            {"@id": 2, "text": "One", "book.title": "Emma"},
            {"@id": 3, "text": "Etymology", "book.title": "Moby-Dick"}
          ],
          "Tag": [
            {"label": "sea"},
            {"label": "old"}
          ]
          }

          """)
    }
  }

  @Test
  func
    `JSON's arrays may be of objects with one member, alone say what belongs together, and make what isn't`()
    throws
  {
    let input = """
      {"Book": [
        {"title": "Moby-Dick", "tags": [{"label": "sea"}, {"label": "old"}], "chapters.text": ["B", "A"]},
        {"title": "Emma", "tags": ["old"], "chapters": []},
        {"title": "Typee", "chapters.text": null}],
       "Chapter": [{"text": "A"}, {"text": "B"}]}
      """
    try withFiles(["all.json": input]) { path, packed in
      #expect(packed.exitCode == 65 && packed.errors.contains("\"chapters\" leads to Chapter; say by which"))
    }
    try withFiles(["all.json": input.replacing(#", "chapters": []"#, with: "")]) { path, packed in
      #expect(packed.exitCode == 0 && packed.errors.isEmpty, "\(packed.errors)")
      let chapters = try Tool.run(["export", path("library.cairn"), "--entity", "Chapter"])
      #expect(chapters.output == "text,book.title,book.@position\r\nA,Moby-Dick,2\r\nB,Moby-Dick,1\r\n")
      let tags = try Tool.run(["export", path("library.cairn"), "--entity", "Book.tags"])
      #expect(
        tags.output
          == "Book.title,tags.label,tags.@position\r\nMoby-Dick,sea,1\r\nMoby-Dick,old,2\r\nEmma,old,1\r\n")
    }
  }

  @Test func `rows without a place are behind those with one, in the order of the file`() throws {
    var files = Self.tables
    files["Book.tags.csv"] = "tags.label,Book.title,tags.@position\nsea,Moby-Dick,\nold,Moby-Dick,7\n"
    files["Chapter.csv"] = "text,book.title,book.@position\nA,Emma,\nB,Emma,40\nC,Emma,-3\n"
    try withFiles(files) { path, packed in
      #expect(packed.exitCode == 0, "\(packed.errors)")
      let json = try Tool.run(["export", path("library.cairn"), "--entity", "Book", "--format", "json"])
      #expect(json.output.contains(#""title": "Emma", "chapters.@id": [3, 2, 1]"#), "\(json.output)")
      #expect(json.output.contains(#""tags.label": ["old", "sea"]"#), "\(json.output)")
    }
  }

  @Test(arguments: [
    (
      "Book.tags.csv", "Book.title,tags.label\nEmma,old\nEmma,old\n",
      ":3: an object of Tag is twice in the same tags"
    ),
    ("Book.tags.csv", "Book.title,label\nEmma,old\n", "the column \"label\" is none of a table of Book.tags"),
    ("Book.tags.csv", "Book.title,tags.name\nEmma,old\n", "Tag has no attribute \"name\""),
    ("Book.tags.csv", "Book.title\nEmma\n", "a table of Book.tags has a column for each side"),
    ("Book.tags.csv", "Book.title,tags.label\n,old\n", ":2: column Book.title: no value"),
    ("Book.tags.csv", "Book.title,tags.@id\nEmma,4\n", ":2: no Tag has 4 as @id"),
    (
      "Book.tags.csv", "Book.title,tags.label,tags.@position\nEmma,old,x\n",
      ":2: column tags.@position: \"x\" is no Integer 64"
    ),
    (
      "Book.csv", "title,tags.label\nEmma,old\n",
      "an array in JSON and a table of their own, Book.tags.csv, in CSV"
    ),
    ("Book.csv", "title,tags.name\nEmma,old\n", "Tag has no attribute \"name\""),
    ("Chapter.csv", "text,@id\nA,one\n", ":2: column @id: \"one\" is no Integer 64"),
    ("Tag.csv", "label,books.@position\nA,1\n", "Book has no attribute \"@position\""),
    (
      "more.json",
      #"{"Book": [{"title": "A", "chapters.text": ["One"]}, {"title": "B", "chapters.text": ["One"]}]}"#,
      "an object of Chapter is in two lists of chapters"
    ),
    (
      "more.json", #"{"Book": [{"title": "A", "chapters.text": ["One"]}]}"#,
      ":3: column book.title: the object is in the list of another Book"
    ),
  ])
  func `tables that can't be meant so are refused with file and line`(
    name: String, text: String, message: String
  )
    throws
  {
    var files = Self.tables
    files[name] = text
    try withFiles(files) { path, packed in
      #expect(packed.exitCode == 65 && packed.errors.contains(message), "\(packed.errors)")
      #expect(!FileManager.default.fileExists(atPath: path("library.cairn")))
    }
  }

  @Test func `two rows with the same number are told apart by nobody`() throws {
    var files = Self.tables
    files["Tag.csv"] = "@id,label\n4,sea\n4,old\n"
    files["Book.tags.csv"] = "Book.title,tags.@id\nEmma,4\n"
    try withFiles(files) { path, packed in
      #expect(packed.exitCode == 65 && packed.errors.contains("several objects of Tag have \"4\" as @id"))
    }
  }

  @Test func `an exported folder's tables are fetched with the model, and without it`() throws {
    try withFiles(Self.tables) { path, _ in
      let out = try Tool.run(["export", path("library.cairn"), "--to", path("out")])
      #expect(out.exitCode == 0)
      let tables = Self.tables.keys.sorted().map { path("out") + "/\($0)" }
      let fetched = try Tool.run(
        ["fetch"] + tables + [
          "--model", path("out") + "/Model.xcdatamodel", "--entity", "Book", "--predicate",
          "ANY tags.label == 'sea' AND chapters.@count == 2", "--format", "csv",
        ])
      #expect(fetched.output == "title\r\nMoby-Dick\r\n", "\(fetched.errors)")
      let plain = try Tool.run(["fetch", path("out") + "/Book.tags.csv", "--format", "csv", "--limit", "1"])
      #expect(plain.output == "Book_title,tags_label,tags__position\r\nEmma,old,1\r\n", "\(plain.errors)")
    }
  }
}
