// Moving a store to a place where something is, and moves that fail.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct MovingTests {
  @Test func `a move that fails removes what it made at the URL`() throws {
    let (coordinator, old) = try StoreTarget.source()
    let target = StoreTarget()
    target.onOpen = { $0.failsCommits = true }
    let error = #expect(throws: NSError.self) {
      try coordinator.migratePersistentStore(old, to: target.url, withType: target.type)
    }
    #expect(error?.code == NSMigrationError && target.opened.count == 1)
    #expect(!FileManager.default.fileExists(atPath: target.url.path))
    #expect(coordinator.persistentStores == [old])
    #expect(try StoreTarget.tags(coordinator) == 1)
    target.onOpen = { _ in }
    let new = try coordinator.migratePersistentStore(old, to: target.url, withType: target.type)
    #expect(coordinator.persistentStores == [new])
    #expect(try StoreTarget.tags(coordinator) == 1)
  }

  enum Occupant: CaseIterable { case file, empty, directory, link, storeWithoutFile }

  @Test("a move to where something is throws 516 and touches nothing", arguments: Occupant.allCases)
  func occupied(by occupant: Occupant) throws {
    let (coordinator, old) = try StoreTarget.source()
    let target = StoreTarget()
    target.onOpen = { $0.failsCommits = true }
    let files = FileManager.default
    switch occupant {
    case .file: try Data("precious".utf8).write(to: target.url)
    case .empty: try Data().write(to: target.url)
    case .directory: try files.createDirectory(at: target.url, withIntermediateDirectories: false)
    case .link:
      try files.createSymbolicLink(atPath: target.url.path, withDestinationPath: target.url.path + ".not")
    case .storeWithoutFile: target.knowsStore = true
    }
    func look() -> [String] {
      let attributes = try? files.attributesOfItem(atPath: target.url.path)
      return ["\(attributes?[.type] ?? "none")", "\((try? Data(contentsOf: target.url))?.count ?? -1)"]
    }
    let before = look()
    let error = #expect(throws: NSError.self) {
      try coordinator.migratePersistentStore(old, to: target.url, withType: target.type)
    }
    #expect(error?.code == CocoaError.Code.fileWriteFileExists.rawValue)
    #expect(error?.userInfo[NSFilePathErrorKey] as? String == target.url.path)
    #expect(look() == before && target.opened.isEmpty)
    #expect(coordinator.persistentStores == [old])
    #expect(try StoreTarget.tags(coordinator) == 1)
  }

  @Test func `a move to a shared store in memory that somebody holds throws 516`() throws {
    let (coordinator, old) = try StoreTarget.source()
    let url = URL(fileURLWithPath: "/dev/null/held-\(UUID().uuidString)")
    do {
      let (other, first) = try StoreTarget.source()
      try other.migratePersistentStore(first, to: url, type: .inMemory)
      let error = #expect(throws: NSError.self) {
        try coordinator.migratePersistentStore(old, to: url, type: .sqlite)
      }
      #expect(error?.code == CocoaError.Code.fileWriteFileExists.rawValue)
      #expect(try StoreTarget.tags(other) == 1)
    }
    try coordinator.migratePersistentStore(old, to: url, type: .sqlite)
    #expect(try StoreTarget.tags(coordinator) == 1)
  }

  @Test func `a store that can't be closed after its move is gone from the coordinator, and told so`() throws
  {
    let target = StoreTarget()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
    let old = try coordinator.addPersistentStore(
      ofType: target.type, configurationName: nil, at: target.url)
    target.opened[0].onClose = { throw StoreError(.fileSystem, "the disk is gone") }
    let notes = StoreNotes([coordinator])
    #expect(throws: StoreError(.fileSystem, "")) {
      try coordinator.migratePersistentStore(
        old, to: URL(fileURLWithPath: "/dev/null"), type: .inMemory)
    }
    #expect(notes.summary.last == "StoresDidChange removed")
    #expect(coordinator.persistentStores.map(\.type) == [NSInMemoryStoreType])
  }
}
