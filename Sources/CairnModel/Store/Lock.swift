// The one kind of lock in Cairn: around the pointer to a snapshot, a writer's state, a table of indexes.
//
// NSLock and not Synchronization's Mutex, because the thread sanitizer sees what goes on in pthread mutexes and
// nothing of what goes on in Mutex, whose library isn't instrumented: with it, every hand-over between threads
// would be reported as a race, and a real one would drown among them.

import Foundation

/// A value that one thread at a time may touch.
///
/// Sendable: `value` is only reached through `withLock`, which holds the lock. Not re-entrant: asking for the lock
/// while holding it waits for ever.
package final class Lock<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  package init(_ value: sending Value) {
    self.value = value
  }

  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
