// The list of a coordinator's stores while stores are opened and closed, and observers are told.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct StoreListTests {
  private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())

  private func add(_ target: StoreTarget) throws -> NSPersistentStore {
    try coordinator.addPersistentStore(ofType: target.type, configurationName: nil, at: target.url)
  }

  /// The number of the error of trying to open a second store at the target's URL.
  private func secondTry(_ target: StoreTarget) -> Int? {
    let hook = target.onOpen
    target.onOpen = { _ in }
    defer { target.onOpen = hook }
    do {
      _ = try add(target)
      return nil
    } catch {
      return (error as NSError).code
    }
  }

  @Test func `an observer of an adding may wait for a thread that adds a store`() throws {
    let coordinator = coordinator
    let isFirst = Lock(true)
    let inTime = Lock(false)
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorStoresWillChange, object: coordinator, queue: nil
    ) { _ in
      guard
        isFirst.withLock({ first in
          defer { first = false }; return first
        })
      else { return }
      let added = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        _ = try? coordinator.addPersistentStore(
          ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        added.signal()
      }
      let result = added.wait(timeout: .now() + 30)
      inTime.withLock { $0 = result == .success }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    #expect(inTime.withLock { $0 })
    #expect(coordinator.persistentStores.count == 2)
  }

  @Test func `a place isn't opened twice while a store is opened, moved to or closed there`() throws {
    let target = StoreTarget()
    var codes: [Int?] = []
    target.onOpen = { _ in codes.append(secondTry(target)) }
    let store = try add(target)
    #expect(codes == [134_080])
    target.opened[0].onClose = { codes.append(secondTry(target)) }
    try coordinator.remove(store)
    #expect(codes == [134_080, 134_080] && target.opened.count == 1)
    try FileManager.default.removeItem(at: target.url)

    let old = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let new = try coordinator.migratePersistentStore(old, to: target.url, withType: target.type)
    #expect(codes == [134_080, 134_080, 134_080] && target.opened.count == 2)
    #expect(coordinator.persistentStores == [new])
    try coordinator.remove(new)
    #expect(try add(target).url == target.url, "a closed store's place is free")
  }

  @Test func `a failed opening leaves its place free`() throws {
    let target = StoreTarget()
    target.onOpen = { _ in throw StoreError(.fileSystem, "the disk is gone") }
    #expect(throws: NSError.self) { try add(target) }
    target.onOpen = { _ in }
    #expect(try add(target).url == target.url)
  }

  @Test func `a store is removed once, whoever asks again meanwhile`() throws {
    let target = StoreTarget()
    let store = try add(target)
    let coordinator = coordinator
    var closes = 0
    target.opened[0].onClose = { closes += 1 }
    let codes = Lock<[Int]>([])
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorStoresWillChange, object: coordinator, queue: nil
    ) { note in
      // A coordinator that lets the second call in would call this again and again.
      guard codes.withLock({ $0.isEmpty }) else { return }
      guard let store = (note.userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore])?.first else {
        return
      }
      codes.withLock { $0.append(0) }
      do {
        try coordinator.remove(store)
      } catch {
        codes.withLock { $0.append((error as NSError).code) }
      }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try coordinator.remove(store)
    #expect(codes.withLock { $0 } == [0, NSPersistentStoreOperationError])
    #expect(closes == 1 && coordinator.persistentStores.isEmpty)
  }

  @Test func `a store that can't be closed is removed, told of and then thrown about`() throws {
    let target = StoreTarget()
    let store = try add(target)
    target.opened[0].onClose = { throw StoreError(.fileSystem, "the disk is gone") }
    let notes = StoreNotes([coordinator])
    #expect(throws: StoreError(.fileSystem, "")) { try coordinator.remove(store) }
    #expect(notes.summary == ["StoresWillChange removed", "StoresDidChange removed"])
    #expect(coordinator.persistentStores.isEmpty)
  }
}
