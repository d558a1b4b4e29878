// Laws of reserving keys.

import CairnModel
import Foundation

extension StoreLaw {
  static let keys: [StoreLaw] = [
    law("keys", "reserved keys are positive, as many as asked for, and ascend from call to call") { trial in
      let root = try trial.entity("Room").id
      var last: Int64 = 0
      for count in [1, 5, 1, 1_000] {
        let range = try trial.store.reserveKeys(count, root: root)
        try expectEqual(range.count, count, "the number of keys")
        try expect(range.lowerBound > last, "the keys to be greater than \(last)", "they are \(range)")
        last = range.upperBound - 1
      }
    },
    law("keys", "no key is handed out twice, whether it was committed or lost or its row deleted") { trial in
      let lost = try trial.reserve("Room", 1)[0]
      let deleted = try trial.insert("Room")
      try trial.delete(deleted)
      let new = try trial.reserve("Room", 2)
      try expect(!new.contains(lost) && !new.contains(deleted), "new keys", "they are \(new.map(\.id))")
    },
    law(
      "keys", "keys are unique in a hierarchy: a subentity's differ from those of its ancestors and siblings"
    ) {
      trial in
      let keys =
        try trial.reserve("Person", 2) + trial.reserve("Robot", 2) + trial.reserve("Manager", 2)
        + trial.reserve("Person", 2)
      try expectEqual(Set(keys.map(\.id)).count, keys.count, "the number of different ids")
    },
    law("keys", "a row of one entity can't be found as a row of its sibling") { trial in
      let robot = try trial.insert("Robot")
      try expectEqual(try trial.ids("Person"), [], "the people")
      try expectEqual(try trial.ids("Thing"), [robot.id], "the things")
    },
    law("keys", "reserving no keys gives an empty range") { trial in
      try expect(try trial.store.reserveKeys(0, root: trial.entity("Room").id).isEmpty, "an empty range")
    },
    law("keys", "keys reserved by several threads at once are all different") { trial in
      let root = try trial.entity("Room").id
      let taken = Collected<Int64>()
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        for _ in 0..<50 { taken.add { Array(try trial.store.reserveKeys(3, root: root)) } }
      }
      let keys = try taken.result()
      try expectEqual(Set(keys).count, 8 * 50 * 3, "the number of different keys")
    },
  ]
}

/// What several threads came to, or the first error of any.
///
/// Sendable: both fields are touched with the lock held only.
final class Collected<Element>: @unchecked Sendable {
  private let lock = NSLock()
  private var elements: [Element] = []
  private var error: (any Error)?

  func add(_ body: () throws -> [Element]) {
    do {
      let new = try body()
      lock.withLock { elements += new }
    } catch {
      lock.withLock { self.error = self.error ?? error }
    }
  }

  var hasFailed: Bool { lock.withLock { error != nil } }

  func result() throws -> [Element] {
    try lock.withLock {
      if let error { throw error }
      return elements
    }
  }
}
