// What `cairn export` writes of a graph is all of it: `cairn convert` makes the same graph of the tables again, with
// to-many relationships of every kind and the order of lists.

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
      let facts = try LibraryGraph.facts(path("a.cairn"))
      #expect(facts.count == 171)
      // Two members at least somewhere, or an order would say nothing.
      for name in [
        "tags", "works", "chapters", "sources", "friends", "follows", "followers", "mentees", "books",
      ] {
        #expect(
          facts.contains { $0.contains(".\(name) = ") && $0.split(separator: " ").count > 3 }, "\(name)")
      }
      for format in ["csv", "json"] {
        let out = try Tool.run(["convert", path("a.cairn"), path(format), "--format", format])
        #expect(out.exitCode == 0 && out.errors.isEmpty, "\(out.errors)")
        let suffix = seed % 2 == 0 ? "cairn" : "cairnlog"
        let back = try Tool.run(["convert", path(format), path("\(format).\(suffix)")])
        #expect(back.exitCode == 0 && back.errors.isEmpty, "\(back.errors)")
        let again = try LibraryGraph.facts(path("\(format).\(suffix)"))
        #expect(again == facts, "\(zip(facts, again).first { $0 != $1 }.map { "\($0) became \($1)" } ?? "")")
      }
      // What the command prints as one JSON is packed to the same.
      let json = try Tool.run(["export", path("a.cairn"), "--format", "json"])
      #expect(json.exitCode == 0 && json.errors.isEmpty)
      try Data(json.output.utf8).write(to: URL(fileURLWithPath: path("all.json")))
      let packed = try Tool.run([
        "pack", path("all.json"), path("all.cairn"), "--model", path("json/Model.xcdatamodel"),
      ])
      #expect(packed.exitCode == 0 && packed.errors.isEmpty, "\(packed.errors)")
      #expect(try LibraryGraph.facts(path("all.cairn")) == facts)
    }
  }
}
