// What the compiled model tells objects of: composites, transformers, configurations, older indexes, classes.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct CompiledModelTests {
  @Test func `a composite's elements have slots one after the other, defaults included (2.8)`() throws {
    let model = try RichModel.make().compiled()
    let note = try #require(model.entities.first { $0.name == "Memo" })
    let place = try #require(note.composites["place"])
    #expect(note.properties["place"] == nil)
    let start = place.slots.lowerBound
    #expect(place.slots.count == 4)
    #expect(
      note.schema.slots[place.slots].map(\.name) == [
        "place.latitude", "place.longitude", "place.corner.x", "place.corner.tint",
      ])
    let corner = CompiledComposite(
      slots: start + 2..<start + 4,
      elements: [
        .init(name: "x", content: .slot(start + 2, .double)),
        .init(name: "tint", content: .slot(start + 3, .transformable)),
      ])
    #expect(
      place.elements == [
        .init(name: "latitude", content: .slot(start, .double)),
        .init(name: "longitude", content: .slot(start + 1, .double)),
        .init(name: "corner", content: .composite(corner)),
      ])
    #expect(note.defaults[start] == 47.5 && note.defaults[start + 1].isNull)
    #expect(note.transformers[start + 3] == AttributeTransformer(name: nil))
  }

  @Test func `a transformable attribute is kept as bytes, its default value too`() throws {
    let model = try RichModel.make().compiled()
    let note = try #require(model.entities.first { $0.name == "Note" })
    guard case .attribute(let slot, .transformable) = note.properties["colour"] else {
      return #expect(Bool(false), "\(String(describing: note.properties["colour"]))")
    }
    guard case .data(let data) = note.defaults[slot] else { return #expect(Bool(false)) }
    let transformer = try #require(note.transformers[slot])
    #expect(try transformer.value(from: data) as? [String] == ["red", "green"])
  }

  @Test func `the two older spellings of indexes become indexes (2.6.5)`() throws {
    let model = RichModel.make()
    let note = try #require(model.entitiesByName["Note"])
    for name in ["stars", "mood", "place", "tags"] { note.propertiesByName[name]?.isIndexed = true }
    note.compoundIndexes = [["size", "count"], ["stars"]]
    let names = try model.compiled().schema.entity(named: "Note")?.indexes.map(\.name)
    #expect(names == ["byTitle", "byWidth", "stars", "size_count"])
  }

  @Test func `an index over an expression is no fault (2.6.4)`() throws {
    let model = RichModel.make()
    let lower = NSExpressionDescription()
    lower.name = "lower"
    let note = try #require(model.entitiesByName["Note"])
    note.indexes += [
      NSFetchIndexDescription(name: "byLower", elements: [.init(property: lower, collationType: .binary)])
    ]
    #expect(try model.compiled().schema.entity(named: "Note")?.indexes.count == 2)
  }

  @Test func `configurations group entities, and nil is all of them (2.3.3)`() throws {
    let model = RichModel.make()
    #expect(model.configurations == ["Local", "Shared"])
    #expect(model.entities(forConfigurationName: nil)?.count == 4)
    #expect(model.entities(forConfigurationName: "Local")?.map(\.name) == ["Note", "Memo"])
    #expect(model.entities(forConfigurationName: "Other") == nil)
    let compiled = try model.compiled()
    let shared = try #require(compiled.configurations["Shared"])
    #expect(Set(shared.map { compiled[$0].name }) == ["Tag", "Kind", "Note"])
  }

  @Test func `a fetched property is known by name, and takes no slot (2.1.13)`() throws {
    let model = try RichModel.make().compiled()
    let memo = try #require(model.entities.first { $0.name == "Memo" })
    #expect(memo.fetchedProperties["recent"]?.fetchRequest?.entityName == "Note")
    #expect(memo.schema.slot(named: "recent") == nil && memo.properties["recent"] == nil)
  }

  @Test func `templates are kept and found by name (2.4.1)`() {
    let model = RichModel.make()
    #expect(model.fetchRequestTemplatesByName.keys.sorted() == ["byTitle"])
    #expect(model.fetchRequestTemplate(forName: "byTitle") === model.fetchRequestTemplatesByName["byTitle"])
    #expect(model.fetchRequestTemplate(forName: "other") == nil)
    model.setFetchRequestTemplate(nil, forName: "byTitle")
    #expect(model.fetchRequestTemplatesByName.isEmpty)
  }
}

/// A class that only a model's class names lead to; nothing else may use it.
final class LookedUpByModule: NSManagedObject {}

final class LookedUpByDot: NSManagedObject {}

final class LookedUpByFullName: NSManagedObject {}

@Suite struct ClassLookupTests {
  final class Nested: NSManagedObject {}

  private func objectClass(
    _ name: String, fileID: String = #fileID
  ) throws -> NSManagedObject.Type {
    let model = NSManagedObjectModel(fileID: fileID)
    let entity = NSEntityDescription()
    (entity.name, entity.managedObjectClassName) = ("Thing", name)
    model.entities = [entity]
    let compiled = try model.compiled()
    return compiled.objectClass(of: compiled.entities[0])
  }

  @Test func `a bare name is one of the module that made the model`() throws {
    #expect(try objectClass("LookedUpByModule") == LookedUpByModule.self)
    #expect(try objectClass("LookedUpByModule", fileID: "Elsewhere/File.swift") == NSManagedObject.self)
  }

  @Test func `a leading dot means the module that made the model`() throws {
    #expect(try objectClass(".LookedUpByDot") == LookedUpByDot.self)
    #expect(try objectClass(".LookedUpByDot", fileID: "Elsewhere/File.swift") == NSManagedObject.self)
  }

  @Test func `a full name needs no module`() throws {
    let name = "CairnGraphTests.LookedUpByFullName"
    #expect(try objectClass(name, fileID: "Elsewhere/File.swift") == LookedUpByFullName.self)
  }

  @Test func `a nested class is found once it is registered`() throws {
    #expect(try objectClass("Nested") == NSManagedObject.self)
    NSManagedObjectModel.registerManagedObjectClasses(Nested.self)
    #expect(try objectClass("Nested") == Nested.self)
    #expect(try objectClass(String(reflecting: Nested.self)) == Nested.self)
  }

  @Test func `a name that leads nowhere leaves NSManagedObject`() throws {
    #expect(try objectClass("NoSuchClass") == NSManagedObject.self)
    #expect(try objectClass("NSManagedObject") == NSManagedObject.self)
  }
}
