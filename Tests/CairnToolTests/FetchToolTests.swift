// `cairn fetch` as its users meet it: what it finds and how it prints it.

import Cairn
import Foundation
import Testing

@Suite struct FetchToolTests {
  private static let people = """
    name,age,height,member,born,zip
    Åsa,41,1.72,true,1972-02-29,00142
    "O""Neill, Jo",7,,false,2006-05-01T12:30:00+02:00,90210
    李,,1.6,true,1999-12-31T23:59:59.25Z,
    "",30,2,false,,7

    """

  private func fetch(_ arguments: String..., input: String = people) throws -> Tool.Outcome {
    try Tool.run(["fetch", "-"] + arguments, input: input)
  }

  @Test func `types are those that all values of a column have`() throws {
    let outcome = try fetch("--format", "json")
    #expect(outcome.exitCode == 0 && outcome.errors.isEmpty)
    #expect(
      outcome.output == """
        [
          {"name": "Åsa", "age": 41, "height": 1.72, "member": true, "born": "1972-02-29T00:00:00Z", "zip": "00142"},
          {"name": "O\\"Neill, Jo", "age": 7, "height": null, "member": false, "born": "2006-05-01T10:30:00Z", "zip": "90210"},
          {"name": "李", "age": null, "height": 1.6, "member": true, "born": "1999-12-31T23:59:59.25Z", "zip": null},
          {"name": "", "age": 30, "height": 2.0, "member": false, "born": null, "zip": "7"}
        ]

        """)
  }

  @Test func `CSV comes out as it went in, exactly`() throws {
    let first = try fetch("--format", "csv")
    #expect(first.output.hasPrefix("name,age,height,member,born,zip\r\n"))
    #expect(first.output.contains("\"O\"\"Neill, Jo\",7,,false,2006-05-01T10:30:00Z,90210\r\n"))
    #expect(first.output.contains("\r\n\"\",30,2.0,false,,7\r\n"))
    let second = try fetch("--format", "csv", input: first.output)
    #expect(second.output == first.output)
    let lines = try fetch("--format=json", input: "t\n\"a\nb\r\nc\"\n")
    #expect(lines.output.contains(#"{"t": "a\nb\r\nc"}"#))
  }

  @Test func `a predicate, an order and a window are those of a fetch request`() throws {
    let outcome = try fetch(
      "--predicate", "age > 5 AND member == NO OR name BEGINSWITH[cd] 'as'", "--sort", "-age,name", "--limit",
      "2",
      "--offset=1", "--properties", "name,age", "--format", "csv")
    #expect(outcome.output == "name,age\r\n\"\",30\r\n\"O\"\"Neill, Jo\",7\r\n")
  }

  @Test func `groups have figures with names, conditions and an order`() throws {
    let input = "k,x,y\na,1,1\na,5,1\nb,2,7\nc,3,\nc,9,2\nc,3,2\n"
    let outcome = try fetch(
      "--group-by", "k", "--aggregate",
      "count, sum(x) as total, max(x) - min(x) as spread, count(distinct y)",
      "--having", "count > 1 AND average(x) > 1", "--sort", "-total", "--format", "json", input: input)
    #expect(
      outcome.output == """
        [
          {"k": "c", "count": 3, "total": 15, "spread": 6, "count(distinct y)": 1},
          {"k": "a", "count": 2, "total": 6, "spread": 4, "count(distinct y)": 1}
        ]

        """)
    let all = try fetch("--aggregate", "count,average(x),median(x)", "--format", "csv", input: input)
    #expect(all.output == "count,average(x),median(x)\r\n6,3.8333333333333335,3.0\r\n")
    let distinct = try fetch(
      "--distinct", "--properties", "k", "--sort", "k", "--format", "csv", input: input)
    #expect(distinct.output == "k\r\na\r\nb\r\nc\r\n")
  }

  @Test func `a table is aligned by what characters take on a terminal, with numbers to the right`() throws {
    let input = """
      [{"word": "日本語", "n": 1}, {"word": "👩‍👩‍👧 e\u{301}x", "n": 22},
       {"word": "a\\tb\\u001b[1m", "n": -300}, {"word": null, "n": null}]
      """
    let outcome = try fetch(input: input)
    #expect(
      outcome.output == """
        word              n
        ─────────────  ────
        日本語            1
        👩‍👩‍👧 e\u{301}x            22
        a\\tb\\u{1B}[1m  -300
        –                 –
        4 rows

        """)
  }

  @Test func `JSON keeps every digit that it can`() throws {
    let input =
      #"{"N": [{"a": 9223372036854775807, "b": 0.1, "c": 1e300}, {"a": -9223372036854775808, "b": -2.5e-3}]}"#
    let outcome = try fetch("--format", "json", input: input)
    #expect(outcome.output.contains(#"{"a": 9223372036854775807, "b": 0.1, "c": 1e+300}"#))
    #expect(outcome.output.contains(#"{"a": -9223372036854775808, "b": -0.0025, "c": null}"#))
  }

  @Test func `a word can stand for no value, and titles can be given`() throws {
    let outcome = try fetch(
      "--null", "NA", "--rename", "dep delay=late,k=key", "--format", "csv", "--predicate", "late == nil",
      input: "k,dep delay,x-y\na,NA,1\nb,3,2\n")
    #expect(outcome.output == "key,late,x_y\r\na,,1\r\n")
  }

  @Test func `--explain says how the request was run, also for programs`() throws {
    let text = try fetch("--predicate", "age > 10", "--sort", "name", "--limit", "1", "--explain")
    #expect(text.exitCode == 0 && text.output.hasPrefix("Input, objects: 1 result in "))
    #expect(text.output.contains("  predicate  age > 10, on columns\n"))
    #expect(text.output.contains("  rows       4 looked at, 2 matched\n"))
    let outcome = try fetch("--predicate", "age > 10", "--explain", "--format", "json")
    let json = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    #expect(json?["storePredicate"] as? String == "age > 10" && json?["resultCount"] as? Int == 2)
  }

  @Test(arguments: [
    (["--predicate", "age >"], "Unable to parse the format string"),
    (["--predicate", "size > 1"], "size: no property of that name; its properties are: age, born"),
    (["--predicate", "age > 'x'"], "age"), (["--sort", "size"], "size"), (["--properties", "size"], "size"),
    (["--aggregate", "sum(name)"], "sum of a string"),
    (["--entity", "Person", "--aggregate", "sum("], "--aggregate sum("),
  ])
  func `a request that makes no sense is named, with exit code 65`(arguments: [String], text: String) throws {
    let outcome = try Tool.run(["fetch", "-"] + arguments, input: FetchToolTests.people)
    #expect(outcome.exitCode == 65 && outcome.output.isEmpty)
    #expect(outcome.errors.hasPrefix("cairn: ") && outcome.errors.contains(text), "\(outcome.errors)")
  }

  @Test(arguments: [
    ["fetch"], ["fetch", "-", "-"], ["fetch", "x.csv", "--limit", "many"],
    ["fetch", "x.csv", "--limit", "0"],
    ["fetch", "x.csv", "--having", "count > 1"], ["fetch", "x.csv", "--format", "xml"],
    ["fetch", "x.csv", "--colour"],
    ["fetch", "x.csv", "--sort"], ["fetch", "x.csv", "--sort", "a,,b"],
    ["fetch", "x.csv", "--sort", "a", "--sort", "b"],
    ["fetch", "x.csv", "--explain=yes"], ["fetch", "x.csv", "--explain", "--format", "csv"],
    ["fetch", "x.csv", "--rename", "a"], ["fetch", "x.csv", "--version", "2"],
    ["fetch", "x.csv", "--properties", "a", "--group-by", "a"],
  ])
  func `a wrong command line exits with 64 and the usage`(arguments: [String]) throws {
    let outcome = try Tool.run(arguments)
    #expect(outcome.exitCode == 64 && outcome.output.isEmpty && outcome.errors.contains("usage: cairn fetch"))
  }

  @Test func `the README's fetch prints what the README shows`() throws {
    let readme = try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("README.md"), encoding: .utf8)
    let lines = ["carrier,delay", "UA,20", "UA,5", "B6,-3"]
    #expect(readme.contains(lines.map { "`\($0)`" }.joined(separator: ", ")))
    let outcome = try fetch(
      "--group-by", "carrier", "--aggregate", "count, average(delay) as late", "--sort", "-late",
      input: lines.map { $0 + "\n" }.joined())
    #expect(outcome.exitCode == 0 && readme.contains("```\n\(outcome.output)```\n"), "\(outcome.output)")
    #expect(
      readme.contains(
        "cairn fetch flights.csv --group-by carrier --aggregate 'count, average(delay) as late' --sort -late\n"
      ))
  }

  @Test func `the help says that a store may be a log`() throws {
    #expect(try Tool.run(["fetch", "--help"]).output.contains("one store, an archive or a log"))
  }

  @Test func `help is asked for in three ways`() throws {
    for word in ["--help", "-h", "help"] {
      let outcome = try Tool.run(["fetch", word])
      #expect(outcome.exitCode == 0 && outcome.output.contains("usage: cairn fetch INPUT"))
    }
  }

  #if os(Linux) && canImport(Glibc)
    @Test func `a table is cut to the width of a terminal, and to nothing in a pipe`() throws {
      let input =
        "title,n\n\(String(repeating: "long ", count: 40)),1\n\(String(repeating: "書", count: 60)),22\n"
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).csv")
      try Data(input.utf8).write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      let piped = try Tool.run(["fetch", file.path])
      #expect(piped.output.contains(String(repeating: "書", count: 60)) && !piped.output.contains("…"))
      let shown = try Tool.onTerminal(["fetch", file.path], columns: 40)
      let lines = shown.split(separator: "\r\n")
      #expect(lines.count == 5 && lines[2].contains("…") && lines[3].contains("書書…"), "\(shown)")
      #expect(lines[1].count == 40 && lines[2].count == 40 && lines[2].hasSuffix(" 1"), "\(shown)")
      #expect(lines[3].hasSuffix("22"))
    }
  #endif
}
