// Many contexts at once over one coordinator, each on its own queue.

import Cairn
import Foundation
import Testing

@Suite struct ConcurrentContextsTests {
  private static let writerCount = 6
  private static let roundCount = 20

  private static func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `contexts that save at once lose nothing of what each of them was told is saved`(
    kind: StoreUnderTest
  ) async throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
    try kind.add(to: coordinator)
    let first = Self.context(coordinator)
    let counter = try await first.perform {
      let counter = Person(context: first)
      (counter.name, counter.age) = ("counter", 0)
      try first.save()
      return counter.objectID
    }
    let follower = Self.context(coordinator)
    follower.automaticallyMergesChangesFromParent = true
    // Known to it, so that what others save of it arrives.
    let followed = try await follower.perform { try follower.existingObject(with: counter) as? Person }

    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<Self.writerCount {
        group.addTask { try await Self.write(writer, counter, Self.context(coordinator)) }
      }
      for _ in 0..<2 {
        group.addTask { try await Self.read(Self.context(coordinator)) }
      }
      try await group.waitForAll()
    }

    let last = Self.context(coordinator)
    try await last.perform {
      let people = try last.fetch(request(Person.self))
      let names = people.map { $0.name ?? "" }
      let expected = (0..<Self.writerCount).flatMap { writer in
        (0..<Self.roundCount).filter { $0 % 5 != 3 }.map { "\(writer)-\($0)" }
      }
      #expect(names.sorted() == (expected + ["counter"]).sorted())
      #expect(people.first { $0.objectID == counter }?.age == Int32(Self.writerCount * Self.roundCount))
      // No row has values of another.
      for person in people where person.objectID != counter {
        #expect(person.name?.hasSuffix("-\(person.age)") ?? false)
      }
    }
    // The last merge may still be on its way to the queue of the one that follows.
    for _ in 0..<500 {
      if await follower.perform({ followed?.age == Int32(Self.writerCount * Self.roundCount) }) { return }
      try await Task.sleep(nanoseconds: 10_000_000)
    }
    Issue.record("the context that merges hasn't seen the last saves")
  }

  /// Inserts, deletes some again, and counts up one row that all others count up too.
  private static func write(
    _ writer: Int, _ counter: NSManagedObjectID, _ context: NSManagedObjectContext
  ) async throws {
    for round in 0..<roundCount {
      try await context.perform {
        let person = Person(context: context)
        (person.name, person.age) = ("\(writer)-\(round)", Int32(round))
        try context.save()
        #expect(try context.count(for: request(Person.self)) > 1)
        if round % 5 == 3 {
          context.delete(person)
          try context.save()
        }
        try countUp(counter, context)
      }
    }
  }

  private static func countUp(_ counter: NSManagedObjectID, _ context: NSManagedObjectContext) throws {
    guard let person = try context.existingObject(with: counter) as? Person else { return }
    for _ in 0..<10_000 {
      person.age += 1
      do {
        return try context.save()
      } catch let error as NSError where error.code == NSManagedObjectMergeError {
        // Somebody else was first: once more, on the newest row.
        context.refresh(person, mergeChanges: false)
      }
    }
    Issue.record("ten thousand saves of one row were all refused")
  }

  /// What one fetch has found never has fewer rows that nobody deletes than the one before.
  private static func read(_ context: NSManagedObjectContext) async throws {
    var most = 0
    for _ in 0..<40 {
      most = try await context.perform { [most] in
        let people = try context.fetch(request(Person.self))
        let count = people.count { $0.age % 5 != 3 && $0.name != "counter" }
        #expect(count >= most)
        return count
      }
    }
  }
}
