// `cairn predicate` as its users meet it.

import Foundation
import Testing

@Suite struct PredicateToolTests {
  private func run(_ arguments: String...) throws -> Tool.Outcome { try Tool.run(["predicate"] + arguments) }

  @Test func `a predicate that doesn't hold exits with 0, which the help says`() throws {
    let outcome = try Tool.run(["predicate", "a > 1", "--on", #"{"a": 1}"#])
    #expect(outcome.exitCode == 0 && outcome.output.hasSuffix("\nresult: false\n"), "\(outcome.errors)")
    let help = try Tool.run(["predicate", "--help"]).output
    #expect(help.contains("exit status is 0 for a predicate that makes sense, be its result true or false"))
  }

  @Test func `a format is shown as its canonical text and its tree`() throws {
    let outcome = try run("name ==[c] %@ && ANY kids.age > 10", "--arguments", "[\"Åsa\"]")
    #expect(outcome.exitCode == 0 && outcome.errors.isEmpty)
    #expect(
      outcome.output == """
        canonical: name ==[c] "Åsa" AND ANY kids.age > 10

        AND
          ==[c]
            key path name
            string "Åsa"
          ANY >
            key path kids.age
            integer 10

        """)
  }

  @Test func `every kind of node has its line`() throws {
    let format = """
      NOT TERNARY(a > 1.5, b[FIRST], c[2]) IN {$x, SELF, YES, nil} OR SUBQUERY(kids, $k, $k.age > 1).@count > 0 OR \
      sum:(n) + 2 == FUNCTION(s, 'f:', 1) OR a UNION b == d[SIZE] OR ANYKEY == e[LAST] OR TRUEPREDICATE
      """
    let outcome = try run(format)
    #expect(outcome.exitCode == 0)
    for line in [
      "  NOT", "    IN", "conditional", "first element of", "element of, at", "list of 4", "variable $x",
      "SELF",
      "truth value 1", "constant nil", "subquery, each $k of", "key path .@count of", "function add:to:",
      "function sum:", "call f:", "union", "size of", "ANYKEY", "last element of", "TRUEPREDICATE",
      "number 1.5",
    ] {
      #expect(outcome.output.contains(line + "\n"), "\(line)")
    }
  }

  @Test func `an object says whether the predicate holds`() throws {
    let object = #"{"name": "Åsa", "nick": null, "kids": [{"age": 12}, {"age": 5}], "addr": {"zip": "123"}}"#
    for (format, answer) in [
      ("ANY kids.age > 10", true), ("ALL kids.age > 10", false), ("nick == nil AND addr.zip == '123'", true),
      ("SUBQUERY(kids, $k, $k.age < 9).@count == 1", true), ("name BEGINSWITH[cd] 'as'", true),
    ] {
      let outcome = try run(format, "--on", object)
      #expect(outcome.exitCode == 0 && outcome.output.hasSuffix("\nresult: \(answer)\n"), "\(format)")
      let line = try run(format, "--json", "--on=\(object)")
      #expect(line.output.hasSuffix("\"result\":\(answer)}\n"), "\(line.output)")
    }
  }

  @Test func `an object is read from a file`() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).json")
    try Data("[1, 2, 3]".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let outcome = try run("SELF[LAST] == 3", "--on", "@\(file.path)", "--json")
    #expect(outcome.output == #"{"canonical":"SELF[LAST] == 3","result":true}"# + "\n")
    let missing = try run("SELF == 1", "--on", "@\(file.path).none")
    #expect(missing.exitCode == 66 && missing.output.isEmpty && missing.errors.hasPrefix("cairn: "))
  }

  @Test func `output for machines is one line of JSON`() throws {
    let outcome = try run("path = \"a/b\"", "--json")
    #expect(outcome.exitCode == 0 && outcome.output == #"{"canonical":"path == \"a/b\""}"# + "\n")
  }

  @Test func `a malformed format is an error with its caret, with exit code 65`() throws {
    for arguments in [["age > AND b"], ["age > AND b", "--json"]] {
      let outcome = try Tool.run(["predicate"] + arguments)
      #expect(outcome.exitCode == 65 && outcome.output.isEmpty)
      #expect(outcome.errors.contains("\nage > AND b\n      ^\n"))
    }
  }

  @Test func `values that can't be compared and JSON that is none exit with 65 too`() throws {
    let mixed = try run("foo <= 2", "--on", #"{"foo": "2"}"#)
    #expect(mixed.exitCode == 65 && mixed.errors.contains("have no order, in: foo <= 2"))
    for outcome in try [
      run("a == 1", "--on", "{"), run("a == %@", "--arguments", "3"), run("a == %@", "--arguments", "["),
      run("a == %@"),
    ] {
      #expect(outcome.exitCode == 65 && outcome.output.isEmpty && outcome.errors.hasPrefix("cairn: "))
    }
  }

  @Test func `a wrong command line exits with 64 and the usage`() throws {
    for outcome in try [
      run(), run("a == 1", "b == 2"), run("a == 1", "--on"), run("a == 1", "--colour"),
      run("a == 1", "--on", "1", "--on", "2"),
    ] {
      #expect(outcome.exitCode == 64 && outcome.output.isEmpty)
      #expect(outcome.errors.contains("usage: cairn predicate"))
    }
    let help = try run("--help")
    #expect(help.exitCode == 0 && help.output.contains("usage: cairn predicate"))
  }

  @Test func `a key of what has none says what has some`() throws {
    let outcome = try run("a > 1", "--on", "3")
    #expect(
      outcome.exitCode == 65 && outcome.errors.contains("--on gives a value without keys: an object has some")
    )
    let object = try run("a > 1", "--on", #"{"b": 1}"#)
    #expect(!object.errors.contains("without keys"))
    #expect(try run("SELF > 1", "--on", "3").output.hasSuffix("result: true\n"))
  }

  @Test func `an empty list is called that`() throws {
    #expect(try run("a IN {}").output.contains("\n  empty list\n"))
  }

  @Test func `a chain that is too long is told what counts as a level`() throws {
    let outcome = try run("a == 1" + String(repeating: "+1", count: 200))
    #expect(outcome.exitCode == 65)
    #expect(
      outcome.errors.contains("nested deeper than 100, where each operator of a chain like 1 + 1 + 1 counts"))
  }
}
