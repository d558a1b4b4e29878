// What a process does with a store that it has open when it forks, and what its child does. Something else to try is one
// line more in `attempts`.

import CairnModel
import CairnStores
import CairnTesting
import Foundation

enum Forking {
  /// Makes commit 1 and forks. The child tries everything that writes, says of each what came of it, reads, and closes.
  /// When it has ended, the parent says "alone", waits for its input to end, makes commit 2 and closes.
  static func run(
    _ store: any PersistentStore, _ tidy: @escaping () throws -> Void, _ say: (String) throws -> Void
  ) throws {
    _ = try store.commit(try NumberedCommits.changes(1, for: store))
    let child = try fork()
    if child == 0 {
      do {
        try beChild(store, tidy, say)
        _exit(0)
      } catch {
        _exit(1)
      }
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) == -1 && errno == EINTR {}
    guard status == 0 else { throw StoreError(.unsupportedRequest, "the child ended with \(status)") }
    try say("alone")
    while let byte = try FileHandle.standardInput.read(upToCount: 1), !byte.isEmpty {}
    _ = try store.commit(try NumberedCommits.changes(2, for: store))
    try store.close()
  }

  private static func beChild(
    _ store: any PersistentStore, _ tidy: @escaping () throws -> Void, _ say: (String) throws -> Void
  ) throws {
    let item = NumberedCommits.schema.entities[0].id
    let attempts: [(String, () throws -> Void)] = [
      ("reserve", { _ = try store.reserveKeys(1, root: item) }),
      ("commit", { _ = try store.commit(ChangeSet()) }),
      ("compact", tidy),
      ("purge", { try store.purgeHistory(through: Generation(1)) }),
      ("refresh", { _ = try (store as? LogStore)?.refresh() }),
      ("read", { _ = try store.rows([RowKey(entity: item, id: 1)], in: store.snapshot()) }),
      ("close", { try store.close() }),
    ]
    for (name, attempt) in attempts {
      do {
        try attempt()
        try say("\(name): done")
      } catch let error as StoreError {
        try say("\(name): \(error.code)")
      }
    }
  }

  /// Swift hides the system's call, because what other threads hold stays held in the child for ever: here there are
  /// none but idle ones of a queue.
  private static func fork() throws -> Int32 {
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "fork") else {
      throw StoreError(.unsupportedRequest, "the system has no fork")
    }
    return unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)()
  }
}
