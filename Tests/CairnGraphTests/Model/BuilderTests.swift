// Models written down in Swift.

import Cairn
import Testing

@testable import CairnGraph

private final class Folder: NSManagedObject {}

private final class Page: NSManagedObject {}

@Suite struct BuilderTests {
  private func notes(withPages: Bool = true) -> NSManagedObjectModel {
    NSManagedObjectModel(versionIdentifiers: ["7"]) {
      NSEntityDescription("Folder", Folder.self, unique: [["name", "rank"]], configurations: ["Local"]) {
        NSAttributeDescription("name", .string, optional: false, default: "New", unique: true)
        NSAttributeDescription("rank", .integer16, indexed: true, min: 0, max: 9)
        NSRelationshipDescription(
          "notes", toMany: "Note", ordered: true, min: 1, max: 50, deleteRule: .cascade)
      }
      NSEntityDescription("Note", abstract: true, indexes: [["made", "text"]], originalName: "Memo") {
        NSAttributeDescription("text", .string, min: 1, max: 80, regex: "[a-z]+", originalName: "body")
        NSAttributeDescription("made", .date)
        NSAttributeDescription("draft", .boolean, transient: true)
        NSAttributeDescription("tint", .transformable, transformer: "Tint")
        NSCompositeAttributeDescription("place") {
          NSAttributeDescription("x", .double)
          NSAttributeDescription("y", .double)
        }
        NSDerivedAttributeDescription("folderName", .string, from: "folder.name")
        NSRelationshipDescription("folder", to: "Folder", inverse: "notes", optional: false)
        NSFetchedPropertyDescription("all", fetching: NSFetchRequest(entityName: "Note"))
      }
      if withPages {
        NSEntityDescription("Page", Page.self, parent: "Note", configurations: ["Local", "Remote"]) {
          for name in ["a", "b"] { NSAttributeDescription(name, .float) }
        }
      }
    }
  }

  @Test func `the model that a builder makes is sound, and all that was said is in it`() throws {
    let model = notes()
    try model.validate()
    #expect(model.versionIdentifiers == ["7"] && model.fileID == #fileID)
    #expect(model.entities.map(\.name) == ["Folder", "Note", "Page"])
    let folder = try #require(model.entitiesByName["Folder"])
    #expect(folder.givenClass == Folder.self && folder.constraintNames == [["name"], ["name", "rank"]])
    let name = try #require(folder.attributesByName["name"])
    #expect(!name.isOptional && name.defaultValue as? String == "New" && name.type == .string)
    #expect(folder.attributesByName["rank"]?.isIndexed == true)
    let note = try #require(model.entitiesByName["Note"])
    #expect(
      note.isAbstract && note.renamingIdentifier == "Memo" && note.managedObjectClassName == "NSManagedObject"
    )
    #expect(note.attributesByName["text"]?.renamingIdentifier == "body")
    #expect(note.attributesByName["draft"]?.isTransient == true)
    #expect(note.attributesByName["tint"]?.valueTransformerName == "Tint")
    #expect(
      try model.compiled().schema.entity(named: "Note")?.indexes.map(\.name) == ["made_text"])
    let page = try #require(model.entitiesByName["Page"])
    #expect(page.superentity === note && page.ownProperties.map(\.name) == ["a", "b"])
    #expect(model.configurations == ["Local", "Remote"])
    #expect(model.entities(forConfigurationName: "Local")?.map(\.name) == ["Folder", "Page"])
  }

  @Test func `an inverse that one side names holds for both`() throws {
    let model = notes()
    let folder = try #require(model.entitiesByName["Folder"])
    let note = try #require(model.entitiesByName["Note"])
    let notes = try #require(folder.relationshipsByName["notes"])
    let back = try #require(note.relationshipsByName["folder"])
    #expect(notes.inverseRelationship === back && back.inverseRelationship === notes)
    #expect(notes.destinationEntity === note && back.destinationEntity === folder)
    #expect(notes.isOrdered && notes.minCount == 1 && notes.maxCount == 50 && notes.deleteRule == .cascade)
    #expect(!back.isToMany && !back.isOptional && back.deleteRule == .nullify)
  }

  @Test func `a relationship can be its own inverse`() throws {
    let model = NSManagedObjectModel {
      NSEntityDescription("Person") {
        NSRelationshipDescription("friends", toMany: "Person", inverse: "friends")
      }
    }
    try model.validate()
    let friends = try #require(model.entities[0].relationshipsByName["friends"])
    #expect(friends.inverseRelationship === friends)
  }

  @Test func `bounds are validation predicates with the numbers of their errors (3.10.3)`() throws {
    let model = notes()
    let rank = try #require(model.entitiesByName["Folder"]?.attributesByName["rank"])
    #expect(rank.validations.map(\.code) == [1620, 1610])
    #expect(rank.validationPredicates.map { $0.evaluate(with: 9) } == [true, true])
    #expect(rank.validationPredicates.map { $0.evaluate(with: 10) } == [true, false])
    #expect(rank.validationPredicates.map { $0.evaluate(with: -1) } == [false, true])
    let text = try #require(model.entitiesByName["Note"]?.attributesByName["text"])
    #expect(text.validations.map(\.code) == [1670, 1660, 1680])
    #expect(text.validationPredicates.map { $0.evaluate(with: "abc") } == [true, true, true])
    #expect(text.validationPredicates.map { $0.evaluate(with: "") } == [false, true, false])
    #expect(
      text.validationPredicates.map { $0.evaluate(with: String(repeating: "a", count: 81)) } == [
        true, false, true,
      ])
    let date = NSAttributeDescription("when", .date, min: Date.distantPast, max: Date.distantFuture)
    #expect(date.validations.map(\.code) == [1640, 1630])
  }

  @Test func `names that lead nowhere are faults`() throws {
    let model = NSManagedObjectModel {
      NSEntityDescription("A", parent: "Nothing") {
        NSRelationshipDescription("b", to: "B")
        NSRelationshipDescription("c", toMany: "A", inverse: "d")
      }
    }
    let faults = try #require(throws: SchemaError.self) { try model.validate() }.faults.map(\.message)
    #expect(faults.contains("inherits from \"Nothing\", which doesn't exist"))
    #expect(faults.contains("leads to \"B\", which doesn't exist"))
    #expect(faults.contains { $0.contains("names the inverse \"d\"") })
  }

  @Test func `a bound of another type is a programmer error`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = NSAttributeDescription("age", .integer16, min: "zero")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("\"age\" is of the type int16, and zero is no min of that"))
  }
}

@Suite struct DerivationTests {
  private func model(_ type: NSAttributeDescription.AttributeType, _ format: String) -> NSManagedObjectModel {
    NSManagedObjectModel {
      NSEntityDescription("Author") {
        NSAttributeDescription("name", .string)
        NSAttributeDescription("born", .date)
        NSRelationshipDescription("books", toMany: "Book", inverse: "author")
        NSDerivedAttributeDescription("derived", type, from: format)
      }
      NSEntityDescription("Book") {
        NSAttributeDescription("title", .string)
        NSAttributeDescription("price", .decimal)
        NSRelationshipDescription("author", to: "Author")
        NSRelationshipDescription("publisher", to: "Author")
      }
    }
  }

  @Test(arguments: [
    ("name", NSAttributeDescription.AttributeType.string), ("born", .date), ("canonical:(name)", .string),
    ("uppercase:(name)", .string), ("lowercase:(name)", .string), ("books.@count", .integer64),
    ("books.@sum.price", .decimal), ("now()", .date),
  ])
  func `the forms that derivations have (2.7.1)`(
    _ format: String, _ type: NSAttributeDescription.AttributeType
  ) throws {
    try model(type, format).validate()
  }

  @Test(arguments: [
    ("name", NSAttributeDescription.AttributeType.date, "a copy is of the type of what is copied"),
    ("missing", .string, "leads to no other attribute"), ("derived", .string, "leads to no other attribute"),
    ("books.title", .string, "is no to-one relationship"), ("books.@count", .string, "a count is an integer"),
    ("name.@count", .integer16, "is no to-many relationship"), ("books.@sum.title", .decimal, "is no number"),
    ("books.@max.price", .decimal, "is no derivation"), ("1 + 2", .integer16, "is no derivation"),
    ("now()", .string, "now() gives a date"), ("uppercase:(born)", .string, "only strings are folded"),
  ])
  func `another form is a fault (2.7.3)`(
    _ format: String, _ type: NSAttributeDescription.AttributeType, _ message: String
  ) throws {
    let error = try #require(throws: SchemaError.self) { try model(type, format).validate() }
    #expect(error.faults.contains { $0.property == "derived" && $0.message.contains(message) }, "\(error)")
  }

  @Test func `a derivation goes over to-one relationships`() throws {
    let model = model(.string, "name")
    let book = try #require(model.entitiesByName["Book"])
    book.properties += [NSDerivedAttributeDescription("authorName", .string, from: "author.name")]
    try model.validate()
  }
}
