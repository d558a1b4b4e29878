// What a program sees of a log alone: its options, readers that follow it, its remote changes.

import Cairn
import Foundation
import Testing

@Suite struct LogProgramTests {
  private typealias Stores = FileStoreProgramTests

  private static func open(_ url: URL, _ options: [AnyHashable: Any]? = nil) throws
    -> NSPersistentStoreCoordinator
  {
    let coordinator = Stores.coordinator()
    try coordinator.addPersistentStore(
      ofType: CairnLogStoreType, configurationName: nil, at: url, options: options)
    return coordinator
  }

  private static func add(_ name: String, to coordinator: NSPersistentStoreCoordinator) throws {
    let context = Stores.context(coordinator)
    try context.performAndWait {
      let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
      thing.setValue(name, forKey: "name")
      try context.save()
    }
  }

  /// Counts the remote changes that a coordinator tells of.
  private final class Listener: @unchecked Sendable {
    // The lock is held around every access.
    private let lock = NSLock()
    private var found: [URL?] = []
    private var observer: (any NSObjectProtocol)?

    init(_ coordinator: NSPersistentStoreCoordinator) {
      observer = NotificationCenter.default.addObserver(
        forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
      ) { [weak self] notification in
        let url = notification.userInfo?[NSPersistentStoreURLKey] as? URL
        self?.lock.withLock { self?.found.append(url) }
      }
    }

    deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

    var urls: [URL?] { lock.withLock { found } }
  }

  @Test func `a reader that is open sees what a writer saves, and is told of it`() async throws {
    let url = TestFiles.unusedURL(extension: "log")
    try Stores.make(url, count: 1, type: CairnLogStoreType)
    let writer = try Self.open(url)
    let reader = try Self.open(
      url,
      [
        NSReadOnlyPersistentStoreOption: true,
        NSPersistentStoreRemoteChangeNotificationPostOptionKey: NSNumber(value: true),
      ])
    let listener = Listener(reader)
    #expect(try Stores.names(reader) == ["0"])
    try Self.add("new", to: writer)
    for _ in 0..<600 where listener.urls.isEmpty { try await Task.sleep(for: .milliseconds(50)) }
    #expect(listener.urls == [url])
    #expect(Set(try Stores.names(reader)) == ["0", "new"])
  }

  @Test func `a writer's own saves are told as remote changes if it asks for it`() throws {
    for isAsked in [true, false] {
      let url = TestFiles.unusedURL(extension: "log")
      let writer = try Self.open(
        url, isAsked ? [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true] : nil)
      let listener = Listener(writer)
      try Self.add("a", to: writer)
      try Self.add("b", to: writer)
      #expect(listener.urls == (isAsked ? [url, url] : []))
    }
  }

  @Test(arguments: ["full", "normal", "off"])
  func `every durability keeps what was saved through a clean close`(_ durability: String) throws {
    let url = TestFiles.unusedURL(extension: "log")
    let writer = try Self.open(url, [CairnDurabilityOption: durability])
    try Self.add("a", to: writer)
    for store in writer.persistentStores { try writer.remove(store) }
    #expect(try Stores.names(Self.open(url)) == ["a"])
  }

  @Test func `an option that isn't one is refused, naming those there are`() throws {
    let url = TestFiles.unusedURL(extension: "log")
    for (key, value) in [(CairnDurabilityOption, "fast"), (CairnArchiveProfileOption, "tiny")] {
      let failure = Stores.error { _ = try Self.open(url, [key: value]) }
      let text = "\(try #require(failure))"
      #expect(failure?.code == NSPersistentStoreOpenError && text.contains(value), "\(text)")
      #expect(text.contains(key == CairnDurabilityOption ? "full, normal, off" : "smallest"), "\(text)")
      #expect(!FileManager.default.fileExists(atPath: url.path))
    }
  }

  @Test func `a second writer waits as long as it is told`() throws {
    let url = TestFiles.unusedURL(extension: "log")
    let first = try Self.open(url)
    let start = ContinuousClock.now
    let failure = Stores.error { _ = try Self.open(url, [NSPersistentStoreTimeoutOption: 0.2]) }
    #expect(failure?.code == NSPersistentStoreOpenError && ContinuousClock.now - start >= .seconds(0.2))
    // A thread, since the test's own waits on one of the few that tasks have.
    let closed = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.1)
      for store in first.persistentStores { try? first.remove(store) }
      closed.signal()
    }
    let second = Stores.error { _ = try Self.open(url, [NSPersistentStoreTimeoutOption: 60]) }
    #expect(second == nil)
    closed.wait()
  }

  @Test func `a log remembers its commits if it is told to, also when it is opened again`() throws {
    let url = TestFiles.unusedURL(extension: "log")
    let options = [NSPersistentHistoryTrackingKey: true]
    let first = try Self.open(url, options)
    try Self.add("a", to: first)
    try Self.add("b", to: first)
    for store in first.persistentStores { try first.remove(store) }
    let second = try Self.open(url, options)
    let store = try #require(second.persistentStores.first)
    #expect(try store.store.history(after: Generation(0)).map(\.inserted.count) == [1, 1])
    try store.store.purgeHistory(through: Generation(1))
    #expect(try store.store.history(after: Generation(1)).count == 1)
  }

  @Test func `a file where the log should be, and a directory that is none, are refused with 259`() throws {
    for make in [
      { (url: URL) in try Data("x".utf8).write(to: url) },
      { (url: URL) in
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: url.appendingPathComponent("other"))
      },
    ] {
      let url = TestFiles.unusedURL(extension: "log")
      try make(url)
      #expect(
        Stores.error { _ = try Self.open(url) }?.code == CocoaError.Code.fileReadCorruptFile.rawValue)
    }
  }
}
