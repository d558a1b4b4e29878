// Pieces of work that don't depend on each other, on two threads.

import CairnModel
import Dispatch

/// Two workers, an encoder or decoder each, and the results in the order of the pieces.
enum SharedWork {
  /// What `body` makes of each number below `count`. One call at a time uses a worker.
  static func results<Worker, Result: Sendable>(
    _ count: Int, workers: (Worker, Worker), _ body: @Sendable (Int, Worker) -> Result
  ) -> [Result] {
    let hands = Hands(workers: [workers.0, workers.1])
    let next = Lock(0)
    let made = Lock<[Result?]>(Array(repeating: nil, count: count))
    DispatchQueue.concurrentPerform(iterations: 2) { hand in
      while true {
        let turn = next.withLock { turn in
          turn += 1
          return turn - 1
        }
        guard turn < count else { return }
        let result = body(turn, hands.workers[hand])
        made.withLock { $0[turn] = result }
      }
    }
    return made.withLock { $0.map { $0! } }
  }

  /// Sendable: each thread has a worker of its own, and whoever holds the array waits for both.
  private struct Hands<Worker>: @unchecked Sendable {
    let workers: [Worker]
  }
}
