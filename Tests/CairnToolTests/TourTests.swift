// The Swift that the tour prints is a program that compiles, and finds what the tour shows.

import Cairn
import Foundation
import Testing

@Suite struct TourTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

  /// The blocks of code in the tour's output, which have a colour of their own.
  private func printed() throws -> [String] {
    let outcome = try Tool.run(["tour", "--color=always"])
    try #require(outcome.exitCode == 0)
    var blocks: [[String]] = []
    var isInside = false
    for line in outcome.output.split(separator: "\n", omittingEmptySubsequences: false) {
      if let code = line.wholeMatch(of: #/ {3}\u{1B}\[36m(.*)\u{1B}\[0m/#) {
        if !isInside { blocks.append([]) }
        blocks[blocks.count - 1].append(String(code.1))
      }
      isInside = line.contains("\u{1B}[36m")
    }
    return blocks.map { $0.joined(separator: "\n") }
  }

  /// Those of TourProgram.swift, without the indentation that their lines have in common.
  private func compiled() throws -> [String] {
    let text = try String(
      contentsOf: Self.folder.appendingPathComponent("TourProgram.swift"), encoding: .utf8)
    var blocks: [String] = []
    var current: [Substring]?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      switch line.trimmingCharacters(in: .whitespaces) {
      case "// begin": current = []
      case "// end":
        let lines = current ?? []
        let depth = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        blocks.append(lines.map { String($0.dropFirst(depth)) }.joined(separator: "\n"))
        current = nil
      default: current?.append(line)
      }
    }
    return blocks
  }

  @Test func `the code that the tour prints is that of a program that compiles, in its order`() throws {
    let (printed, compiled) = try (printed(), compiled())
    #expect(printed.count == 9)
    #expect(printed == compiled)
  }

  @Test func `the program finds what the tour shows`() async throws {
    let source = try Tool.executable().deletingLastPathComponent().appendingPathComponent(
      "cairn_CairnTool.resources/flights/flights.cairn")
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cairn-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let copy = folder.appendingPathComponent("flights.cairn")
    try FileManager.default.copyItem(at: source, to: copy)
    let program = TourProgram()
    try await program.run(copy)
    #expect(program.lateFlightCount == 3_824)
    #expect(program.airportCodes == ["SJC", "WSJ"])
    #expect(program.farNames == Array(repeating: "Hawaiian Airlines Inc.", count: 5))
    #expect(program.firstFigures == [.string("Frontier Airlines Inc.")])
    #expect(program.lastFigures == [.string("Alaska Airlines Inc.")])
    #expect(program.airlineName == "Delta, edited on the tour")
    #expect(program.oldName == .string("Delta Air Lines Inc."))
    #expect(program.newName == .string("Delta, edited on the tour"))
    #expect(program.sectionCount == 16)
  }

  @Test func `the tour says that it works on a copy of a file`() throws {
    let output = try Tool.run(["tour"]).output
    let first = try #require(output.components(separatedBy: "\n1  ").first)
    #expect(first.contains("an archive, a file of 1,993 kB") && first.contains("on a copy of it"))
  }
}
