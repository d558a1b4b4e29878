// Kinds of stores in files that are told what to do when they are opened, committed to and closed.

import Cairn

@testable import CairnGraph

/// What has become of the stores of one kind.
///
/// Sendable: each test has its own, and uses it from one thread.
final class StoreTarget: @unchecked Sendable {
  let type = "Target-\(UUID().uuidString)"
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("target-\(UUID().uuidString)")
  var opened: [FailingStore] = []
  /// Run with each store as it is opened, with its file in place.
  var onOpen: (FailingStore) throws -> Void = { _ in }
  /// Whether the kind says that there is a store at a URL, file or no file.
  var knowsStore = false

  init() {
    NSPersistentStoreCoordinator.register(
      StoreFactory(
        type: type,
        files: StoreFactory.Files(
          metadata: { [unowned self] _ in
            guard knowsStore else { throw StoreError(.corrupt, "no store") }
            return StoreMetadata(uuid: UUID(), type: type)
          },
          setUserEntries: { _, _ in }, destroy: { try FileManager.default.removeItem(at: $0) },
          replace: { _, _ in })
      ) { [unowned self] request in
        if let url = request.url { try Data("made".utf8).write(to: url) }
        let store = FailingStore(schema: request.schema)
        opened.append(store)
        try onOpen(store)
        return store
      })
  }

  deinit {
    NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: type)
    try? FileManager.default.removeItem(at: url)
  }

  /// A coordinator with one store in memory that has one row.
  static func source() throws -> (coordinator: NSPersistentStoreCoordinator, store: NSPersistentStore) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
    let store = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    Tag(context: context).text = "red"
    try context.save()
    return (coordinator, store)
  }

  /// How many tags the coordinator's stores have.
  static func tags(_ coordinator: NSPersistentStoreCoordinator) throws -> Int {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.count(for: request(Tag.self))
  }
}
