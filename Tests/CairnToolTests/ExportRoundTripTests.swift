// What `cairn export` writes of a graph is all of it: `cairn convert` makes the same graph of the tables again, with
// to-many relationships of every kind and the order of lists, and with every bit of every value.

import Cairn
import Foundation
import Testing

@Suite struct ExportRoundTripTests {
  @Test(arguments: Array(1...12))
  func `a graph that is exported as CSV or JSON and read again is equal, by archives and by logs`(seed: Int)
    throws
  {
    try ToolFolder.with { path in
      try LibraryGraph.make(path("a.cairn"), seed: UInt64(seed))
      let facts = try StoreFacts.all(path("a.cairn"), of: LibraryGraph.model)
      #expect(facts.count == 171)
      // Two members at least somewhere, or an order would say nothing.
      for name in [
        "tags", "works", "chapters", "sources", "friends", "follows", "followers", "mentees", "books",
      ] {
        #expect(
          facts.contains { $0.contains(".\(name) = ") && $0.split(separator: " ").count > 3 }, "\(name)")
      }
      try requireRoundTrips(facts, of: LibraryGraph.model, asLog: seed % 2 == 1, path)
    }
  }

  @Test(arguments: Array(1...12))
  func `values of every type are exported as CSV or JSON and read again bit for bit`(seed: Int) throws {
    try ToolFolder.with { path in
      try ValueGraph.make(path("a.cairn"), seed: UInt64(seed))
      let facts = try StoreFacts.all(path("a.cairn"), of: ValueGraph.model)
      try requireRoundTrips(facts, of: ValueGraph.model, asLog: seed % 2 == 1, path)
    }
  }

  @Test(arguments: Array(1...8))
  func `derived values are exported and read again, with times, and with sums in another order`(seed: Int)
    throws
  {
    try ToolFolder.with { path in
      try DerivedGraph.make(path("a.cairn"), of: DerivedGraph.model, seed: UInt64(seed)) {
        Double.random(in: -9...9, using: &$0)
      }
      let facts = try StoreFacts.all(path("a.cairn"), of: DerivedGraph.model)
      try requireRoundTrips(facts, of: DerivedGraph.model, asLog: seed % 2 == 1, path)
    }
  }

  /// By a folder of each format, and by what the command prints as one JSON.
  private func requireRoundTrips(
    _ facts: [String], of model: ModelDocument, asLog: Bool, _ path: (String) -> String
  ) throws {
    for format in ["csv", "json"] {
      let out = try Tool.run(["convert", path("a.cairn"), path(format), "--format", format])
      #expect(out.exitCode == 0 && out.errors.isEmpty, "\(out.errors)")
      let suffix = asLog ? "cairnlog" : "cairn"
      let back = try Tool.run(["convert", path(format), path("\(format).\(suffix)")])
      #expect(back.exitCode == 0 && back.errors.isEmpty, "\(back.errors)")
      let again = try StoreFacts.all(path("\(format).\(suffix)"), of: model)
      #expect(again == facts, "\(ExportRoundTripTests.difference(facts, again))")
    }
    let json = try Tool.run(["export", path("a.cairn"), "--format", "json"])
    #expect(json.exitCode == 0 && json.errors.isEmpty)
    try Data(json.output.utf8).write(to: URL(fileURLWithPath: path("all.json")))
    let packed = try Tool.run([
      "pack", path("all.json"), path("all.cairn"), "--model", path("json/Model.xcdatamodel"),
    ])
    #expect(packed.exitCode == 0 && packed.errors.isEmpty, "\(packed.errors)")
    let again = try StoreFacts.all(path("all.cairn"), of: model)
    #expect(again == facts, "\(ExportRoundTripTests.difference(facts, again))")
  }

  private static func difference(_ before: [String], _ after: [String]) -> String {
    zip(before, after).first { $0 != $1 }.map { "\($0) became \($1)" }
      ?? "\(before.count) facts became \(after.count)"
  }
}
