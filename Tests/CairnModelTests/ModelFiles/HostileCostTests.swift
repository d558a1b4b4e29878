// Small files that stand for enormous models: they throw before memory and time are gone.

import Foundation
import Testing

@testable import CairnModel

@Suite struct HostileCostTests {
  typealias Field = (String, ArchiveWriter.Field)

  private func error(_ data: Data) -> ModelFileError? {
    do {
      _ = try ModelDocument(compiled: data, file: "hostile")
      return nil
    } catch { return error as? ModelFileError }
  }

  /// An archive of entities, by their fields besides the name.
  private func archive(
    _ writer: ArchiveWriter, _ entities: [[Field]], root fields: [Field] = []
  ) -> Data {
    var writer = writer
    let numbers = entities.enumerated().map { i, fields in
      (key: "E\(i)", value: writer.object("NSEntityDescription", entity("E\(i)", fields, &writer)))
    }
    let list = writer.dictionary(numbers)
    let root = writer.object("NSManagedObjectModel", [("NSEntities", .reference(list))] + fields)
    return writer.file(root: root)
  }

  private func entity(_ name: String, _ fields: [Field], _ writer: inout ArchiveWriter) -> [Field] {
    [("NSEntityName", .reference(writer.string(name)))] + fields
  }

  private func attribute(_ name: String, _ fields: [Field] = [], _ writer: inout ArchiveWriter) -> Int {
    writer.object(
      "NSAttributeDescription",
      [("NSPropertyName", .reference(writer.string(name))), ("NSAttributeType", .integer(700))] + fields)
  }

  private func properties(_ members: [(key: String, value: Int)], _ writer: inout ArchiveWriter) -> [Field] {
    [("NSProperties", .reference(writer.dictionary(members)))]
  }

  @Test(
    "a long constant that a predicate refers to a thousand times is too large", .timeLimit(.minutes(1)),
    arguments: [true, false])
  func constants(isText: Bool) {
    var writer = ArchiveWriter()
    let size = 20_000
    let constant =
      isText
      ? writer.string(String(repeating: "x", count: size))
      : writer.object("NSData", [("NS.data", .data(Data(count: size)))])
    let subject = writer.object("NSSelfExpression", [])
    let value = writer.object("NSConstantValueExpression", [("NSConstantValue", .reference(constant))])
    let op = writer.object("NSEqualityPredicateOperator", [("NSOperatorType", .integer(4))])
    let comparison = writer.object(
      "NSComparisonPredicate",
      [
        ("NSLeftExpression", .reference(subject)), ("NSRightExpression", .reference(value)),
        ("NSPredicateOperator", .reference(op)),
      ])
    let parts = writer.list(Array(repeating: comparison, count: 1000))
    let predicate = writer.object(
      "NSCompoundPredicate",
      [("NSCompoundPredicateType", .integer(1)), ("NSSubpredicates", .reference(parts))])
    let rules = writer.list([predicate])
    let a = attribute("a", [("NSValidationPredicates", .reference(rules))], &writer)
    let fields = properties([("a", a)], &writer)
    let data = archive(writer, [fields])
    #expect(data.count < 40_000)
    #expect(error(data)?.code == .tooLarge)
  }

  @Test("a property can't be listed twice in one entity")
  func repeatedProperty() {
    var writer = ArchiveWriter()
    let a = attribute("a", [], &writer)
    let fields = properties([("a", a), ("b", a)], &writer)
    #expect(error(archive(writer, [fields]))?.code == .corrupt)
  }

  @Test("properties that hundreds of entities list are too large", .timeLimit(.minutes(1)))
  func sharedProperties() {
    var writer = ArchiveWriter()
    let members = (0..<300).map { i in
      let name = "p\(i)"
      return (key: name, value: attribute(name, [], &writer))
    }
    let fields = properties(members, &writer)
    #expect(error(archive(writer, [fields]))?.code == nil)
    let data = archive(writer, Array(repeating: fields, count: 200))
    #expect(data.count < 60_000)
    #expect(error(data)?.code == .tooLarge)
  }

  @Test("one user info of hundreds of properties is too large", .timeLimit(.minutes(1)))
  func sharedUserInfo() {
    var writer = ArchiveWriter()
    let text = writer.string("v")
    let info = writer.dictionary((0..<500).map { (key: "key\($0)", value: text) })
    let members = (0..<500).map { i in
      let name = "p\(i)"
      return (key: name, value: attribute(name, [("NSUserInfo", .reference(info))], &writer))
    }
    let fields = properties(members, &writer)
    let data = archive(writer, [fields])
    #expect(data.count < 100_000)
    #expect(error(data)?.code == .tooLarge)
  }

  @Test("a long text in a list of texts, and a long key, are charged each time", .timeLimit(.minutes(1)))
  func texts() {
    let long = String(repeating: "x", count: 20_000)
    var writer = ArchiveWriter()
    let list = writer.list(Array(repeating: writer.string(long), count: 1000), "NSSet")
    #expect(
      error(archive(writer, [], root: [("NSVersionIdentifiers", .reference(list))]))?.code == .tooLarge)

    var second = ArchiveWriter()
    let value = second.string("v")
    let members = (0..<1000).map { i in
      let info = second.dictionary([(key: long, value: value)])
      let name = "p\(i)"
      return (key: name, value: attribute(name, [("NSUserInfo", .reference(info))], &second))
    }
    let fields = properties(members, &second)
    #expect(error(archive(second, [fields]))?.code == .tooLarge)
  }

  @Test("a key of more than 255 bytes isn't kept")
  func longKeys() throws {
    var writer = ArchiveWriter()
    let keys = [255, 256].map { String(repeating: "k", count: $0) }
    let root = writer.object("NSManagedObjectModel", keys.map { ($0, .bool(true)) })
    let archive = try KeyedArchive(writer.file(root: root), file: "hostile")
    let object = try #require(archive.object(archive.root))
    #expect(object.has(keys[0]) && !object.has(keys[1]))
  }

  @Test("real files take less than half of what they may")
  func honest() throws {
    for path in Fixtures.paths(endingIn: ".mom") + ["modelcache/SampleModel2_V2.plist"] {
      let data = try Fixtures.data(path)
      var reader = ArchiveReader(archive: try KeyedArchive(data, file: path))
      _ = try reader.model()
      #expect(reader.archive.cost.spent > 0 && 2 * reader.archive.cost.spent < data.count, "\(path)")
    }
  }

  // MARK: Sources

  @Test("more inherited properties than anybody hashes are refused", .timeLimit(.minutes(1)))
  func inheritedProperties() {
    let own = (0..<10_100).map { "<attribute name=\"a\($0)\" attributeType=\"String\"/>" }.joined()
    let children = (0..<100).map { "<entity name=\"E\($0)\" parentEntity=\"Root\"/>" }.joined()
    let xml = "<model><entity name=\"Root\">\(own)</entity>\(children)</model>"
    let error = #expect(throws: ModelFileError.self) {
      try ModelDocument(contents: Data(xml.utf8), file: "hostile")
    }
    #expect(error?.code == .tooLarge && error?.message.contains("inherit") == true)
  }

  @Test("elements of composites are counted over the whole document, and not only in each attribute")
  func compositeElements() {
    func document(_ count: Int) -> ModelDocument {
      let elements = (0..<4000).map { ModelDocument.Attribute("e\($0)", .double) }
      let attributes = (0..<count).map { ModelDocument.Attribute("a\($0)", .composite, compositeName: "P") }
      return ModelDocument(
        entities: [.init("E", properties: attributes.map { .attribute($0) })],
        composites: [.init("P", elements: elements)])
    }
    #expect(document(16).reduced(to: .compiled).losses == [])
    #expect(document(17).reduced(to: .compiled).losses.map(\.property) == ["a16"])
  }

  @Test("checking is linear in the properties of an entity", .timeLimit(.minutes(1)))
  func checking() {
    let names = (0..<40_000).map { "a\($0)" }
    let entity = ModelDocument.Entity(
      "E", properties: names.map { .attribute(.init($0, .string)) },
      uniquenessConstraints: names.map { [$0] })
    #expect(ModelDocument(entities: [entity]).check() == [])
  }
}
