// Models made of classes with `@Managed` properties.

import Cairn
import Testing

@testable import CairnGraph

private class Item: NSManagedObject {
  enum Status: Int16, ManagedAttribute { case open, done }
  enum Kind: String, ManagedAttribute { case short, long }

  @Managed(.unique, .indexed, originalName: "name") var title: String
  @Managed var note: String?
  @Managed var count: Int
  @Managed(default: 7) var rank: Int16
  @Managed var size: Int32?
  @Managed var ratio: Double
  @Managed var share: Float
  @Managed var isDone: Bool
  @Managed var made: Date!
  @Managed(.externalStorage, .preservedInHistory) var body: Data?
  @Managed var uuid: UUID
  @Managed var link: URL?
  @Managed var price: Decimal
  @Managed(default: Status.done) var status: Status
  @Managed var kind: Kind?
  @Managed(.transient) var draft: String?
  @Managed var list: List?
  @Managed var authors: [Writer]
}

private final class SpecialItem: Item {
  @Managed var extra: String
}

private final class List: NSManagedObject {
  @Managed(inverse: \Item.list, deleteRule: .cascade) var items: Set<Item>
  @Managed var parent: List?
}

private final class Writer: NSManagedObject {
  @Managed var name: String
  @Managed var works: Set<Item>
}

/// Not in the list of any model; its property becomes its child's own.
private class Base: NSManagedObject {
  @Managed var base: String
}

private final class Derived: Base {
  @Managed var own: Int64
}

extension Derived {
  @Managed var inExtension: String?
}

@Suite struct ClassModelTests {
  private func model() -> NSManagedObjectModel {
    NSManagedObjectModel(for: Item.self, SpecialItem.self, List.self, Writer.self)
  }

  @Test func `types of variables say types of attributes`() throws {
    let item = try #require(model().entitiesByName["Item"])
    let expected: [(String, NSAttributeDescription.AttributeType, Bool, Int?)] = [
      ("title", .string, false, nil), ("note", .string, true, nil), ("count", .integer64, false, 0),
      ("rank", .integer16, false, 7), ("size", .integer32, true, nil), ("ratio", .double, false, 0),
      ("share", .float, false, 0), ("isDone", .boolean, false, 0), ("made", .date, true, nil),
      ("body", .binaryData, true, nil), ("uuid", .uuid, false, nil), ("link", .uri, true, nil),
      ("price", .decimal, false, nil), ("status", .integer16, false, 1), ("kind", .string, true, nil),
      ("draft", .string, true, nil),
    ]
    #expect(item.properties.map(\.name) == expected.map(\.0) + ["list", "authors"])
    for (name, type, isOptional, value) in expected {
      let attribute = try #require(item.attributesByName[name])
      #expect(attribute.type == type && attribute.isOptional == isOptional, "\(name)")
      #expect(
        (attribute.defaultValue as? NSNumber ?? (attribute.defaultValue as? Int16).map { NSNumber(value: $0) })?
          .intValue == value, "\(name)")
    }
  }

  @Test func `arguments say the rest`() throws {
    let item = try #require(model().entitiesByName["Item"])
    #expect(item.constraintNames == [["title"]])
    let title = try #require(item.attributesByName["title"])
    #expect(title.isIndexed && title.renamingIdentifier == "name")
    #expect(item.attributesByName["draft"]?.isTransient == true)
    let body = try #require(item.attributesByName["body"])
    #expect(body.allowsExternalBinaryDataStorage && body.preservesValueInHistoryOnDeletion)
  }

  @Test func `a superclass in the list is the parent`() throws {
    let model = model()
    let special = try #require(model.entitiesByName["SpecialItem"])
    #expect(special.superentity === model.entitiesByName["Item"])
    #expect(special.ownProperties.map(\.name) == ["extra"] && special.givenClass == SpecialItem.self)
  }

  @Test func `inverses are named on one side, or follow where there is one choice`() throws {
    let model = model()
    let (item, list) = (
      try #require(model.entitiesByName["Item"]), try #require(model.entitiesByName["List"])
    )
    let items = try #require(list.relationshipsByName["items"])
    #expect(items.inverseRelationship === item.relationshipsByName["list"])
    #expect(item.relationshipsByName["list"]?.inverseRelationship === items)
    #expect(items.deleteRule == .cascade && items.isToMany && !items.isOrdered)
    let authors = try #require(item.relationshipsByName["authors"])
    #expect(authors.inverseRelationship?.name == "works" && authors.isOrdered)
    #expect(list.relationshipsByName["parent"]?.inverseRelationship == nil)
    #expect(try model.validate().map(\.property) == ["parent"])
  }

  @Test
  func `properties of a superclass outside of the list are the class's own, those of extensions nobody's`()
    throws
  {
    let derived = NSManagedObjectModel(for: Derived.self).entities[0]
    #expect(derived.ownProperties.map(\.name) == ["base", "own"] && derived.superentity == nil)
  }

  @Test func `a class that the list lacks is a fault`() throws {
    let error = try #require(throws: SchemaError.self) {
      try NSManagedObjectModel(for: List.self).validate()
    }
    #expect(error.faults.contains { $0.property == "items" && $0.message.contains("\"Item\"") })
  }

  @Test func `the constants of properties take no memory in an object`() {
    #expect(MemoryLayout<ManagedField<String?>>.size == 0)
  }

  @Test func `a model of classes stores and fetches their objects`() throws {
    let stack = try Stack(model())
    let item = SpecialItem(context: stack.context)
    (item.title, item.extra, item.uuid, item.price, item.made) = ("a", "b", UUID(), 1.5, Date())
    let list = List(context: stack.context)
    item.list = list
    try stack.context.save()
    let found = try stack.otherContext().fetch(SpecialItem.fetchRequest() as NSFetchRequest<SpecialItem>)
    #expect(found.map(\.rank) == [7] && found.map(\.status) == [.done] && found[0].list?.items == [found[0]])
  }
}
