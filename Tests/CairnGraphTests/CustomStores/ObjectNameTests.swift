// What an incremental store calls its objects, in their URIs: read back before the store has spoken of them.

import Cairn
import Testing

@testable import CairnGraph

/// An incremental store that only knows the names of its objects.
private final class NameStore: NSIncrementalStore, @unchecked Sendable {
  static let name = "NameStore"
  // Sendable: each URL belongs to one test, which writes once, before it opens the store.
  private static let names = Lock<[URL: [Any]]>([:])

  static func make(_ references: [Any]) throws -> URL {
    NSPersistentStoreCoordinator.registerStoreClass(NameStore.self, forStoreType: name)
    let url = URL(fileURLWithPath: "/names/\(UUID().uuidString)")
    nonisolated(unsafe) let references = references
    names.withLock { $0[url] = references }
    return url
  }

  override var type: String { NameStore.name }

  override func loadMetadata() throws {
    metadata = [NSStoreTypeKey: NameStore.name, NSStoreUUIDKey: url!.lastPathComponent]
  }

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    guard let fetch = request as? NSFetchRequest<NSFetchRequestResult>, let entity = fetch.entity else {
      throw NSError(domain: NSCocoaErrorDomain, code: NSPersistentStoreUnsupportedRequestTypeError)
    }
    return NameStore.names.withLock { $0[url!]! }.map { newObjectID(for: entity, referenceObject: $0) }
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    NSIncrementalStoreNode(
      objectID: objectID, withValues: ["text": "\(referenceObject(for: objectID))"], version: 1)
  }
}

/// A name of no kind that a URI can say.
private struct OddName: Hashable, CustomStringConvertible {
  let number: Int
  var description: String { number < 0 ? "odd" : "odd \(number)" }
}

@Suite struct ObjectNameTests {
  private static func open(_ url: URL) throws -> (store: NameStore, context: NSManagedObjectContext) {
    let entity = TestModel.entity("Thing", NSManagedObject.self, [TestModel.attribute("text", .string)])
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NameStore.name, configurationName: nil, at: url)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return (try #require(store as? NameStore), context)
  }

  private static func things(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
  }

  @Test func `a URI that is resolved before the store names its object finds the same object`() throws {
    let references: [Any] = [
      "plain", "007", "7", "+7", "2.50", "", "a/b c%2F\u{e9}?#", "pn7", UUID().uuidString, UUID(), NSUUID(),
      7, -3 as NSNumber, Int64.max, UInt64.max, 2.5, 0.1 + 0.2, 1e300, "1e300",
      NSDecimalNumber(string: "1.23456789012345678901234"),
    ]
    let url = try NameStore.make(references)
    let first = try Self.open(url)
    let uris = try Self.things(first.context).map { $0.objectID.uriRepresentation() }
    #expect(Set(uris).count == references.count)

    let (store, context) = try Self.open(url)
    let ids = try uris.map { uri in
      try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri), "\(uri)")
    }
    let early = try ids.map { try context.existingObject(with: $0) }
    let things = try Self.things(context)
    #expect(things.map(\.objectID) == ids && zip(things, early).allSatisfy(===))
    #expect(ids.map { $0.uriRepresentation() } == uris)
    for (reference, id) in zip(references, ids) {
      let found = store.referenceObject(for: id)
      switch reference {
      case let text as String: #expect(found as? String == text)
      case let uuid as UUID: #expect(found as? UUID == uuid)
      default: #expect(found as? NSNumber == reference as? NSNumber && !(found is String))
      }
    }
  }

  @Test func `equal references of Swift and Foundation are one object`() throws {
    let uuid = UUID()
    let url = try NameStore.make([
      "a", "a" as NSString, 7, 7 as NSNumber, Int8(7), 7.0, uuid, NSUUID(uuidString: uuid.uuidString)!,
    ])
    let keys = try Self.things(try Self.open(url).context).map(\.objectID.key)
    #expect(keys == [1, 1, 2, 2, 2, 2, 3, 3])
  }

  @Test func `a name of another kind is found once the store has said it, unless two print alike`() throws {
    let url = try NameStore.make([OddName(number: 1), OddName(number: -1), OddName(number: -2)])
    let first = try Self.open(url)
    let things = try Self.things(first.context)
    func resolve(_ context: NSManagedObjectContext) -> [NSManagedObjectID?] {
      things.map {
        context.persistentStoreCoordinator?.managedObjectID(
          forURIRepresentation: $0.objectID.uriRepresentation())
      }
    }
    #expect(resolve(first.context) == [things[0].objectID, nil, nil])
    let second = try Self.open(url)
    #expect(resolve(second.context) == [nil, nil, nil])
    _ = try Self.things(second.context)
    #expect(resolve(second.context).map { $0 != nil } == [true, false, false])
  }

  @Test(
    "a text that no name is written as finds nothing", arguments: ["p7", "pn007", "pnx", "pu7", "x", "p", ""])
  func nonsense(text: String) throws {
    let (store, context) = try Self.open(try NameStore.make([]))
    let uri = "x-coredata://\(store.identifier ?? "")/Thing/\(text)"
    #expect(context.persistentStoreCoordinator?.managedObjectID(for: uri) == nil)
  }
}
