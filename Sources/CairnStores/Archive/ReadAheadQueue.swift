// Blocks that somebody is about to ask for, read and decoded on another thread meanwhile.

import CairnModel
import Dispatch
import Foundation

/// The blocks of one archive that are to be read ahead, and the thread that reads them.
///
/// Who needs a block never waits for one that nobody has begun: it reads that itself. While another thread is at it,
/// whoever waits reads others that are wanted. So there is no order in which threads could wait for each other, and
/// nothing is read twice.
final class ReadAheadQueue: Sendable {
  private struct Wish {
    let block: ArchiveBlock
    let group: ArchiveGroup
  }

  private struct State {
    /// Oldest first, and how many of them are done with.
    var wishes: [Wish] = []
    var doneCount = 0
    var isWorking = false

    mutating func next() -> Wish? {
      if doneCount == wishes.count {
        wishes.removeAll(keepingCapacity: true)
        doneCount = 0
        return nil
      }
      doneCount += 1
      return wishes[doneCount - 1]
    }
  }

  private let state = Lock(State())
  /// Signalled whenever a block has been read.
  private let finished = NSCondition()

  /// Where there is one processor, a second thread takes its time from the first.
  static let isWorthwhile = ProcessInfo.processInfo.activeProcessorCount > 1

  /// Has `block` of `group` read. The caller has put it down as wanted.
  func add(_ block: ArchiveBlock, _ group: ArchiveGroup) {
    let mustStart = state.withLock { state in
      state.wishes.append(Wish(block: block, group: group))
      defer { state.isWorking = true }
      return !state.isWorking
    }
    if mustStart { DispatchQueue.global(qos: .userInitiated).async { self.work() } }
  }

  private func work() {
    while let wish = next(orStop: true) { wish.block.readIfWanted(in: wish.group) }
  }

  /// Where there is nothing to read and `orStop`, the next `add` starts another thread.
  private func next(orStop: Bool) -> Wish? {
    state.withLock { state in
      let wish = state.next()
      if wish == nil, orStop { state.isWorking = false }
      return wish
    }
  }

  /// Returns once `isBeingRead` says no, and reads wanted blocks until then.
  func wait(while isBeingRead: () -> Bool) {
    while isBeingRead() {
      if let wish = next(orStop: false) {
        wish.block.readIfWanted(in: wish.group)
        continue
      }
      finished.lock()
      // Asked under the lock that `noteFinished` takes after it is no longer so.
      if isBeingRead() { finished.wait() }
      finished.unlock()
    }
  }

  /// Wakes who waits for a block that isn't being read any more.
  func noteFinished() {
    finished.lock()
    finished.broadcast()
    finished.unlock()
  }
}
