// The tool as its users meet it: the built executable, run in a process of its own, its output in pipes.

import Foundation
import Testing

@Suite struct ToolTests {
  private func run(_ arguments: String...) throws -> Tool.Outcome { try Tool.run(arguments) }

  @Test(arguments: [["--help"], ["tour", "--help"], ["-h"], ["help"]])
  func `help goes to standard output, with exit code 0`(arguments: [String]) throws {
    let outcome = arguments.count == 1 ? try run(arguments[0]) : try run(arguments[0], arguments[1])
    #expect(outcome.exitCode == 0 && outcome.errors.isEmpty)
    #expect(outcome.output.contains("usage: cairn tour [--color always|never|auto]"))
    #expect(outcome.output.hasSuffix("\n"))
  }

  @Test(arguments: [
    "tour", "model", "predicate", "fetch", "pack", "info", "export", "convert", "verify", "salvage",
    "compact", "log",
  ])
  func `help for a command is the command's help`(command: String) throws {
    let outcome = try run("help", command)
    let other = try run(command, "--help")
    #expect(outcome.exitCode == 0 && outcome.output == other.output)
    #expect(outcome.output.contains("usage: cairn \(command)"))
  }

  @Test func `the version is one line`() throws {
    let outcome = try run("--version")
    #expect(outcome.exitCode == 0 && outcome.errors.isEmpty)
    #expect(outcome.output.wholeMatch(of: /cairn \d+\.\d+\.\d+\n/) != nil)
  }

  @Test(arguments: ["tuor", "--colour", "-x", "--version=1"])
  func `a wrong word is named on standard error, with exit code 64`(word: String) throws {
    let outcome = try run(word)
    #expect(outcome.exitCode == 64 && outcome.output.isEmpty)
    #expect(outcome.errors.contains(word) && outcome.errors.contains("usage:"))
  }

  @Test func `other wrong command lines exit with 64 too`() throws {
    for outcome in try [
      run(), run("tour", "--color"), run("tour", "--color", "blue"), run("tour", "now"),
      run("--version", "now"),
      run("--help", "tour"), run("help", "tuor"), run("help", "tour", "now"),
    ] {
      #expect(outcome.exitCode == 64 && outcome.output.isEmpty && outcome.errors.hasPrefix("cairn: "))
    }
  }

  /// One run for several laws: in a debug build it takes seconds.
  private static let tour = Result { try Tool.run(["tour"]) }

  @Test func `the tour in a pipe is plain text that shows all seven steps`() throws {
    let outcome = try Self.tour.get()
    #expect(outcome.exitCode == 0 && outcome.errors.isEmpty)
    #expect(!outcome.output.contains("\u{1B}") && !outcome.output.contains("\r"))
    let steps = outcome.output.split(separator: "\n").filter { $0.hasSuffix(" ms") }
    #expect(steps.map { $0.prefix(1) } == ["1", "2", "3", "4", "5", "6", "7"])
    #expect(Set(steps.map(\.count)).count == 1, "the times are aligned")
    #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
  }

  /// The figures were worked out from the tables by other means (Python).
  @Test func `the tour's figures are those of the data`() throws {
    let output = try Self.tour.get().output
    #expect(
      output.contains("Airline        16\n   Airport     1,462\n   Plane       4,043\n   Flight    336,776\n")
    )
    #expect(output.contains("3,824 of United's flights left more than an hour late"))
    #expect(output.contains("ExpressJet Airlines Inc.       54,173           15.8\n"))
    let after = try #require(output.range(of: "before            Delta Air Lines Inc.\n"))
    let rest = output[after.upperBound...]
    #expect(rest.contains(/generation \d+   Delta Air Lines Inc\.\n/))
    #expect(rest.contains(/generation \d+   Delta, edited on the tour\n/))
  }

  /// Of 342 flights one goes and one comes; one moves to the top.
  @Test func `the tour's live list reports each change at its place`() throws {
    let output = try Self.tour.get().output
    #expect(output.components(separatedBy: "Hawaiian Airlines Inc., 342 flights").count == 3)
    #expect(output.contains(/insert +HA 1 to HNL +to \[\d+, 1\]\n/))
    #expect(output.contains(/delete +HA 51 to HNL +from \[\d+, 1\]\n/))
    #expect(output.contains(/move +HA 51 to HNL +from \[\d+, 4\] +to \[\d+, 0\]\n/))
  }

  @Test func `the tour has colours when it is told to, and leaves nothing behind`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let outcome = try Tool.run(["tour", "--color=always"], temporary: folder)
    #expect(outcome.exitCode == 0)
    #expect(outcome.output.contains("\u{1B}[1m") && outcome.output.contains("\u{1B}[0m"))
    let plain = outcome.output.replacing(/\u{1B}\[\d+m/, with: "")
    #expect(plain.contains("Flight    336,776\n"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test func `output that can't be written is a failure, with exit code 1`() throws {
    let process = Process()
    process.executableURL = try Tool.executable()
    process.arguments = ["--help"]
    process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let complaint = try Tool.everything(errors.fileHandleForReading)
    process.waitUntilExit()
    #expect(process.terminationStatus == 1)
    #expect(String(decoding: complaint, as: UTF8.self).hasPrefix("cairn: "))
  }
}

/// What a wrong command line gets to see.
@Suite struct UsageErrorTests {
  @Test(arguments: [
    (["tour", "now"], "usage: cairn tour [--color always|never|auto]"),
    (["model", "draw", "x"], "usage: cairn model show|check|diff|convert …"),
    (["model", "diff", "x"], "usage: cairn model show|check|diff|convert …"),
    (["predicate"], "usage: cairn predicate 'FORMAT'"),
    (["fetch", "x.csv", "--colour"], "usage: cairn fetch"),
    (["fetch", "/dev/null", "--at", "1"], "usage: cairn fetch"), (["pack", "a.csv"], "usage: cairn pack"),
    (["info"], "usage: cairn info STORE [--json]"), (["log", "a", "b"], "usage: cairn log STORE"),
    (["export", "x", "--format", "xml"], "usage: cairn export"), (["convert", "x"], "usage: cairn convert"),
    (["verify"], "usage: cairn verify STORE"), (["salvage", "x"], "usage: cairn salvage"),
    (["compact"], "usage: cairn compact"),
  ])
  func `is the mistake, one line of usage and where the help is`(words: [String], usage: String) throws {
    let outcome = try Tool.run(words)
    let lines = outcome.errors.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(outcome.exitCode == 64 && outcome.output.isEmpty)
    #expect(
      lines.count == 4 && lines[0].hasPrefix("cairn: ") && lines[1].hasPrefix(usage), "\(outcome.errors)")
    #expect(lines[2] == "see cairn \(words[0]) --help" && lines[3].isEmpty)
    #expect(lines[1].count <= 110)
    let help = try Tool.run(["help", words[0]]).output
    let shown = lines[1].dropFirst("usage: ".count)
    #expect(shown.contains("|diff|") || help.contains(shown.hasSuffix(" …") ? shown.dropLast(2) : shown))
  }

  @Test(arguments: [[], ["tuor"], ["--colour"]])
  func `without a command the commands are named, which the help explains`(words: [String]) throws {
    let outcome = try Tool.run(words)
    let lines = outcome.errors.split(separator: "\n")
    #expect(outcome.exitCode == 64 && lines.count == 3 && lines[2] == "see cairn --help")
    let match = try #require(lines[1].wholeMatch(of: /usage: cairn (\S+) …/))
    let help = try Tool.run(["--help"]).output
    let explained = help.components(separatedBy: "commands:\n")[1].components(separatedBy: "\n\n")[0]
      .split(separator: "\n").compactMap { $0.split(separator: " ").first }
    #expect(match.1.split(separator: "|") == explained)
  }
}
