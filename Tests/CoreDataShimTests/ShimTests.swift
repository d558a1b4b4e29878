// Programs that import CoreData and nothing of Cairn.

import CoreData
import Foundation
import Testing

#if !canImport(CoreData)
  #error("the module of this name is there, so canImport says yes")
#endif

@MainActor @Suite struct ShimTests {
  @Test func `a stack with a container works`() throws {
    let persistence = Persistence(inMemory: true)
    let repository = NoteRepository(container: persistence.container)
    try repository.add("Milk", body: "two litres")
    #expect(try repository.notes(containing: "LITRES").map(\.title) == ["Milk"])
  }

  @Test func `a stack by hand works`() throws {
    let stack = try ClassicStack()
    let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: stack.mainContext)
    note.setValue("Milk", forKey: "title")
    try stack.mainContext.save()
    #expect(stack.coordinator.persistentStores.first?.type == NSInMemoryStoreType)
    #expect(!note.objectID.isTemporaryID && note is Note)
  }

  @Test func `a data access class adds, finds, imports and deletes`() async throws {
    let container = try makeTestContainer()
    let repository = NoteRepository(container: container)
    let observer = SaveObserver(context: container.viewContext)
    let folder = try repository.folder(named: "Shopping")
    try repository.add("Milk", to: folder)
    try repository.add("Éclairs", body: "for tea", to: folder)
    #expect(try repository.folder(named: "Shopping") === folder && folder.notes.count == 2)
    #expect(try repository.notes(containing: "eclairs").count == 1)
    try await repository.importNotes(["a", "b", "c"])
    #expect(try repository.count() == 5)
    try repository.delete(folder)
    #expect(try repository.count() == 3, "the folder's notes go with it")
    #expect(observer.inserted == 3 && observer.deleted == 3)
  }

  @Test func `a refused save is known by its code`() throws {
    let container = try makeTestContainer()
    for _ in 0..<2 { Folder(context: container.viewContext).name = "same" }
    #expect { try container.viewContext.save() } throws: { error in
      (error as? CocoaError)?.code == .managedObjectConstraintMerge
        && (error as NSError).code == NSManagedObjectConstraintMergeError
    }
    container.viewContext.rollback()
    #expect(!container.viewContext.hasChanges)
  }
}
