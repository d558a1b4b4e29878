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
    /// How many threads the last sync was for, and how long it took: as many will be there soon.
    var crowd = 1
    var duration = Duration.zero
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

  /// From here on `file` is written. Nothing that another has may be unsynced. Waits for a sync that is under way: nobody
  /// uses the other file any more when it returns, so that it can be closed.
  func use(_ file: (any OpenFile)?) {
    while true {
      let semaphore = state.withLock { state -> DispatchSemaphore? in
        if state.isSyncing { return state.waiter() }
        state.file = file
        return nil
      }
      guard let semaphore else { return }
      semaphore.wait()
    }
  }

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
    while true {
      switch try state.withLock({ try $0.turn(until: sequence) }) {
      case .done: return
      case .wait(let semaphore): semaphore.wait()
      case .sync(let crowd, let time):
        gather(crowd, within: time)
        sync()
      }
    }
  }

  /// Syncs the file whatever is known of it, once nobody else does.
  func syncNow() throws {
    while true {
      switch try state.withLock({ try $0.turn(until: nil) }) {
      case .done: return
      case .wait(let semaphore): semaphore.wait()
      case .sync:
        sync()
        return try requireWorking()
      }
    }
  }

  fileprivate enum Turn {
    case done
    case wait(DispatchSemaphore)
    /// This thread is to sync, for so many, for whom it may wait so long.
    case sync(for: Int, within: Duration)
  }

  fileprivate static let longestWait = Duration.milliseconds(1)

  /// Lets those write first who were here the last time: they have just been woken. Without that the first of them
  /// would sync for itself alone, and all others wait for two syncs.
  private func gather(_ crowd: Int, within time: Duration) {
    guard crowd > 1 else { return }
    let end = ContinuousClock.now + time
    while state.withLock({ $0.waiters.count + 1 < crowd }), ContinuousClock.now < end { sched_yield() }
  }

  private func sync() {
    let (file, target) = state.withLock { ($0.file, $0.written) }
    let start = ContinuousClock.now
    let result = Result { try file?.sync() }
    if case .failure(let error) = result { fail(error) }
    let waiters = state.withLock { state in
      state.isSyncing = false
      state.crowd = state.waiters.count + 1
      state.duration = ContinuousClock.now - start
      if case .success = result { state.durable = max(state.durable, target) }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.signal() }
  }
}

extension LogSyncer.State {
  /// What is signalled at the end of the sync under way.
  fileprivate mutating func waiter() -> DispatchSemaphore {
    let semaphore = DispatchSemaphore(value: 0)
    waiters.append(semaphore)
    return semaphore
  }

  /// What a thread has to do that waits for frame `sequence`, or wants a sync of its own.
  fileprivate mutating func turn(until sequence: UInt64?) throws -> LogSyncer.Turn {
    // Also while others sync: theirs are later frames.
    if let sequence, durable >= sequence { return .done }
    if let failure { throw failure }
    if isSyncing { return .wait(waiter()) }
    isSyncing = true
    return .sync(for: crowd, within: min(duration / 2, LogSyncer.longestWait))
  }

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
