// Puts on the medium what was written, once for all who wait for it: the first to wait syncs, the others wait for that.

import CairnModel
import Foundation

/// What of a log is on the medium, and the one sync that is under way.
///
/// A sync that failed is never tried again, because a later one proves nothing: everything after it throws until the
/// store is opened again.
final class LogSyncer: Sendable {
  fileprivate struct State {
    var file: (any OpenFile)?
    var written: UInt64
    var durable: UInt64
    var isSyncing = false
    /// Of those who wait for the sync under way.
    var waiters: [DispatchSemaphore] = []
    var failure: StoreError?
  }

  private let state: Lock<State>
  /// Called once, when something has failed.
  private let noteFailure: @Sendable () -> Void

  /// Everything up to `sequence` is taken for durable.
  init(durableThrough sequence: UInt64, noteFailure: @escaping @Sendable () -> Void = {}) {
    state = Lock(State(file: nil, written: sequence, durable: sequence))
    self.noteFailure = noteFailure
  }

  /// The sequence up to which everything is known to be on the medium.
  var durable: UInt64 { state.withLock { $0.durable } }
  var hasUnsynced: Bool { state.withLock { $0.durable < $0.written } }
  var failure: StoreError? { state.withLock { $0.failure } }

  /// From here on `file` is written. Nothing that another has may be unsynced.
  func use(_ file: (any OpenFile)?) { state.withLock { $0.file = file } }

  func noteWritten(_ sequence: UInt64) { state.withLock { $0.written = max($0.written, sequence) } }

  /// What else is known to be on the medium: a new file that was synced as a whole.
  func noteDurable(_ sequence: UInt64) {
    state.withLock {
      $0.written = max($0.written, sequence)
      $0.durable = max($0.durable, sequence)
    }
  }

  /// From here on everything throws.
  func fail(_ error: any Error) {
    if state.withLock({ $0.fail(error) }) { noteFailure() }
  }

  /// Throws why nothing can be written any more.
  func requireWorking() throws { if let failure { throw failure } }

  /// Returns when frame `sequence` is on the medium. Throws `outcomeUnknown` where nobody can tell.
  func wait(for sequence: UInt64) throws {
    try run { $0.durable >= sequence }
  }

  /// Syncs the file whatever is known of it, once nobody else does.
  func syncNow() throws {
    var isFirst = true
    try run { _ in
      defer { isFirst = false }
      return !isFirst
    }
  }

  private enum Turn {
    case done
    case wait(DispatchSemaphore)
    case sync((any OpenFile)?, UInt64)
  }

  /// `isDone` is asked with the lock held, when nobody syncs; where it says no, this thread does.
  private func run(until isDone: (State) -> Bool) throws {
    while true {
      let turn = try state.withLock { state -> Turn in
        if state.isSyncing {
          let semaphore = DispatchSemaphore(value: 0)
          state.waiters.append(semaphore)
          return .wait(semaphore)
        }
        if let failure = state.failure { throw failure }
        if isDone(state) { return .done }
        state.isSyncing = true
        return .sync(state.file, state.written)
      }
      switch turn {
      case .done: return
      case .wait(let semaphore): semaphore.wait()
      case .sync(let file, let target): sync(file, target)
      }
    }
  }

  private func sync(_ file: (any OpenFile)?, _ target: UInt64) {
    let result = Result { try file?.sync() }
    if case .failure(let error) = result { fail(error) }
    let waiters = state.withLock { state in
      state.isSyncing = false
      if case .success = result { state.durable = max(state.durable, target) }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.signal() }
  }
}

extension LogSyncer.State {
  /// False where something had failed before.
  fileprivate mutating func fail(_ error: any Error) -> Bool {
    if failure != nil { return false }
    let cause = error as? StoreError
    failure = StoreError(
      .outcomeUnknown,
      "what was saved last may not survive a power cut, and nothing is saved any more: "
        + (cause?.message ?? "\(error)"), file: cause?.file,
      remedy: "close the store and open it again: it then has what the medium has",
      systemError: cause?.systemError)
    return true
  }
}
