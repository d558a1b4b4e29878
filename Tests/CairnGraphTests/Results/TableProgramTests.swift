// A program as they are written for Core Data: employees by height in sections, in a table that only the
// delegate changes.

import Cairn
import Testing

@testable import CairnGraph

final class Clerk: NSManagedObject, KeyedMembersProviding {
  @Managed var name: String
  @Managed var height: Int32

  /// Heights by tens.
  var sectionName: String { "\(height / 10)" }

  class var keyedMembers: KeyedMembers {
    KeyedMembers().key("sectionName") { (clerk: Clerk) in clerk.sectionName }
  }
}

/// A screen with a table of clerks.
private final class ClerkScreen: NSFetchedResultsControllerDelegate {
  let context: NSManagedObjectContext
  let results: NSFetchedResultsController<Clerk>
  private(set) var table = ModelTable<String>([])
  private(set) var errors: [any Error] = []

  init(_ coordinator: NSPersistentStoreCoordinator) throws {
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    let request = NSFetchRequest<Clerk>(entityName: "Clerk")
    request.sortDescriptors = [NSSortDescriptor(key: "height", ascending: true)]
    results = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "sectionName", cacheName: nil)
    results.delegate = self
    try results.performFetch()
    table = ModelTable((results.sections ?? []).map { ($0.objects as? [Clerk] ?? []).map(row) })
  }

  private func row(_ clerk: Clerk) -> String { "\(clerk.name) \(clerk.height)" }

  var titles: [String?] { (results.sections ?? []).map(\.indexTitle) }

  func deleteRow(_ path: IndexPath) {
    context.delete(results.object(at: path))
    context.processPendingChanges()
  }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    table.beginUpdates()
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    switch type {
    case .insert: table.insertSection(sectionIndex)
    case .delete: table.deleteSection(sectionIndex)
    default: break
    }
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    guard let clerk = anObject as? Clerk else { return }
    if let indexPath { table.deleteRow(indexPath) }
    if let newIndexPath { table.insertRow(row(clerk), newIndexPath) }
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    do {
      try table.endUpdates(counts: (results.sections ?? []).map(\.numberOfObjects))
    } catch {
      errors.append(error)
    }
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? { "[\(sectionName)]" }
}

@Suite struct TableProgramTests {
  @Test(
    "A table that only its delegate changes shows the results after each step",
    arguments: StoreUnderTest.allCases)
  func program(_ store: StoreUnderTest) throws {
    let entity = TestModel.entity(
      "Clerk", Clerk.self,
      [TestModel.attribute("name", .string), TestModel.attribute("height", .integer32, default: 0)])
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try store.add(to: coordinator)
    let writer = NSManagedObjectContext(.privateQueue)
    writer.persistentStoreCoordinator = coordinator
    for (name, height) in [("ann", 12), ("bob", 15), ("cyd", 31), ("dan", 38)] {
      let clerk = Clerk(context: writer)
      clerk.name = name
      clerk.height = Int32(height)
    }
    try writer.save()

    let screen = try ClerkScreen(coordinator)
    #expect(screen.table.sections == [["ann 12", "bob 15"], ["cyd 31", "dan 38"]])
    #expect(screen.titles == ["[1]", "[3]"])
    screen.deleteRow([0, 1])
    #expect(screen.table.sections == [["ann 12"], ["cyd 31", "dan 38"]])
    try screen.context.save()
    screen.deleteRow([0, 0])
    #expect(screen.table.sections == [["cyd 31", "dan 38"]])
    #expect(screen.titles == ["[3]"])
    let lxz = Clerk(context: screen.context)
    lxz.name = "lxz"
    lxz.height = 35
    try screen.context.save()
    #expect(screen.table.sections == [["cyd 31", "lxz 35", "dan 38"]])
    lxz.height = 15
    screen.context.processPendingChanges()
    #expect(screen.table.sections == [["lxz 15"], ["cyd 31", "dan 38"]])
    #expect(screen.titles == ["[1]", "[3]"])
    #expect(screen.errors.isEmpty)
  }
}
