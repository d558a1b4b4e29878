// A model in code with its classes, as programs write them.

import CoreData
import Foundation

final class Note: NSManagedObject {
  @Managed var title: String
  @Managed var body: String?
  @Managed var createdAt: Date?
  @Managed var isPinned: Bool
  @Managed var folder: Folder?
}

final class Folder: NSManagedObject {
  @Managed var name: String
  @Managed var notes: Set<Note>
}

extension NSManagedObjectModel {
  /// One model for the whole program, so that each class is of one entity.
  static let notes: NSManagedObjectModel = {
    func attribute(_ name: String, _ type: NSAttributeType, optional: Bool = true) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = optional
      return attribute
    }
    let note = NSEntityDescription()
    note.name = "Note"
    note.managedObjectClassName = String(reflecting: Note.self)
    let folder = NSEntityDescription()
    folder.name = "Folder"
    folder.managedObjectClassName = String(reflecting: Folder.self)

    let notes = NSRelationshipDescription()
    let parent = NSRelationshipDescription()
    notes.name = "notes"
    notes.destinationEntity = note
    notes.deleteRule = .cascadeDeleteRule
    notes.inverseRelationship = parent
    parent.name = "folder"
    parent.destinationEntity = folder
    parent.maxCount = 1
    parent.inverseRelationship = notes

    let isPinned = attribute("isPinned", .booleanAttributeType, optional: false)
    isPinned.defaultValue = false
    note.properties = [
      attribute("title", .stringAttributeType, optional: false), attribute("body", .stringAttributeType),
      attribute("createdAt", .dateAttributeType), isPinned, parent,
    ]
    folder.properties = [attribute("name", .stringAttributeType, optional: false), notes]
    folder.uniquenessConstraints = [["name"]]
    let model = NSManagedObjectModel()
    model.entities = [note, folder]
    return model
  }()
}
