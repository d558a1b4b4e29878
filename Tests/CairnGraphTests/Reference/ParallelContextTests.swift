// Contexts that work at the same time, each on its own queue: made to be run under the thread sanitizer too.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct ParallelContextTests {
  private static let workers = 8
  private static let rounds = 25
  private static let accounts = 6

  /// Moves 1 from one account to another and writes a memo about it, again and again; begins a move anew when
  /// somebody else has changed one of the accounts.
  private static func work(
    _ context: NSManagedObjectContext, _ ids: [NSManagedObjectID], seed: Int
  ) async throws {
    var random = RefRandom(seed: UInt64(seed))
    for round in 0..<rounds {
      let from = random.below(ids.count)
      let to = (from + 1 + random.below(ids.count - 1)) % ids.count
      while try await !move(context, ids[from], ids[to], memo: "\(seed)/\(round)") {}
    }
  }

  /// Returns whether the move was saved.
  private static func move(
    _ context: NSManagedObjectContext, _ from: NSManagedObjectID, _ to: NSManagedObjectID, memo text: String
  ) async throws -> Bool {
    try await context.perform {
      let giver = try #require(try context.existingObject(with: from) as? Employee)
      let taker = try #require(try context.existingObject(with: to) as? Employee)
      giver.salary -= 1
      taker.salary += 1
      Memo(context: context).text = text
      do {
        try context.save()
        return true
      } catch let error as NSError where error.code == NSManagedObjectMergeError {
        context.rollback()
        context.refreshAllObjects()
        return false
      }
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `many contexts in parallel`(_ store: StoreUnderTest) async throws {
    let office = try Office(store)
    let employees = (0..<Self.accounts).map { office.employee("\($0)", salary: 1_000) }
    try office.context.save()
    let ids = employees.map(\.objectID)
    let contexts = (0..<Self.workers).map { _ in
      let context = office.otherContext()
      context.automaticallyMergesChangesFromParent = true
      context.retainsRegisteredObjects = true
      return context
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (seed, context) in contexts.enumerated() {
        group.addTask { try await Self.work(context, ids, seed: seed) }
      }
      try await group.waitForAll()
    }
    let total = Self.accounts * 1_000
    for context in contexts {
      // What was saved by others has been merged by now: each context's own objects add up.
      let sum = try await context.perform(schedule: .enqueued) {
        try ids.reduce(0) { $0 + Int((try context.existingObject(with: $1) as? Employee)?.salary ?? 0) }
      }
      #expect(sum == total)
    }
    let saved = try office.otherContext().fetch(request(Employee.self))
    #expect(saved.reduce(0) { $0 + Int($1.salary) } == total)
    let memos = try office.savedNames(Memo.self, "text")
    let wanted = (0..<Self.workers).flatMap { worker in (0..<Self.rounds).map { "\(worker)/\($0)" } }
    #expect(memos == wanted.sorted())
  }
}
