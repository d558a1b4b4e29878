// The calls that a simulated file system gets, numbered, and what can be made to go wrong with them.

import CairnModel
import Foundation

/// One call, as a fault script and a failure's report see it.
package struct SimulatedOperation: Sendable, CustomStringConvertible {
  /// The raw values are what errors call the operations.
  package enum Kind: String, Sendable {
    case open, create
    case read
    case write = "write to"
    case truncate = "change the size of"
    case preallocate = "reserve space for"
    case sync, close, lock, unlock, rename, remove, list
    case makeDirectory = "make the directory"
    case removeDirectory = "remove the directory"
    case syncDirectory = "sync the directory"
    case information = "look at"
    case resolve = "follow the links of"
    case setPermissions = "change the permissions of"

    /// Whether it can make a difference to what a crash leaves.
    package var isChange: Bool {
      switch self {
      case .create, .write, .truncate, .preallocate, .sync, .rename, .remove, .makeDirectory,
        .removeDirectory, .syncDirectory, .setPermissions:
        true
      case .open, .read, .close, .lock, .unlock, .list, .information, .resolve: false
      }
    }

    /// Whether a medium without room can refuse it.
    var takesSpace: Bool {
      switch self {
      case .create, .write, .preallocate, .sync, .rename, .makeDirectory: true
      default: false
      }
    }
  }

  /// From 0, in the order of the calls.
  package let number: Int
  package let kind: Kind
  package let path: String
  package var offset: UInt64 = 0
  package var byteCount = 0

  package var description: String {
    switch kind {
    case .read, .write: "operation \(number): \(kind.rawValue) \(path), \(byteCount) bytes at \(offset)"
    case .truncate, .preallocate: "operation \(number): \(kind.rawValue) \(path) to \(offset)"
    default: "operation \(number): \(kind.rawValue) \(path)"
    }
  }
}

/// What goes wrong with an operation.
package enum SimulatedFault: Sendable, Hashable {
  /// It fails and has no effect. A sync that fails gives up what it should have made durable: a crash may lose it,
  /// and the next sync "succeeds" without it.
  case error(Int32)
  /// Half of the bytes are written or read, then it fails. Elsewhere as `error`.
  case partial(Int32)
  /// The system takes half of the bytes at first. Elsewhere nothing.
  case short
  /// A signal interrupts it at first. It is tried again, so that nobody should notice.
  case interrupted
  /// The power fails before it: this operation and all later ones throw `SimulatedCrash`.
  case crash

  /// Whether it can happen to such an operation.
  package func fits(_ kind: SimulatedOperation.Kind) -> Bool {
    switch self {
    case .short, .interrupted: kind == .read || kind == .write
    case .partial(let reason):
      kind == .write || kind == .read && reason != ENOSPC && reason != EDQUOT
    case .error(let reason): reason == ENOSPC || reason == EDQUOT ? kind.takesSpace : true
    case .crash: true
    }
  }
}

/// Thrown by everything that is asked of a simulated file system after its crash. It isn't a `StoreError`: no store
/// can tell anyone that the power has failed.
package struct SimulatedCrash: Error {
  package init() {}
}
