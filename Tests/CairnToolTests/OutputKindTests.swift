// What commands make of a path that isn't there yet: its suffix says it, or it is refused.

import Foundation
import Testing

@Suite struct OutputKindTests {
  private func withArchive(_ body: (_ path: @escaping (String) -> String) throws -> Void) throws {
    try ToolFolder.with(["flights.csv": "carrier,delay\nUA,20\nB6,-3\n"]) { path in
      let packed = try Tool.run(["pack", path("flights.csv"), path("a.cairn")])
      try #require(packed.exitCode == 0, "\(packed.errors)")
      try body(path)
    }
  }

  private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  @Test(arguments: ["x.log", "x.sqlite", "v1.2", "x.cairnlogs"])
  func `a suffix that says nothing is refused, and nothing is made`(name: String) throws {
    try withArchive { path in
      let outcome = try Tool.run(["convert", path("a.cairn"), path(name)])
      #expect(outcome.exitCode == 64 && outcome.output.isEmpty && !isThere(path(name)))
      for part in [
        "suffix .\(URL(fileURLWithPath: name).pathExtension) ", ".cairn is an archive", ".cairnlog a log",
        "without a suffix a folder", "--as log",
      ] {
        #expect(outcome.errors.contains(part), "\(outcome.errors)")
      }
    }
  }

  @Test func `--as says what a name with another suffix is`() throws {
    try withArchive { path in
      let log = try Tool.run(["convert", path("a.cairn"), path("x.log"), "--as", "log"])
      #expect(log.exitCode == 0, "\(log.errors)")
      #expect(try Tool.run(["verify", path("x.log")]).output.contains("nothing is wrong"))
      #expect(isThere(path("x.log/MANIFEST")))
      let archive = try Tool.run(["convert", path("x.log"), path("y"), "--as=archive"])
      #expect(archive.exitCode == 0, "\(archive.errors)")
      let folder = try Tool.run(["convert", path("y"), path("v1.2"), "--as=folder"])
      #expect(folder.exitCode == 0 && isThere(path("v1.2/flights.csv")), "\(folder.errors)")
      let slash = try Tool.run(["convert", path("y"), path("v1.3") + "/"])
      #expect(slash.exitCode == 0 && isThere(path("v1.3/flights.csv")), "\(slash.errors)")
    }
  }

  @Test func `--as can't contradict a suffix that says something`() throws {
    try withArchive { path in
      let outcome = try Tool.run(["convert", path("a.cairn"), path("x.cairn"), "--as", "log"])
      #expect(outcome.exitCode == 64 && outcome.errors.contains("x.cairn ends as an archive does"))
      #expect(!isThere(path("x.cairn")))
      let unknown = try Tool.run(["convert", path("a.cairn"), path("x.log"), "--as", "sqlite"])
      #expect(unknown.exitCode == 64 && unknown.errors.contains("--as is one of archive, log, folder"))
    }
  }

  @Test func `commands that make one kind of thing refuse the suffix of another`() throws {
    try withArchive { path in
      try #require(try Tool.run(["convert", path("a.cairn"), path("b.cairnlog")]).exitCode == 0)
      for (words, target, text) in [
        (["pack", path("a.cairn"), path("x.cairnlog")], "x.cairnlog", "ends as a log does"),
        (["pack", path("flights.csv"), path("planes.csv")], "planes.csv", "as in planes.cairn"),
        (["export", path("a.cairn"), "--to", path("x.cairn")], "x.cairn", "ends as an archive does"),
        (["salvage", path("a.cairn"), path("x.cairnlog")], "x.cairnlog", "end it in .cairn"),
        (["salvage", path("b.cairnlog"), path("x.cairn")], "x.cairn", "end it in .cairnlog"),
      ] {
        let outcome = try Tool.run(words)
        #expect(outcome.exitCode == 64 && outcome.errors.contains(text), "\(outcome.errors)")
        #expect(!isThere(path(target)))
      }
    }
  }
}
