// Running work on a context's queue.

import Foundation

extension NSManagedObjectContext {
  /// When work given to `perform` runs.
  public enum ScheduledTaskType: Sendable {
    /// At once if the caller is on the queue already.
    case immediate
    /// After everything that is on the queue.
    case enqueued
  }

  /// Runs `block` on the context's queue, after what was put there before. Returns at once.
  public final func perform(_ block: @escaping () -> Void) {
    // Passed to one queue, which runs it once; what it captures is the caller's to hand over.
    nonisolated(unsafe) let block = block
    queue.async {
      self.asCurrent(block)
      self.endPerform()
    }
  }

  /// Runs `block` on the context's queue and returns or throws what it does. Doesn't block a thread meanwhile.
  public final nonisolated(nonsending) func perform<T, E: Error>(
    schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(E) -> T
  ) async throws(E) -> T {
    if schedule == .immediate, queue.isCurrent {
      defer { endPerform() }
      return try NSManagedObjectContext.result(of: block, in: self).get()
    }
    // The queue runs the block once, before the continuation resumes; nothing is touched from both sides at
    // once.
    nonisolated(unsafe) let block = block
    nonisolated(unsafe) var result: Result<T, E>?
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      queue.async {
        result = NSManagedObjectContext.result(of: block, in: self)
        self.endPerform()
        continuation.resume()
      }
    }
    return try result.unsafelyUnwrapped.get()
  }

  private final func endPerform() {
    if coordinator != nil { processPendingChanges() }
    collectInstalment()
  }

  /// Runs `block` on the context's queue and waits for it; at once when the caller is on the queue already, so
  /// that it may be nested, also through blocks of other contexts. Doesn't process pending changes. On a main-queue
  /// context it traps after a minute if nobody serves the main queue.
  public final func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
    var result: Result<T, E>?
    queue.sync { result = NSManagedObjectContext.result(of: block, in: self) }
    return try result.unsafelyUnwrapped.get()
  }

  private static func result<T, E: Error>(
    of block: () throws(E) -> T, in context: NSManagedObjectContext
  ) -> Result<T, E> {
    var result: Result<T, E>?
    context.asCurrent {
      do throws(E) {
        result = .success(try block())
      } catch {
        result = .failure(error)
      }
    }
    return result.unsafelyUnwrapped
  }

  /// The context whose block the thread is running, the innermost one.
  static var current: NSManagedObjectContext? { RunningContexts.onThread.last }

  private final func asCurrent(_ block: () -> Void) {
    RunningContexts.run(RunningContexts.onThread + [self], block)
  }
}

/// The contexts whose blocks a thread is in, the innermost last: those that it may use.
///
/// A dispatch queue only knows the innermost queue that a thread runs on, and a block that waits for another
/// context's may come back to its own.
enum RunningContexts {
  /// What the thread has under it: a `Box` that `run` holds. Not the thread's dictionary, which bridges what is put
  /// into it: that was a tenth of a small save.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let code = pthread_key_create(&key, nil)
    precondition(code == 0, "the system has no room for what threads keep: \(code)")
    return key
  }()

  private final class Box {
    let contexts: [NSManagedObjectContext]

    init(_ contexts: [NSManagedObjectContext]) { self.contexts = contexts }
  }

  static var onThread: [NSManagedObjectContext] {
    guard let box = pthread_getspecific(key) else { return [] }
    return Unmanaged<Box>.fromOpaque(box).takeUnretainedValue().contexts
  }

  static func run(_ contexts: [NSManagedObjectContext], _ block: () -> Void) {
    let outer = pthread_getspecific(key)
    let box = Box(contexts)
    withExtendedLifetime(box) {
      pthread_setspecific(key, Unmanaged.passUnretained(box).toOpaque())
      block()
      pthread_setspecific(key, outer)
    }
  }

  /// Those of this thread, to be those of another that works while this one waits.
  static func capture() -> Captured { Captured(contexts: onThread) }

  /// Sendable: only carried to a thread that runs while its maker waits.
  struct Captured: @unchecked Sendable {
    fileprivate let contexts: [NSManagedObjectContext]

    func run(_ block: () -> Void) { RunningContexts.run(contexts, block) }
  }
}
