// Columns that couldn't be read. Kernels can't throw, so they go on with nulls; whoever called them asks here.

import CairnModel

/// What was found unreadable in the files of one store.
final class DamageLog: Sendable {
  private struct State {
    var count = 0
    var last: StoreError?
  }

  private let state = Lock(State())

  /// How often a column couldn't be read so far.
  var count: Int { state.withLock { $0.count } }

  func note(_ error: StoreError) {
    state.withLock {
      $0.count += 1
      $0.last = error
    }
  }

  /// What `body` returns, unless a column couldn't be read meanwhile: then that is thrown, whoever asked for the
  /// column, and whatever `body` throws for want of it.
  func checking<T>(_ body: () throws -> T) throws -> T {
    let before = count
    let result = Result { try body() }
    try check(since: before)
    return try result.get()
  }

  /// As `checking`, for a `body` that makes something final and calls `check` before: what it has made is made,
  /// whatever others couldn't read since.
  func explaining<T>(_ body: () throws -> T) throws -> T {
    let before = count
    do {
      return try body()
    } catch let error as StoreError where error.code == .outcomeUnknown {
      throw error
    } catch {
      try check(since: before)
      throw error
    }
  }

  /// Throws if a column couldn't be read since the count was `before`.
  func check(since before: Int) throws {
    if let error = state.withLock({ $0.count > before ? $0.last : nil }) { throw error }
  }
}
