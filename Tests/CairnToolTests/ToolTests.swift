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
    "compact",
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

  @Test func `the tour in a pipe is plain text that shows all six steps`() throws {
    let outcome = try run("tour")
    #expect(outcome.exitCode == 0 && outcome.errors.isEmpty)
    #expect(!outcome.output.contains("\u{1B}") && !outcome.output.contains("\r"))
    let steps = outcome.output.split(separator: "\n").filter { $0.hasSuffix(" ms") }
    #expect(steps.map { $0.prefix(1) } == ["1", "2", "3", "4", "5", "6"])
    #expect(Set(steps.map(\.count)).count == 1, "the times are aligned")
    #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
  }

  /// The figures were worked out from the tables by other means (awk).
  @Test func `the tour's figures are those of the data`() throws {
    let output = try run("tour").output
    #expect(
      output.contains("Airline       16\n   Airport    1,462\n   Plane      3,861\n   Flight    27,004\n"))
    #expect(output.contains("194 of United's flights left more than an hour late"))
    #expect(output.contains("ExpressJet Airlines Inc.        4,171           25.2\n"))
    let after = try #require(output.range(of: "before            Delta Air Lines Inc.\n"))
    #expect(output[after.upperBound...].contains("generation 1   Delta Air Lines Inc.\n"))
    #expect(output[after.upperBound...].contains("generation 2   Delta, edited on the tour\n"))
  }

  @Test func `the tour has colours when it is told to`() throws {
    let outcome = try run("tour", "--color=always")
    #expect(outcome.exitCode == 0)
    #expect(outcome.output.contains("\u{1B}[1m") && outcome.output.contains("\u{1B}[0m"))
    let plain = outcome.output.replacing(/\u{1B}\[\d+m/, with: "")
    #expect(plain.contains("Flight    27,004\n"))
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
