// The queue that a context's work runs on, and the question whether one is on it.

import Foundation

/// A serial queue that knows whether the caller runs on it.
///
/// Asked by a queue-specific value, never by `Thread.isMainThread`, which is false on the main actor of an
/// `async main` and in Swift Testing.
final class ContextQueue: Sendable {
  private static let key = DispatchSpecificKey<ObjectIdentifier>()

  /// The one for all main-queue contexts.
  static let main = ContextQueue(DispatchQueue.main)

  let queue: DispatchQueue
  private var isMain: Bool { self === ContextQueue.main }
  /// How long `sync` waits for the main queue to take up its work before it calls it a deadlock.
  static let patience = DispatchTimeInterval.seconds(60)

  private init(_ queue: DispatchQueue) {
    self.queue = queue
    queue.setSpecific(key: ContextQueue.key, value: ObjectIdentifier(self))
  }

  convenience init(label: String) {
    self.init(DispatchQueue(label: label))
  }

  /// Whether the caller runs on the queue: its own block does, or one that a block of it waits for.
  var isCurrent: Bool {
    DispatchQueue.getSpecific(key: ContextQueue.key) == ObjectIdentifier(self)
      || RunningContexts.onThread.contains { $0.queue === self }
  }

  /// Runs `body` on the queue and waits for it; at once when the caller is on the queue already.
  func sync(_ body: () -> Void) {
    if isCurrent { return body() }
    if isMain { return syncMain(body) }
    queue.sync(execute: body)
  }

  func async(_ body: @escaping @Sendable () -> Void) {
    queue.async(execute: body)
  }

  /// The main queue may have nobody who serves it, for example when the main thread itself waits for the
  /// caller. That is a programmer error, told apart by time.
  private func syncMain(_ body: () -> Void) {
    withoutActuallyEscaping(body) { body in
      // The caller waits, so that what it holds, this work holds.
      let held = RunningContexts.capture()
      let work = BorrowedWork { held.run(body) }
      let started = DispatchSemaphore(value: 0)
      let done = DispatchSemaphore(value: 0)
      queue.async {
        started.signal()
        work.run()
        done.signal()
      }
      if started.wait(timeout: .now() + ContextQueue.patience) == .timedOut {
        fatalError(
          "performAndWait on the main queue has waited 60 seconds for it: the main thread is blocked, or "
            + "doesn't serve the main queue")
      }
      done.wait()
    }
  }
}

/// A block that somebody else's stack owns, to be run once on another thread.
///
/// The queue may keep what was put into it for a moment longer than it runs, and a borrowed block mustn't
/// outlive its lender's wait: so the queue keeps this box, and the box lets go of the block before the lender is
/// told. Sendable: the lender makes it and then waits; in between only `run` touches it.
private final class BorrowedWork: @unchecked Sendable {
  private var body: (() -> Void)?

  init(_ body: @escaping () -> Void) { self.body = body }

  func run() {
    body?()
    body = nil
  }
}
