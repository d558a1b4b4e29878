// The commands over log stores, as their users meet them.

import Cairn
import Foundation
import Testing

@Suite struct LogToolTests {
  private static func model() -> NSManagedObjectModel {
    NSManagedObjectModel {
      NSEntityDescription("Author") {
        NSAttributeDescription("name", .string, unique: true)
        NSAttributeDescription("born", .integer32)
      }
    }
  }

  /// A log with history of three commits: two authors, another, and one of them changed; gone afterwards.
  private func withLog(_ body: (_ path: (String) -> String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cairn-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    let store = try coordinator.addPersistentStore(
      ofType: CairnLogStoreType, configurationName: nil,
      at: folder.appendingPathComponent("library.cairnlog"),
      options: [NSPersistentHistoryTrackingKey: true])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    (context.transactionAuthor, context.name) = ("importer", "books")
    try context.performAndWait {
      func add(_ name: String, _ born: Int32) -> NSManagedObject {
        let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
        author.setValue(name, forKey: "name")
        author.setValue(born, forKey: "born")
        return author
      }
      let melville = add("Melville", 1818)
      _ = add("Woolf", 1882)
      try context.save()
      _ = add("Poe", 1809)
      try context.save()
      melville.setValue(1819, forKey: "born")
      try context.save()
    }
    try coordinator.remove(store)
    try body { folder.appendingPathComponent($0).path }
  }

  @Test func `transactions are listed with who made them and what they changed`() throws {
    try withLog { path in
      let outcome = try Tool.run(["log", path("library.cairnlog")])
      #expect(outcome.exitCode == 0 && outcome.errors.isEmpty)
      let lines = outcome.output.split(separator: "\n").map(String.init)
      #expect(lines[0].hasPrefix("commit  time"))
      #expect(lines[2...4].allSatisfy { $0.contains("importer") && $0.contains("books") })
      #expect(lines.last == "3 rows")
      let newest = try Tool.run(["log", path("library.cairnlog"), "--limit", "1", "--json"])
      let json = try JSONSerialization.jsonObject(with: Data(newest.output.utf8)) as? [String: Any]
      #expect(json?["commit"] as? Int == 3 && json?["author"] as? String == "importer")
      let updated = (json?["updated"] as? [[String: Any]])?.first
      #expect(updated?["entity"] as? String == "Author" && updated?["properties"] as? [String] == ["born"])
      let rest = try Tool.run(["log", path("library.cairnlog"), "--after", "2", "--json"])
      #expect(rest.output == newest.output)
    }
  }

  @Test func `a store is fetched and exported as it was after an earlier commit`() throws {
    try withLog { path in
      func fetch(_ words: String...) throws -> String {
        try Tool.run(
          ["fetch", path("library.cairnlog"), "--sort", "name", "--format", "csv"] + words
        ).output
      }
      #expect(try fetch() == "name,born\r\nMelville,1819\r\nPoe,1809\r\nWoolf,1882\r\n")
      #expect(try fetch("--at", "1") == "name,born\r\nMelville,1818\r\nWoolf,1882\r\n")
      let export = try Tool.run(["export", path("library.cairnlog"), "--at", "2"])
      #expect(export.output.contains("Melville,1818\r\n") && export.output.contains("Poe,1809\r\n"))
      let never = try Tool.run(["fetch", path("library.cairnlog"), "--at", "9"])
      #expect(never.exitCode == 65 && !never.errors.isEmpty)
      let archive = try Tool.run(["convert", path("library.cairnlog"), path("library.cairn")])
      #expect(archive.exitCode == 0, "\(archive.errors)")
      #expect(try Tool.run(["fetch", path("library.cairn"), "--at", "1"]).exitCode == 64)
    }
  }

  @Test func `a log's files are shown, verified, compacted and salvaged`() throws {
    try withLog { path in
      let log = path("library.cairnlog")
      let info = try Tool.run(["info", log])
      #expect(info.exitCode == 0 && info.output.contains("commit      3"), "\(info.output)")
      let json = try JSONSerialization.jsonObject(
        with: Data(try Tool.run(["info", log, "--json"]).output.utf8))
      #expect((json as? [String: Any])?["generation"] as? Int == 3)
      #expect(try Tool.run(["verify", log]).output == "\(log): nothing is wrong\n")
      let compacted = try Tool.run(["compact", log])
      #expect(compacted.exitCode == 0, "\(compacted.errors)")
      #expect(try Tool.run(["verify", log]).exitCode == 0)
      let whole = try Tool.run(["salvage", log, path("saved.cairnlog")])
      #expect(whole.exitCode == 0 && whole.output.contains("nothing was lost"), "\(whole.output)")
      let manifest = URL(fileURLWithPath: log).appendingPathComponent("MANIFEST")
      var bytes = try Data(contentsOf: manifest)
      bytes[40] ^= 0xFF
      try bytes.write(to: manifest)
      let verified = try Tool.run(["verify", log])
      #expect(verified.exitCode == 65 && verified.output.contains("MANIFEST"), "\(verified.output)")
      let fetched = try Tool.run(["fetch", log])
      #expect(fetched.exitCode != 0 && fetched.errors.contains("MANIFEST"), "\(fetched.errors)")
    }
  }

  @Test func `a log opens with its model in another order, and is told in the order that it was made with`()
    throws
  {
    try withLog { path in
      let coordinator = NSPersistentStoreCoordinator(
        managedObjectModel: NSManagedObjectModel {
          NSEntityDescription("Author") {
            NSAttributeDescription("born", .integer32)
            NSAttributeDescription("name", .string, unique: true)
          }
        })
      let store = try coordinator.addPersistentStore(
        ofType: CairnLogStoreType, configurationName: nil,
        at: URL(fileURLWithPath: path("library.cairnlog")), options: [NSPersistentHistoryTrackingKey: true])
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let names = try context.fetch(request).map { $0.value(forKey: "name") as? String }
        #expect(names == ["Melville", "Poe", "Woolf"])
        let twain = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
        twain.setValue("Twain", forKey: "name")
        twain.setValue(Int32(1835), forKey: "born")
        try context.save()
      }
      try coordinator.remove(store)
      let fetched = try Tool.run(
        ["fetch", path("library.cairnlog"), "--sort", "name", "--format", "csv"]
      ).output
      #expect(fetched == "name,born\r\nMelville,1819\r\nPoe,1809\r\nTwain,1835\r\nWoolf,1882\r\n")
      let outcome = try Tool.run(["log", path("library.cairnlog"), "--after", "3", "--json"])
      let json = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
      #expect(json?["commit"] as? Int == 4)
    }
  }

  @Test func `an archive becomes a log, and a log an archive and tables`() throws {
    try withLog { path in
      #expect(try Tool.run(["convert", path("library.cairnlog"), path("a.cairn")]).exitCode == 0)
      let made = try Tool.run(["convert", path("a.cairn"), path("b.cairnlog")])
      #expect(
        made.exitCode == 0 && made.output.hasPrefix("\(path("b.cairnlog")): a log of "), "\(made.errors)")
      #expect(try Tool.run(["convert", path("b.cairnlog"), path("tables")]).exitCode == 0)
      let text = try String(contentsOfFile: path("tables") + "/Author.csv", encoding: .utf8)
      #expect(text == "name,born\r\nMelville,1819\r\nWoolf,1882\r\nPoe,1809\r\n")
      let again = try Tool.run(["convert", path("a.cairn"), path("b.cairnlog")])
      #expect(again.exitCode == 73)
    }
  }

  @Test func `where no transaction is kept, the base archive with the objects is named`() throws {
    try withLog { path in
      #expect(try Tool.run(["convert", path("library.cairnlog"), path("a.cairn")]).exitCode == 0)
      #expect(try Tool.run(["convert", path("a.cairn"), path("b.cairnlog")]).exitCode == 0)
      let text = try Tool.run(["log", path("b.cairnlog")])
      let line =
        /transactions up to 1 aren't kept: the objects as of then, 3, are in the base archive (base-\d+), written at (\S+Z)\n0 transactions\n/
      let match = try #require(text.output.wholeMatch(of: line), "\(text.output)")
      #expect(FileManager.default.fileExists(atPath: path("b.cairnlog") + "/\(match.1)"))
      let json = try Tool.run(["log", path("b.cairnlog"), "--json"])
      #expect(
        json.output == "{\"base\":\"\(match.1)\",\"keptAfter\":1,\"rows\":3,\"time\":\"\(match.2)\"}\n")
      let behind = try Tool.run(["log", path("b.cairnlog"), "--after", "1"])
      #expect(behind.output == "0 transactions after 1: the newest is 1\n")
      #expect(try Tool.run(["log", path("b.cairnlog"), "--after", "1", "--json"]).output.isEmpty)
    }
  }

  @Test func `the base archive is named before the transactions that came after it`() throws {
    try withLog { path in
      #expect(try Tool.run(["convert", path("library.cairnlog"), path("a.cairn")]).exitCode == 0)
      #expect(try Tool.run(["convert", path("a.cairn"), path("b.cairnlog")]).exitCode == 0)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
      let store = try coordinator.addPersistentStore(
        ofType: CairnLogStoreType, configurationName: nil, at: URL(fileURLWithPath: path("b.cairnlog")),
        options: nil)
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        for name in ["Twain", "Austen"] {
          let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
          author.setValue(name, forKey: "name")
          author.setValue(Int32(1835), forKey: "born")
          try context.save()
        }
      }
      try coordinator.remove(store)
      let lines = try Tool.run(["log", path("b.cairnlog"), "--json"]).output.split(separator: "\n")
      try #require(lines.count == 3)
      #expect(lines[0].contains(#""keptAfter":1"#) && lines[2].contains(#""commit":3"#))
      let text = try Tool.run(["log", path("b.cairnlog")]).output
      #expect(text.hasPrefix("transactions up to 1 aren't kept: the objects as of then, 3, "))
      #expect(text.hasSuffix("2 rows\n"))
      let newest = try Tool.run(["log", path("b.cairnlog"), "--json", "--limit", "1"]).output
      #expect(newest == "\(lines[2])\n")
    }
  }

  @Test func `an archive of a log is compared with what the log's newest state takes`() throws {
    try withLog { path in
      let outcome = try Tool.run(["pack", path("library.cairnlog"), path("a.cairn")])
      let match = try #require(
        outcome.output.wholeMatch(
          of: /\S+: 3 rows in ([\d,]+) bytes, (?:from|([\d.]+) % of) ([\d,]+) live bytes of the log\n/),
        "\(outcome.output)\(outcome.errors)")
      let info = try JSONSerialization.jsonObject(
        with: Data(try Tool.run(["info", path("library.cairnlog"), "--json"]).output.utf8))
      let live = (info as? [String: Any])?["liveBytes"] as? Int
      #expect(Int(match.3.replacing(",", with: "")) == live)
      #expect((match.2 == nil) == (Int(match.1.replacing(",", with: "")) ?? 0 > live ?? 0))
    }
  }

  @Test func `what is no log says what it is instead`() throws {
    try withLog { path in
      #expect(try Tool.run(["convert", path("library.cairnlog"), path("a.cairn")]).exitCode == 0)
      for (word, code) in [("a.cairn", 65), ("nothing", 66)] {
        let outcome = try Tool.run(["log", path(word)])
        #expect(outcome.exitCode == Int32(code) && outcome.errors.contains(word), "\(outcome.errors)")
      }
    }
  }

  @Test func `an archive, a folder of tables and a table are called so, and say what reads them`() throws {
    try withLog { path in
      #expect(try Tool.run(["convert", path("library.cairnlog"), path("a.cairn")]).exitCode == 0)
      #expect(try Tool.run(["convert", path("a.cairn"), path("tables")]).exitCode == 0)
      for (word, parts) in [
        ("a.cairn", ["is an archive", "cairn info", "cairn convert"]),
        ("tables", ["is a folder of CSV or JSON files", "cairn fetch", "cairn convert"]),
        ("tables/Author.csv", ["is a CSV file", "cairn fetch", "cairn pack"]),
      ] {
        let outcome = try Tool.run(["log", path(word)])
        #expect(outcome.exitCode == 65 && outcome.output.isEmpty)
        #expect(outcome.errors.hasPrefix("cairn: \(path(word)) is a"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("corrupt"))
        for part in parts + ["only a log keeps transactions"] {
          #expect(outcome.errors.contains(part), "\(part) in \(outcome.errors)")
        }
      }
      // What may have been a log is still told as a damaged one.
      try FileManager.default.removeItem(atPath: path("library.cairnlog") + "/MANIFEST")
      let damaged = try Tool.run(["log", path("library.cairnlog")])
      #expect(damaged.exitCode == 65 && damaged.errors.contains("MANIFEST"), "\(damaged.errors)")
    }
  }

  @Test(arguments: [
    ["log"], ["log", "a", "b"], ["log", "a", "--limit", "0"], ["log", "a", "--after", "x"],
  ])
  func `wrong command lines exit with 64`(words: [String]) throws {
    let outcome = try Tool.run(words)
    #expect(outcome.exitCode == 64 && outcome.errors.contains("usage: cairn log"))
  }
}
