// Running work on the coordinator's own queue, and the lock that old programs take.

public import Foundation

extension NSPersistentStoreCoordinator: NSLocking {
  /// Runs `block` on the coordinator's queue, after what was put there before. Returns at once.
  public final func perform(_ block: @escaping () -> Void) {
    // Passed to one queue, which runs it once; what it captures is the caller's to hand over.
    nonisolated(unsafe) let block = block
    queue.async { block() }
  }

  /// Runs `block` on the coordinator's queue and returns or throws what it does. Doesn't block a thread
  /// meanwhile.
  public final nonisolated(nonsending) func perform<T, E: Error>(
    _ block: @escaping () throws(E) -> T
  ) async throws(E) -> T {
    // The queue runs the block once, before the continuation resumes; nothing is touched from both sides at
    // once.
    nonisolated(unsafe) let block = block
    nonisolated(unsafe) var result: Result<T, E>?
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      queue.async {
        do throws(E) { result = .success(try block()) } catch { result = .failure(error) }
        continuation.resume()
      }
    }
    return try result.unsafelyUnwrapped.get()
  }

  /// Runs `block` on the coordinator's queue and waits for it; at once when the caller is on it already.
  public final func performAndWait<T, E: Error>(_ block: () throws(E) -> T) throws(E) -> T {
    var result: Result<T, E>?
    queue.sync {
      do throws(E) { result = .success(try block()) } catch { result = .failure(error) }
    }
    return try result.unsafelyUnwrapped.get()
  }

  /// Keeps out other callers of `lock`, nobody else: Cairn's stores need no lock. Re-entrant.
  public final func lock() { legacyLock.lock() }

  public final func unlock() { legacyLock.unlock() }
}
