// What the tests of results controllers fetch, and a delegate that writes down what it is told.

import Cairn
import Testing

@testable import CairnGraph

class Entry: NSManagedObject {
  @Managed var name: String?
  @Managed var g: String?
  @Managed var pos: Int32
  @Managed var flag: Bool
  @Managed var other: Int32
  @Managed var team: Team?
  @Managed var kind: String?
}

final class SpecialEntry: Entry {
  @Managed var extra: Int32
}

final class Team: NSManagedObject {
  @Managed var name: String?
  @Managed var items: Set<Entry>
}

extension Entry: KeyedMembersProviding {
  class var keyedMembers: KeyedMembers {
    KeyedMembers().key("initial") { (item: Entry) in item.name.map { String($0.prefix(1)) } }
  }
}

/// One store, and contexts over it that are used from the test's own thread.
final class EntryStack {
  let coordinator: NSPersistentStoreCoordinator
  let context: NSManagedObjectContext
  private var others: [NSManagedObjectContext] = []

  init(_ store: StoreUnderTest = .memory) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: EntryStack.makeModel())
    try store.add(to: coordinator)
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
  }

  /// A stack with items of these names, saved; `g` is what stands before a colon.
  convenience init(_ store: StoreUnderTest, _ names: [String]) throws {
    try self.init(store)
    for name in names { add(name) }
    try context.save()
  }

  func otherContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    others.append(context)
    return context
  }

  @discardableResult
  func add(_ name: String, in other: NSManagedObjectContext? = nil) -> Entry {
    let item = Entry(context: other ?? context)
    let parts = name.split(separator: ":").map(String.init)
    item.name = parts.last
    item.g = parts.count > 1 ? parts[0] : nil
    item.flag = true
    return item
  }

  func item(_ name: String, in other: NSManagedObjectContext? = nil) throws -> Entry {
    let found = try (other ?? context).fetch(request(Entry.self, .compare("name", .equal, .string(name))))
    return try #require(found.first)
  }

  /// Saves what `change` does in another context, and merges it.
  func elsewhere(_ change: (NSManagedObjectContext) throws -> Void) throws {
    let other = otherContext()
    let notes = Notes(.NSManagedObjectContextDidSave, other)
    try change(other)
    try other.save()
    for note in notes.all { context.mergeChanges(fromContextDidSave: note) }
  }

  func controller(
    sort: [String] = ["name"], ascending: Bool = true, sections: String? = nil,
    where predicate: PredicateTree? = nil, cache: String? = nil,
    _ configure: (NSFetchRequest<Entry>) -> Void = { _ in }
  ) -> NSFetchedResultsController<Entry> {
    let fetch = request(Entry.self, predicate, sort: sort, ascending: ascending)
    configure(fetch)
    return NSFetchedResultsController(
      fetchRequest: fetch, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: cache)
  }

  static func makeModel() -> NSManagedObjectModel {
    let kind = TestModel.attribute("kind", .string)
    kind.isTransient = true
    let item = TestModel.entity(
      "Entry", Entry.self,
      [
        TestModel.attribute("name", .string), TestModel.attribute("g", .string),
        TestModel.attribute("pos", .integer32, default: 0),
        TestModel.attribute("flag", .boolean, default: false),
        TestModel.attribute("other", .integer32, default: 0), kind,
      ])
    let special = TestModel.entity(
      "SpecialEntry", SpecialEntry.self, [TestModel.attribute("extra", .integer32, default: 0)])
    item.subentities = [special]
    let team = TestModel.entity("Team", Team.self, [TestModel.attribute("name", .string)])
    TestModel.relate(team, "items", toMany: true, item, "team")
    let model = NSManagedObjectModel()
    model.entities = [item, special, team]
    return model
  }
}

/// Writes down the five methods' calls, as `ins(0,2)`, `upd(0,1→0,1)`, `secdel(0)`.
final class CallRecorder: NSFetchedResultsControllerDelegate {
  private(set) var calls: [String] = []
  private(set) var sectionCounts: [Int] = []
  var onWillChange: ((NSFetchedResultsController<NSFetchRequestResult>) -> Void)?
  var onDidChange: ((NSFetchedResultsController<NSFetchRequestResult>) -> Void)?

  /// What was told since the last time.
  func take() -> [String] {
    defer { calls = [] }
    return calls
  }

  static func text(_ path: IndexPath?) -> String { path.map { "\($0.section),\($0.item)" } ?? "nil" }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    calls.append("will")
    onWillChange?(controller)
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    calls.append("\(type == .delete ? "secdel" : "secins")(\(sectionIndex))")
    sectionCounts.append(sectionInfo.numberOfObjects)
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    switch type {
    case .insert: calls.append("ins(\(Self.text(newIndexPath)))")
    case .delete: calls.append("del(\(Self.text(indexPath)))")
    case .move: calls.append("mov(\(Self.text(indexPath))→\(Self.text(newIndexPath)))")
    case .update: calls.append("upd(\(Self.text(indexPath))→\(Self.text(newIndexPath)))")
    }
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    calls.append("did")
    onDidChange?(controller)
  }
}

/// The names of a controller's results by section.
func shown(_ controller: NSFetchedResultsController<Entry>) -> [String] {
  (controller.sections ?? []).map { section in
    "\(section.name):" + (section.objects ?? []).map { ($0 as? Entry)?.name ?? "nil" }.joined(separator: ",")
  }
}
