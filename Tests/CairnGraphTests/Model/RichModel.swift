// A model with something of everything that descriptions can say.

import Cairn

@testable import CairnGraph

enum RichModel {
  static func make() -> NSManagedObjectModel {
    let note = NSEntityDescription()
    note.name = "Note"
    note.managedObjectClassName = "Notes.Note"
    note.properties = attributes() + [place(), recent()]
    let (tag, memo) = (NSEntityDescription(), NSEntityDescription())
    (tag.name, memo.name) = ("Tag", "Memo")
    tag.isAbstract = true
    tag.properties = [TestModel.attribute("text", .string)]
    memo.properties = [TestModel.attribute("spoken", .boolean, default: true)]
    let kind = NSEntityDescription()
    (kind.name, kind.superentity) = ("Kind", nil)
    tag.subentities = [kind]
    note.subentities = [memo]
    let tags = TestModel.relate(
      note, "tags", toMany: true, ordered: true, tag, "notes", inverseToMany: true)
    (tags.deleteRule, tags.isOptional) = (.cascadeDeleteRule, false)
    decorate(note)
    let model = NSManagedObjectModel()
    model.entities = [note, memo, tag, kind]
    model.versionIdentifiers = ["3.1"]
    model.localizationDictionary = ["Entity/Note": "Notiz", "Property/title/Entity/Note": "Titel"]
    model.setEntities([note, memo], forConfigurationName: "Local")
    model.setEntities([tag, kind, note], forConfigurationName: "Shared")
    model.setFetchRequestTemplate(template(), forName: "byTitle")
    return model
  }

  /// A request with another value in each field that a compiled model holds.
  private static func template() -> NSFetchRequest<NSFetchRequestResult> {
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Note")
    request.predicateTree = .compare("title", .equal, "x")
    request.sortDescriptors = [
      NSSortDescriptor(key: "title", ascending: true, selector: .localizedStandardCompare)
    ]
    (request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (9, 2, 3)
    (request.includesSubentities, request.includesPendingChanges) = (false, false)
    (request.includesPropertyValues, request.returnsObjectsAsFaults) = (false, false)
    request.returnsDistinctResults = true
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["title", "stars"]
    request.propertiesToGroupBy = ["title"]
    request.havingPredicate = NSPredicate(format: "stars > 1")
    request.relationshipKeyPathsForPrefetching = ["tags", "tags.notes"]
    return request
  }

  private static func attributes() -> [NSAttributeDescription] {
    let title = TestModel.attribute("title", .string, default: "untitled")
    (title.isOptional, title.renamingIdentifier) = (false, "name")
    title.userInfo = ["hint": "short"]
    let mood = TestModel.attribute("mood", .undefined)
    mood.isTransient = true
    let colour = TestModel.attribute("colour", .transformable, default: ["red", "green"])
    colour.attributeValueClassName = "NSArray"
    return [
      title, mood, colour, TestModel.attribute("stars", .integer16, default: 3),
      TestModel.attribute("size", .integer32), TestModel.attribute("count", .integer64),
      TestModel.attribute("price", .decimal, default: NSDecimalNumber(string: "1.5")),
      TestModel.attribute("width", .double, default: 2.5), TestModel.attribute("height", .float),
      TestModel.attribute("isDone", .boolean, default: false),
      TestModel.attribute("made", .date, default: Date(timeIntervalSinceReferenceDate: 1000)),
      TestModel.attribute("body", .binaryData), TestModel.attribute("uuid", .uuid),
      TestModel.attribute("link", .uri),
    ]
  }

  private static func place() -> NSCompositeAttributeDescription {
    let place = NSCompositeAttributeDescription()
    place.name = "place"
    let corner = NSCompositeAttributeDescription()
    corner.name = "corner"
    corner.elements = [TestModel.attribute("x", .double), TestModel.attribute("tint", .transformable)]
    place.elements = [
      TestModel.attribute("latitude", .double, default: 47.5), TestModel.attribute("longitude", .double),
      corner,
    ]
    return place
  }

  private static func recent() -> NSFetchedPropertyDescription {
    let recent = NSFetchedPropertyDescription()
    recent.name = "recent"
    recent.fetchRequest = NSFetchRequest<NSFetchRequestResult>(entityName: "Note")
    return recent
  }

  private static func decorate(_ note: NSEntityDescription) {
    note.uniquenessConstraints = [["title", "stars"]]
    note.userInfo = ["purpose": "tests"]
    let names = note.attributesByName
    if let title = names["title"], let made = names["made"], let width = names["width"] {
      let byTitle = NSFetchIndexDescription(
        name: "byTitle",
        elements: [title, made].map { NSFetchIndexElementDescription(property: $0, collationType: .binary) })
      byTitle.partialIndexPredicate = NSPredicate(value: true)
      let byWidth = NSFetchIndexDescription(
        name: "byWidth",
        elements: [NSFetchIndexElementDescription(property: width, collationType: .rTree)])
      note.indexes = [byTitle, byWidth]
    }
  }
}
