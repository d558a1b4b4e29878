// What every call to the system needs, POSIX's and the simulated one's alike: a failure as a value, going on after
// an interruption, and going on after half the bytes.

import CairnModel
import Foundation

/// Why a system call failed: its `errno`.
struct SystemFailure: Error, Equatable {
  let errno: Int32
  init(_ errno: Int32) { self.errno = errno }
}

enum SystemCalls {
  /// The largest piece that every system takes at once.
  private static let largestPiece = 1 << 30

  /// Calls until a signal doesn't interrupt it. A call fails by returning -1, with the reason in `errno`.
  @discardableResult
  static func uninterrupted<Result: SignedInteger>(_ call: () -> Result) throws(SystemFailure) -> Result {
    while true {
      let result = call()
      if result != -1 { return result }
      let reason = errno
      if reason != EINTR { throw SystemFailure(reason) }
    }
  }

  /// Reads in as many pieces as the system makes of it. `step` is given how many bytes are through and how many to
  /// ask for, and returns how many more came; none means the end. Returns how many bytes there were.
  static func read(
    _ count: Int, _ step: (_ done: Int, _ count: Int) throws(SystemFailure) -> Int
  ) throws(SystemFailure) -> Int {
    var done = 0
    while done < count {
      guard let piece = try piece(done, min(count - done, largestPiece), step) else { continue }
      if piece == 0 { break }
      done += piece
    }
    return done
  }

  /// Writes in as many pieces as the system makes of it, all of them.
  static func write(
    _ count: Int, _ step: (_ done: Int, _ count: Int) throws(SystemFailure) -> Int
  ) throws(SystemFailure) {
    var done = 0
    while done < count {
      guard let piece = try piece(done, min(count - done, largestPiece), step) else { continue }
      // A system that takes nothing and gives no reason would be asked for ever.
      if piece == 0 { throw SystemFailure(EIO) }
      done += piece
    }
  }

  /// Nil if the step was interrupted.
  private static func piece(
    _ done: Int, _ count: Int, _ step: (Int, Int) throws(SystemFailure) -> Int
  ) throws(SystemFailure) -> Int? {
    do throws(SystemFailure) {
      return try step(done, count)
    } catch {
      if error.errno == EINTR { return nil }
      throw error
    }
  }
}

/// Does `body`, and names the operation and the path where the system refuses.
@discardableResult
func naming<Result>(
  _ operation: String, _ path: String, _ body: () throws(SystemFailure) -> Result
) throws(StoreError) -> Result {
  do throws(SystemFailure) {
    return try body()
  } catch {
    throw StoreError.fileSystem(operation, path, error.errno)
  }
}
