// A program that writes to a store, for tests that need a second process: StoreWriter STORE PATH hold|commit|fork
//
// It opens the store, says "open", and then holds it until its input ends, or commits numbered commits and says the
// number of each when it is acknowledged, until it is killed; or it forks, and both go on with the store (`Forking`). An
// error goes to standard error, with exit code 1. A new store is one case more in `open`.

import CairnModel
import CairnStores
import CairnTesting
import Foundation

@main
enum StoreWriter {
  /// A store that was opened, and what it does besides commits now and then.
  private struct Opened {
    let store: any PersistentStore
    let tidy: () throws -> Void
  }

  private static func open(_ kind: String, _ path: String) throws -> Opened {
    switch kind {
    case "archive":
      let store = try ArchiveStore(at: path, model: .init(schema: NumberedCommits.schema))
      return Opened(store: store, tidy: store.compact)
    case "log":
      let store = try LogStore(at: path, model: .init(schema: NumberedCommits.schema))
      return Opened(store: store, tidy: store.compact)
    default:
      throw StoreError(.unsupportedRequest, "there is no store \"\(kind)\"")
    }
  }

  private static func say(_ line: String) throws {
    try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
  }

  private static func run(_ arguments: [String]) throws {
    guard arguments.count == 4, ["hold", "commit", "fork"].contains(arguments[3]) else {
      throw StoreError(.unsupportedRequest, "usage: StoreWriter STORE PATH hold|commit|fork")
    }
    let opened = try open(arguments[1], arguments[2])
    try say("open")
    if arguments[3] == "hold" {
      while let byte = try FileHandle.standardInput.read(upToCount: 1), !byte.isEmpty {}
      return try opened.store.close()
    }
    if arguments[3] == "fork" { return try Forking.run(opened.store, opened.tidy, say) }
    var number = try opened.store.snapshot().generation.number
    while true {
      number += 1
      _ = try opened.store.commit(try NumberedCommits.changes(number, for: opened.store))
      try say("\(number)")
      if number % 7 == 0 { try opened.tidy() }
    }
  }

  static func main() {
    do {
      try run(CommandLine.arguments)
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }
}
