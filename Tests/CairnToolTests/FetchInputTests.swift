// What `cairn fetch` reads: models, relationships, and input that makes no sense.

import Cairn
import Foundation
import Testing

@Suite struct FetchInputTests {
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
          .attribute(.init("copies", .integer32, isOptional: true, defaultValue: 1)),
          .attribute(.init("isSold", .boolean, isOptional: true)),
          .attribute(.init("id", .uuid, isOptional: true)),
          .relationship(.init("author", to: "Author", inverse: "books", isOptional: true, maxCount: 1)),
        ]),
    ])

  private static let authors = "name,born\nMelville,1819-08-01\nWoolf,1882-01-25\n"
  private static let books = """
    title,page_count,price,isSold,author.name
    Moby-Dick,635,12.30,yes,Melville
    Orlando,334,0.1,0,Woolf
    Anonymous,,,,
    Emma,474,9.99,no,Austen

    """

  /// A folder with the model and the files, which is gone afterwards.
  private func withFiles(
    _ files: [String: String], _ body: (_ path: (String) -> String) throws -> Void
  ) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cairn-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try ModelFile.write(FetchInputTests.model, to: folder.appendingPathComponent("Model.xcdatamodel"))
    for (name, text) in files { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
    try body { folder.appendingPathComponent($0).path }
  }

  @Test func `to-one relationships are found by an attribute, in whatever order the files come`() throws {
    try withFiles(["authors.csv": Self.authors, "books.csv": Self.books]) { path in
      for inputs in [["authors.csv", "books.csv"], ["books.csv", "authors.csv"]] {
        let outcome = try Tool.run(
          ["fetch"] + inputs.map(path) + [
            "--model", path("Model.xcdatamodel"), "--entity", "Book", "--sort", "author.born,title",
            "--properties", "title,pageCount,price,copies,isSold,author.name,author.born", "--format", "csv",
          ])
        #expect(
          outcome.output == """
            title,pageCount,price,copies,isSold,author.name,author.born\r
            Anonymous,,,1,,,\r
            Emma,474,9.99,1,false,Austen,\r
            Moby-Dick,635,12.3,1,true,Melville,1819-08-01T00:00:00Z\r
            Orlando,334,0.1,1,false,Woolf,1882-01-25T00:00:00Z\r

            """, "\(outcome.errors)")
      }
      let counts = try Tool.run([
        "fetch", path("authors.csv"), path("books.csv"), "--model", path("Model.xcdatamodel"), "--entity",
        "Author",
        "--predicate", "books.@count == 1 AND ANY books.pageCount > 400", "--properties", "name", "--sort",
        "name",
        "--format", "csv",
      ])
      #expect(counts.output == "name\r\nAusten\r\nMelville\r\n", "what no file has is made: \(counts.errors)")
    }
  }

  @Test func `JSON has one array an entity, and relationships as objects or by path`() throws {
    let input = """
      {"Book": [{"title": "Moby-Dick", "author": {"name": "Melville"}}, {"title": "Typee", "author.name": "Melville",
        "copies": null, "id": "6FA459EA-EE8A-3CA4-894E-DB77E160355E", "price": 1.10}],
       "Author": [{"name": "Melville"}]}
      """
    try withFiles(["all.json": input]) { path in
      let outcome = try Tool.run([
        "fetch", path("all.json"), "--model", path("Model.xcdatamodel"), "--entity", "Book", "--sort",
        "title",
        "--properties", "title,copies,author.name,id,price", "--format", "json",
      ])
      #expect(
        outcome.output == """
          [
            {"title": "Moby-Dick", "copies": 1, "author.name": "Melville", "id": null, "price": null},
            {"title": "Typee", "copies": null, "author.name": "Melville", "id": "6FA459EA-EE8A-3CA4-894E-DB77E160355E", "price": 1.1}
          ]

          """, "\(outcome.errors)")
    }
  }

  @Test(arguments: [
    (
      "title,pageCount\nA,1\nB,40000\n", ":3: column pageCount: \"40000\" is no Integer 16",
      "from -32768 to 32767"
    ),
    ("title,price\nA,cheap\n", ":2: column price: \"cheap\" is no Decimal", "Book.price"),
    ("title,isSold\nA,maybe\n", ":2: column isSold: \"maybe\" is no Boolean", "true, false"),
    ("title,id\nA,1\n", ":2: column id: \"1\" is no UUID", "a UUID"),
    ("title,pageCount\nA,1\n,2\n", ":3: column title: no value, which Book.title has to have", ""),
    ("pageCount\n1\n", "Book.title has to have a value, and there is no column for it", ""),
    ("title,title\nA,B\n", ":1: two columns are called \"title\"", ""),
    ("title,pageCount,page_count\nA,1,2\n", "are both Book.pageCount", ""),
    ("title,author.age\nA,1\n", "Author has no attribute \"age\"", ""),
    ("title,pageCount\nA\n", ":2: 1 field, where the header has 2", ""),
    ("title,pageCount\nA,1,2\n", ":2: 3 fields, where the header has 2", ""),
    ("title,pageCount\n\"A,1\nB,2\n", ":2: a quote that nothing closes", ""),
    ("title,pageCount\n\"A\"x,1\n", ":2: text behind a closing quote", ""),
    ("title\n\n", ":2: column title: no value", ""), ("", "it has no header", ""),
    ("title\nA\u{0}\n", ":2: a zero byte", ""),
  ])
  func `input that doesn't fit is named by file, line, column, value and type`(
    text: String, message: String, more: String
  ) throws {
    try withFiles(["books.csv": text]) { path in
      let outcome = try Tool.run([
        "fetch", path("books.csv"), "--model", path("Model.xcdatamodel"), "--entity=Book",
      ])
      #expect(outcome.exitCode == 65 && outcome.output.isEmpty)
      let errors = outcome.errors
      #expect(errors.hasPrefix("cairn: \(path("books.csv"))"), "\(errors)")
      #expect(errors.contains(message) && (more.isEmpty || errors.contains(more)), "\(errors)")
    }
  }

  @Test(arguments: [
    ("[{\"a\": 1,}]", ":1:10: a member's name belongs here"),
    ("[1]", ":1: an element of the array is no object"),
    ("{\"A\": 1}", ":1: \"A\" is no array of objects"), ("[{\"a\": 01}]", ":1:10: 01 is no number"),
    ("[{\"a\": \"\\ud800\"}]", "half of a character"), ("[{\"a\": 1, \"a\": 2}]", "is there twice"),
    ("[{\"a\": 1}", ":1:10: a comma or a closing bracket belongs here"),
    ("[{\"a\": [1]}]", "no attribute holds"),
    (String(repeating: "[", count: 100_000), "nested deeper"),
    ("[\n{\"a\": tru}]", ":2:7: no JSON value begins so"),
  ])
  func `JSON that is none is named by line and column`(text: String, message: String) throws {
    let outcome = try Tool.run(["fetch", "-"], input: text)
    #expect(outcome.exitCode == 65 && outcome.errors.contains(message), "\(outcome.errors)")
  }

  @Test func `JSON doesn't take a string for a number, or a number for a string`() throws {
    for (input, message) in [
      (#"[{"title": "A", "pageCount": "12"}]"#, ":1: column pageCount: \"12\" is no Integer 16"),
      (#"[{"title": 12}]"#, ":1: column title: \"12\" is no String"),
      (#"[{"title": "A", "isSold": 1.5}]"#, ":1: column isSold: \"1.5\" is no Boolean"),
    ] {
      try withFiles(["books.json": input]) { path in
        let outcome = try Tool.run([
          "fetch", path("books.json"), "--model", path("Model.xcdatamodel"), "--entity=Book",
        ])
        #expect(outcome.exitCode == 65 && outcome.errors.contains(message), "\(outcome.errors)")
      }
    }
  }

  @Test func `two rows that have to differ are both named`() throws {
    try withFiles(["authors.csv": "name\nMelville\nWoolf\nMelville\n"]) { path in
      let file = path("authors.csv")
      let outcome = try Tool.run(["fetch", file, "--model", path("Model.xcdatamodel"), "--entity=Author"])
      #expect(outcome.exitCode == 65)
      #expect(
        outcome.errors.contains("\(file):2 and \(file):4: two objects of Author have name \"Melville\""))
    }
  }

  @Test func `a column that the entity hasn't is left out, with a warning`() throws {
    try withFiles(["books.csv": "title,colour\nA,red\n"]) { path in
      let outcome = try Tool.run([
        "fetch", path("books.csv"), "--model", path("Model.xcdatamodel"), "--entity=Book",
        "--properties=title",
        "--format=csv",
      ])
      #expect(outcome.exitCode == 0 && outcome.output == "title\r\nA\r\n")
      #expect(
        outcome.errors.contains("warning: ") && outcome.errors.contains("Book has no property \"colour\""))
    }
  }

  @Test func `entities are named by files, by the command line, or asked for`() throws {
    try withFiles(["list.csv": Self.authors, "books.csv": Self.books]) { path in
      let model = ["--model", path("Model.xcdatamodel"), "--format=csv", "--aggregate", "count"]
      let named = try Tool.run(
        ["fetch", "Author=" + path("list.csv"), path("books.csv"), "--entity", "Author"] + model)
      #expect(named.output == "count\r\n3\r\n", "\(named.errors)")
      let unknown = try Tool.run(
        ["fetch", path("list.csv"), path("books.csv"), "--entity", "Author"] + model)
      #expect(unknown.exitCode == 64 && unknown.errors.contains("of which entity? write it before the path"))
      let none = try Tool.run(["fetch", path("books.csv")] + model)
      #expect(none.exitCode == 64 && none.errors.contains("--entity is one of Author, Book"))
      let wrong = try Tool.run(["fetch", path("books.csv"), "--entity", "Shelf"] + model)
      #expect(
        wrong.exitCode == 65 && wrong.errors.contains("there is no entity \"Shelf\": there are Author, Book"))
    }
  }

  @Test(arguments: ["class", "description", "hash", "objectID"])
  func `a column that no property can be called after is named with the option that calls it differently`(
    title: String
  ) throws {
    try withFiles(["trains.csv": "\(title),\(title)_,n\nICE,1,2\n"]) { path in
      for command in [["fetch", path("trains.csv")], ["pack", path("trains.csv"), path("trains.cairn")]] {
        let refused = try Tool.run(command)
        #expect(refused.exitCode == 65 && refused.errors.split(separator: "\n").count == 1)
        let match = try #require(
          refused.errors.firstMatch(
            of: /trains\.csv: no property can be called "(\w+)".* as in --rename '(\S+)'\n/),
          "\(refused.errors)")
        #expect(match.1 == title && match.2 == "\(title)=\(title)__")
        let done = try Tool.run(command + ["--rename", String(match.2)])
        #expect(done.exitCode == 0, "\(done.errors)")
      }
      let fetched = try Tool.run(["fetch", path("trains.cairn"), "--format", "csv"])
      #expect(fetched.output == "\(title)__,\(title)_,n\r\nICE,1,2\r\n")
    }
  }

  @Test(arguments: [
    ["--predicate", "author.nmae == 'x'"], ["--sort", "-author.nmae"], ["--properties", "title,author.nmae"],
    ["--aggregate", "max(author.nmae)"], ["--group-by", "author.nmae"],
  ])
  func `a step of a key path that isn't there is named with its entity and the whole path`(words: [String])
    throws
  {
    try withFiles(["books.csv": Self.books]) { path in
      let outcome = try Tool.run(
        ["fetch", path("books.csv"), "--model", path("Model.xcdatamodel"), "--entity", "Book"] + words)
      #expect(outcome.exitCode == 65)
      for part in ["Author.nmae: ", "author.nmae", "its properties are: "] {
        #expect(outcome.errors.contains(part), "\(outcome.errors)")
      }
    }
  }

  @Test func `a key path of two relationships is named whole, also in a subquery and from its variable`()
    throws
  {
    try withFiles(["books.csv": Self.books]) { path in
      let file = path("books.csv")
      for (entity, predicate, key, from) in [
        ("Book", "ANY author.books.tilte == 'x'", "author.books.tilte", "Book"),
        ("Author", "SUBQUERY(books, $b, $b.author.nmae == 'x').@count > 0", "$b.author.nmae", "Book"),
        ("Author", "ANY books.author.nmae == 'x'", "books.author.nmae", "Author"),
        ("Book", "author.name.first == 'x'", "author.name.first", "Book"),
      ] {
        let outcome = try Tool.run([
          "fetch", file, "--model", path("Model.xcdatamodel"), "--entity", entity, "--predicate", predicate,
        ])
        #expect(outcome.exitCode == 65)
        #expect(
          outcome.errors.contains(", in the key path \(key) from \(from)"), "\(predicate): \(outcome.errors)")
      }
    }
  }

  @Test func `what can't be read exits with 66`() throws {
    let folder = FileManager.default.temporaryDirectory
    let missing = try Tool.run(["fetch", folder.appendingPathComponent("\(UUID().uuidString).csv").path])
    #expect(missing.exitCode == 66 && missing.errors.contains("there is no such file"))
    let directory = try Tool.run(["fetch", folder.path])
    #expect(directory.exitCode == 66 && directory.errors.contains("it is a folder"))
    let model = try Tool.run(["fetch", "-", "--model", "/no/such/Model.momd"], input: "a\n1\n")
    #expect(model.exitCode == 66 && model.errors.contains("there is no such file"))
    let empty = try Tool.run(["fetch", "/dev/null"])
    #expect(empty.exitCode == 65 && empty.errors.contains("/dev/null: it has no header"))
  }
}
