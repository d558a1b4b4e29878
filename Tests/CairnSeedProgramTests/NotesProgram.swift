// The data-access objects of a notes application. Shown whole in the documentation's "A notes application".

// begin
import Cairn

/// A note as the application passes it around: a plain value, which knows nothing of any store.
struct Note: Equatable {
  var date: Date
  var content: String
}

/// A note as the store keeps it.
final class NoteManagedObject: NSManagedObject {
  @Managed var date: Date
  @Managed var content: String
}

/// What every data-access object needs: a model, a coordinator with a store, and a context.
@MainActor class CoreDataDAO {
  let store: NSPersistentStoreDescription

  init(store: NSPersistentStoreDescription) {
    self.store = store
  }

  lazy var managedObjectModel: NSManagedObjectModel = {
    let date = NSAttributeDescription()
    date.name = "date"
    date.type = .date
    date.isOptional = false
    let content = NSAttributeDescription()
    content.name = "content"
    content.type = .string
    content.isOptional = false
    let note = NSEntityDescription()
    note.name = "Note"
    note.managedObjectClassName = "NoteManagedObject"
    note.properties = [date, content]
    let model = NSManagedObjectModel()
    model.entities = [note]
    return model
  }()

  lazy var persistentStoreCoordinator: NSPersistentStoreCoordinator = {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: managedObjectModel)
    do {
      try coordinator.addPersistentStore(
        ofType: store.type, configurationName: store.configuration, at: store.url, options: store.options)
    } catch {
      fatalError("can't open the store: \(error)")
    }
    return coordinator
  }()

  lazy var managedObjectContext: NSManagedObjectContext = {
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }()

  func saveContext() throws {
    if managedObjectContext.hasChanges { try managedObjectContext.save() }
  }
}

/// Finds, makes, changes and removes notes. A note is known by its date.
@MainActor final class NoteDAO: CoreDataDAO {
  /// The one that the application uses.
  static let shared = NoteDAO(store: NSPersistentStoreDescription())

  func findAll() throws -> [Note] {
    let request = NSFetchRequest<NoteManagedObject>(entityName: "Note")
    request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
    return try managedObjectContext.fetch(request).map { Note(date: $0.date, content: $0.content) }
  }

  func findById(_ date: Date) throws -> Note? {
    try managedNote(date).map { Note(date: $0.date, content: $0.content) }
  }

  func create(_ note: Note) throws {
    let managed = NoteManagedObject(context: managedObjectContext)
    managed.date = note.date
    managed.content = note.content
    try saveContext()
  }

  func remove(_ note: Note) throws {
    guard let managed = try managedNote(note.date) else { return }
    managedObjectContext.delete(managed)
    try saveContext()
  }

  func modify(_ note: Note) throws {
    guard let managed = try managedNote(note.date) else { return }
    managed.content = note.content
    try saveContext()
  }

  private func managedNote(_ date: Date) throws -> NoteManagedObject? {
    let request = NSFetchRequest<NoteManagedObject>(entityName: "Note")
    request.predicate = NSPredicate(format: "date = %@", date)
    request.fetchLimit = 1
    return try managedObjectContext.fetch(request).first
  }
}
// end
