// Queues: where work runs, and what may be written in Swift 6.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct PerformTests {
  private struct Failure: Error, Equatable {}

  @Test func `perform runs on the context's queue and hands results and errors through`() async throws {
    let stack = try Stack()
    let context = stack.context
    #expect(!context.queue.isCurrent)
    let isOnQueue = await context.perform { context.queue.isCurrent }
    #expect(isOnQueue)
    let count = try await context.perform {
      _ = Person(context: context)
      try context.save()
      return try context.count(for: request(Person.self))
    }
    #expect(count == 1)
    await #expect(throws: Failure()) { try await context.perform { throw Failure() } }
  }

  @Test func `perform runs work in the order it was given`() async throws {
    let context = try Stack().context
    nonisolated(unsafe) var order: [Int] = []
    // In an async function the other perform is meant; this one is for functions that don't wait.
    func enqueue(_ number: Int) { context.perform { order.append(number) } }
    for i in 0..<100 { enqueue(i) }
    await context.perform(schedule: .enqueued) { order.append(100) }
    #expect(order == Array(0...100))
  }

  @Test func `performAndWait may be nested, on one context and across two`() throws {
    let stack = try Stack()
    let (a, b) = (stack.context, stack.otherContext())
    let names = try a.performAndWait {
      stack.person("Ada")
      try a.performAndWait { try a.save() }
      return try b.performAndWait { try b.fetch(request(Person.self)).map(\.name) }
    }
    #expect(names == ["Ada"])
    #expect(throws: Failure()) { try a.performAndWait { throw Failure() } }
  }

  @Test func `4.1.3 a block that waits for another context's may come back to its own`() throws {
    let stack = try Stack()
    let (a, b) = (stack.context, stack.otherContext())
    let name = try a.performAndWait {
      stack.person("Ada")
      return try b.performAndWait {
        try a.performAndWait { try a.save() }
        return try b.fetch(request(Person.self)).first?.name
      }
    }
    #expect(name == "Ada" && !a.queue.isCurrent)
  }

  @Test func `immediate work runs at once on the queue, enqueued work after it`() async throws {
    let context = try Stack().context
    nonisolated(unsafe) var order: [String] = []
    await context.perform {
      context.perform { order.append("enqueued") }
      context.performAndWait { order.append("nested") }
      order.append("outer")
    }
    await context.perform {}
    #expect(order == ["nested", "outer", "enqueued"])
  }

  @Test @MainActor func `a main-queue context works on the main actor and from elsewhere`() async throws {
    let container = try NSPersistentContainer.inMemory(name: "Test", model: TestModel.make())
    let view = container.viewContext
    let tag = Tag(context: view)
    tag.text = "red"
    try view.save()
    let isOnQueue = await view.perform { view.queue.isCurrent }
    #expect(isOnQueue)
    let text = await Task.detached { view.performAndWait { try? view.fetch(request(Tag.self)).first?.text } }
      .value
    #expect(text == "red")
  }

  @Test func `performBackgroundTask gives a context of its own`() async throws {
    let container = try NSPersistentContainer.inMemory(name: "Test", model: TestModel.make())
    try await container.performBackgroundTask { context in
      #expect(context.queue.isCurrent && context.concurrencyType == .privateQueueConcurrencyType)
      let tag = Tag(context: context)
      tag.text = "red"
      try context.save()
    }
    let count = try await container.performBackgroundTask { try $0.count(for: request(Tag.self)) }
    #expect(count == 1)
  }

  @Test func `contexts on many threads save and fetch without losing anything`() async throws {
    let container = try NSPersistentContainer.inMemory(name: "Test", model: TestModel.make())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          let context = container.newBackgroundContext()
          for i in 0..<20 {
            try await context.perform {
              let tag = Tag(context: context)
              tag.text = "\(writer)-\(i)"
              try context.save()
              _ = try context.fetch(request(Tag.self, .compare("text", .beginsWith, .string("\(writer)-"))))
                .map(\.text)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let count = try await container.performBackgroundTask { try $0.count(for: request(Tag.self)) }
    #expect(count == 160)
  }
}
