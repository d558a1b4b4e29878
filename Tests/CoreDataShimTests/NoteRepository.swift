// A class of the kind that stands between a program and its stack, and an observer.

import CoreData
import Foundation

final class NoteRepository: Sendable {
  private let container: NSPersistentContainer
  private var context: NSManagedObjectContext { container.viewContext }

  init(container: NSPersistentContainer) {
    self.container = container
  }

  @discardableResult
  func add(_ title: String, body: String? = nil, to folder: Folder? = nil) throws -> Note {
    let note = Note(context: context)
    note.title = title
    note.body = body
    note.createdAt = Date()
    note.folder = folder
    try saveIfNeeded()
    return note
  }

  func folder(named name: String) throws -> Folder {
    let request: NSFetchRequest<Folder> = Folder.fetchRequest()
    request.predicate = NSPredicate(format: "%K == %@", "name", name)
    request.fetchLimit = 1
    if let found = try context.fetch(request).first { return found }
    let made = NSEntityDescription.insertNewObject(forEntityName: "Folder", into: context) as! Folder
    made.name = name
    return made
  }

  func notes(containing text: String) throws -> [Note] {
    let request = NSFetchRequest<Note>(entityName: "Note")
    request.predicate = NSPredicate(format: "title CONTAINS[cd] %@ OR body CONTAINS[cd] %@", text, text)
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return try context.fetch(request)
  }

  func count() throws -> Int { try context.count(for: NSFetchRequest<Note>(entityName: "Note")) }

  func delete(_ object: NSManagedObject) throws {
    context.delete(object)
    try saveIfNeeded()
  }

  func importNotes(_ titles: [String]) async throws {
    try await container.performBackgroundTask { context in
      for title in titles {
        let note = Note(context: context)
        note.title = title
      }
      try context.save()
    }
  }

  private func saveIfNeeded() throws {
    guard context.hasChanges else { return }
    do {
      try context.save()
    } catch {
      context.rollback()
      throw error
    }
  }
}

/// Counts what the saves of one context have written.
///
/// Sendable: only the context's queue posts, and asks.
final class SaveObserver: @unchecked Sendable {
  private(set) var inserted = 0
  private(set) var deleted = 0
  private var token: NSObjectProtocol?

  init(context: NSManagedObjectContext) {
    token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { [unowned self] notification in
      inserted += (notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0
      deleted += (notification.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject>)?.count ?? 0
    }
  }

  deinit { token.map(NotificationCenter.default.removeObserver) }
}
