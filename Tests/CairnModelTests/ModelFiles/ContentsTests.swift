// Reading and writing Xcode's XML.

import Foundation
import Testing

@testable import CairnModel

@Suite struct ContentsTests {
  @Test(
    "every contents file of real programs is read without an error note and written so that it reads the same"
  )
  func realFiles() throws {
    let paths = Fixtures.paths(endingIn: "/contents")
    #expect(paths.count >= 60)
    for path in paths {
      let document = try Fixtures.document(path)
      #expect(document.notes.filter { $0.severity == .error } == [], "\(path)")
      let again = try ModelDocument(contents: document.contents(), file: path)
      let (expected, losses) = document.reduced(to: .source)
      #expect(again == expected, "\(path)")
      #expect(losses == [], "\(path)")
    }
  }

  @Test("what Xcode wrote lately is written again byte for byte, apart from the editor's positions")
  func bytes() throws {
    for path in Fixtures.paths(endingIn: "/contents") {
      let text = try Fixtures.text(path)
      guard let document = try? Fixtures.document(path),
        Int(document.editor.lastSavedToolsVersion ?? "") ?? 0 >= 17000, document.fetchRequests.isEmpty
      else { continue }
      let plain = text.replacing(#/[ ]*<elements>(?s:.*?)</elements>\n/#, with: "")
      let written = String(decoding: try document.contents(), as: UTF8.self)
      // Left over from when the attribute was a double.
      let spelled = plain.replacing(
        "Integer 16\" defaultValueString=\"0.0\"", with: "Integer 16\" defaultValueString=\"0\"")
      #expect(written.trimmed == spelled.trimmed, "\(path)")
    }
  }

  @Test("a document with every feature is read back equal, and its file stays as it is")
  func sample() throws {
    let written = try ModelDocument.sample.contents()
    let read = try ModelDocument(contents: written, file: "sample")
    #expect(read == ModelDocument.sample)
    #expect(String(decoding: written, as: UTF8.self) == (try Fixtures.text("golden/sample.contents")))
  }

  // MARK: One attribute after the other

  struct Case: CustomTestStringConvertible, Sendable {
    let xml: String
    let holds: @Sendable (ModelDocument) -> Bool
    var testDescription: String { xml }
  }

  private static func model(_ xml: String, _ holds: @escaping @Sendable (ModelDocument) -> Bool) -> Case {
    Case(xml: "<model \(xml)/>", holds: holds)
  }

  private static func entity(
    _ xml: String, _ holds: @escaping @Sendable (ModelDocument.Entity) -> Bool
  ) -> Case {
    Case(xml: "<model><entity name=\"E\" \(xml)</entity></model>") { $0.entities.first.map(holds) == true }
  }

  private static func attribute(
    _ xml: String, _ holds: @escaping @Sendable (ModelDocument.Attribute) -> Bool
  ) -> Case {
    entity("><attribute name=\"a\" \(xml)/>") { $0.attributes.first.map(holds) == true }
  }

  private static func relationship(
    _ xml: String, _ holds: @escaping @Sendable (ModelDocument.Relationship) -> Bool
  ) -> Case {
    entity("><relationship name=\"r\" destinationEntity=\"D\" \(xml)/>") {
      $0.relationships.first.map(holds) == true
    }
  }

  private static func request(
    _ xml: String, _ holds: @escaping @Sendable (ModelDocument.FetchRequest) -> Bool
  ) -> Case {
    Case(xml: "<model><fetchRequest name=\"f\" entity=\"E\" \(xml)/></model>") {
      $0.fetchRequests.first.map(holds) == true
    }
  }

  static let cases: [Case] = [
    model("name=\"N\"") { $0.editor.name == "N" },
    model("type=\"T\"") { $0.editor.type == "T" },
    model("documentVersion=\"1.0\"") { $0.editor.documentVersion == "1.0" },
    model("lastSavedToolsVersion=\"8195\"") { $0.editor.lastSavedToolsVersion == "8195" },
    model("systemVersion=\"15A\"") { $0.editor.systemVersion == "15A" },
    model("minimumToolsVersion=\"Xcode 7.0\"") { $0.editor.minimumToolsVersion == "Xcode 7.0" },
    model("sourceLanguage=\"Swift\"") { $0.editor.sourceLanguage == "Swift" },
    model("userDefinedModelVersionIdentifier=\"3\"") { $0.versionIdentifiers == ["3"] },
    model("userDefinedModelVersionIdentifier=\"\"") { $0.versionIdentifiers.isEmpty },
    model("macOSVersion=\"Automatic\"") { $0.editor.macOSVersion == "Automatic" },
    model("iOSVersion=\"Automatic\"") { $0.editor.iOSVersion == "Automatic" },
    model("usedWithCloudKit=\"YES\"") { $0.editor.isUsedWithCloudKit },
    model("usedWithCloudKit=\"false\"") { !$0.editor.isUsedWithCloudKit },
    model("usedWithSwiftData=\"YES\"") { $0.editor.isUsedWithSwiftData },
    entity(">") { $0 == .init("E") },
    entity("representedClassName=\"C\">") { $0.className == "C" && !$0.isClassInCurrentModule },
    entity("representedClassName=\".C\">") { $0.className == "C" && $0.isClassInCurrentModule },
    entity("representedClassName=\"M.C\">") { $0.className == "M.C" },
    entity("representedClassName=\"NSManagedObject\">") { $0.className == nil },
    entity("representedClassModule=\"M\">") { $0.classModule == "M" },
    entity("parentEntity=\"P\">") { $0.superentity == "P" },
    entity("isAbstract=\"YES\">") { $0.isAbstract },
    entity("syncable=\"YES\">") { $0.isSyncable },
    entity("codeGenerationType=\"class\">") { $0.codeGenerationType == "class" },
    entity("elementID=\"Old\">") { $0.renamingIdentifier == "Old" },
    entity("elementID=\"E\">") { $0.renamingIdentifier == nil },
    entity("versionHashModifier=\"m\">") { $0.versionHashModifier == "m" },
    entity("coreSpotlightDisplayNameExpression=\"n\">") { $0.coreSpotlightDisplayNameExpression == "n" },
    entity("><userInfo><entry key=\"k\" value=\"v\"/></userInfo>") { $0.userInfo == ["k": "v"] },
    entity(
      "><uniquenessConstraints><uniquenessConstraint><constraint value=\"a\"/><constraint value=\"b\"/>"
        + "</uniquenessConstraint></uniquenessConstraints>"
    ) { $0.uniquenessConstraints == [["a", "b"]] },
    entity("><compoundIndexes><compoundIndex><index value=\"a\"/></compoundIndex></compoundIndexes>") {
      $0.compoundIndexes == [["a"]]
        && $0.effectiveFetchIndexes == [.init("byA", elements: [.init(.property("a"))])]
    },
    entity("><fetchIndex name=\"i\" partialIndexPredicate=\"a > 1\"/>") {
      $0.fetchIndexes == [.init("i", elements: [], partialPredicate: "a > 1")]
    },
    entity(
      "><fetchIndex name=\"i\"><fetchIndexElement property=\"a\" type=\"RTree\" order=\"descending\"/>"
        + "<fetchIndexElement expression=\"x + 1\" expressionType=\"Double\" type=\"Binary\" order=\"ascending\"/>"
        + "</fetchIndex>"
    ) {
      $0.fetchIndexes[0].elements == [
        .init(.property("a"), kind: .rTree, isAscending: false), .init(.expression("x + 1", .double)),
      ]
    },
    attribute("") { $0 == .init("a", .undefined) },
    attribute("optional=\"YES\"") { $0.isOptional },
    attribute("optional=\"NO\"") { !$0.isOptional },
    attribute("transient=\"YES\"") { $0.isTransient },
    attribute("indexed=\"YES\"") { $0.isIndexed },
    attribute("syncable=\"YES\"") { $0.isSyncable },
    attribute("usesScalarValueType=\"YES\"") { $0.usesScalarValueType == true },
    attribute("usesScalarValueType=\"NO\"") { $0.usesScalarValueType == false },
    attribute("attributeType=\"String\" defaultValueString=\"\"") { $0.defaultValue == "" },
    attribute("attributeType=\"Boolean\" defaultValueString=\"YES\"") { $0.defaultValue == true },
    attribute("attributeType=\"Integer 64\" defaultValueString=\"-9223372036854775808\"") {
      $0.defaultValue == .int(.min)
    },
    attribute("attributeType=\"Decimal\" defaultValueString=\"0.1\"") {
      $0.defaultValue == .decimal(Decimal(string: "0.1")!)
    },
    attribute("attributeType=\"Date\" defaultDateTimeInterval=\"1.5\" defaultValueString=\"then\"") {
      $0.defaultValue == .date(Date(timeIntervalSinceReferenceDate: 1.5)) && $0.kind == .date
    },
    attribute("attributeType=\"Date\" minDateTimeInterval=\"1\" maxDateTimeInterval=\"2\"") {
      $0.validation.minimum == .date(Date(timeIntervalSinceReferenceDate: 1))
        && $0.validation.maximum == .date(Date(timeIntervalSinceReferenceDate: 2))
    },
    attribute("attributeType=\"Float\" minValueString=\"-2.5\" maxValueString=\"2.5\"") {
      $0.validation == .init(minimum: .float(-2.5), maximum: .float(2.5))
    },
    attribute(
      "attributeType=\"String\" minValueString=\"2\" maxValueString=\"5\" regularExpressionString=\"a+\""
    ) { $0.validation == .init(minimumLength: 2, maximumLength: 5, regularExpression: "a+") },
    attribute("valueTransformerName=\"T\"") { $0.valueTransformerName == "T" },
    attribute("customClassName=\"C\" customClassModule=\"M\"") {
      $0.customClassName == "C" && $0.customClassModule == "M"
    },
    attribute("allowsExternalBinaryDataStorage=\"YES\"") { $0.allowsExternalBinaryDataStorage },
    attribute("storedInTruthFile=\"YES\"") { $0.isStoredInTruthFile },
    attribute("spotlightIndexingEnabled=\"YES\"") { $0.isIndexedBySpotlight },
    attribute("preserveAfterDeletion=\"YES\"") { $0.preservesValueInHistoryOnDeletion },
    attribute("allowsCloudEncryption=\"YES\"") { $0.allowsCloudEncryption },
    attribute("derived=\"YES\" derivationExpression=\"b.@count\"") { $0.derivation == .init("b.@count") },
    attribute("attributeType=\"Composite\" composite=\"P\"") {
      $0.compositeName == "P" && $0.kind == .composite
    },
    attribute("elementID=\"old\"") { $0.renamingIdentifier == "old" },
    attribute("versionHashModifier=\"m\"") { $0.versionHashModifier == "m" },
    entity("><attribute name=\"a\"><userInfo><entry key=\"k\" value=\"v\"/></userInfo></attribute>") {
      $0.attributes[0].userInfo == ["k": "v"]
    },
    relationship("") { $0 == .init("r", to: "D", maxCount: 1, deleteRule: .noAction) },
    relationship("optional=\"YES\"") { $0.isOptional },
    relationship("transient=\"YES\"") { $0.isTransient },
    relationship("toMany=\"YES\"") { $0.maxCount == 0 && $0.isToMany },
    relationship("toMany=\"YES\" minCount=\"3\" maxCount=\"10\"") { $0.minCount == 3 && $0.maxCount == 10 },
    relationship("maxCount=\"1\"") { $0.maxCount == 1 && !$0.isToMany },
    relationship("ordered=\"YES\"") { $0.isOrdered },
    relationship("deletionRule=\"No Action\"") { $0.deleteRule == .noAction },
    relationship("deletionRule=\"Nullify\"") { $0.deleteRule == .nullify },
    relationship("deletionRule=\"Cascade\"") { $0.deleteRule == .cascade },
    relationship("deletionRule=\"Deny\"") { $0.deleteRule == .deny },
    relationship("inverseName=\"i\" inverseEntity=\"F\"") {
      $0.destination == "D" && $0.inverseName == "i" && $0.inverseEntity == "F"
    },
    relationship("syncable=\"YES\"") { $0.isSyncable },
    relationship("indexed=\"YES\"") { $0.isIndexed },
    relationship("spotlightIndexingEnabled=\"YES\"") { $0.isIndexedBySpotlight },
    relationship("storedInTruthFile=\"YES\"") { $0.isStoredInTruthFile },
    relationship("elementID=\"old\"") { $0.renamingIdentifier == "old" },
    relationship("versionHashModifier=\"m\"") { $0.versionHashModifier == "m" },
    entity(
      "><relationship name=\"r\" destinationEntity=\"D\"><userInfo><entry key=\"k\" value=\"v\"/></userInfo>"
        + "</relationship>"
    ) { $0.relationships[0].userInfo == ["k": "v"] },
    entity(
      "><fetchedProperty name=\"p\" optional=\"YES\" syncable=\"YES\" elementID=\"q\" versionHashModifier=\"m\">"
        + "<fetchRequest name=\"fetchedPropertyFetchRequest\" entity=\"X\" predicateString=\"a = 1\"/>"
        + "<userInfo><entry key=\"k\" value=\"v\"/></userInfo></fetchedProperty>"
    ) {
      $0.fetchedProperties == [
        .init(
          "p", isOptional: true, isSyncable: true,
          request: .init("fetchedPropertyFetchRequest", entity: "X", predicate: "a = 1"),
          renamingIdentifier: "q", versionHashModifier: "m", userInfo: ["k": "v"])
      ]
    },
    request("") { $0 == .init("f", entity: "E") },
    request("predicateString=\"a == 1\"") { $0.predicate == "a == 1" },
    request("fetchLimit=\"7\"") { $0.fetchLimit == 7 },
    request("fetchBatchSize=\"8\"") { $0.fetchBatchSize == 8 },
    request("includeSubentities=\"NO\"") { !$0.includesSubentities },
    request("includePropertyValues=\"NO\"") { !$0.includesPropertyValues },
    request("includesPendingChanges=\"NO\"") { !$0.includesPendingChanges },
    request("returnObjectsAsFaults=\"NO\"") { !$0.returnsObjectsAsFaults },
    request("returnDistinctResults=\"YES\"") { $0.returnsDistinctResults },
    request("resultType=\"2\"") { $0.resultType == .dictionary },
    Case(
      xml: "<model><composite name=\"P\"><attribute name=\"x\" attributeType=\"Double\"/></composite></model>"
    ) {
      $0.composites == [.init("P", elements: [.init("x", .double)])]
    },
    Case(
      xml:
        "<model><configuration name=\"C\" usedWithCloudKit=\"YES\"><memberEntity name=\"E\"/></configuration></model>"
    ) { $0.configurations == [.init("C", entityNames: ["E"], isUsedWithCloudKit: true)] },
    Case(xml: "<model><elements><element name=\"E\" positionX=\"1\" width=\"2\"/></elements></model>") {
      $0 == ModelDocument()
    },
  ]

  @Test("every attribute and element of the format is read, and without a note", arguments: cases)
  func attribute(_ test: Case) throws {
    let document = try ModelDocument(contents: Data(test.xml.utf8), file: "test")
    #expect(document.notes == [])
    #expect(test.holds(document))
    let again = try ModelDocument(contents: document.contents(), file: "test")
    #expect(again == document)
  }

  @Test("every type of attribute has a name", arguments: ModelDocument.AttributeKind.allCases)
  func types(kind: ModelDocument.AttributeKind) throws {
    let xml =
      "<model><entity name=\"E\"><attribute name=\"a\" attributeType=\"\(kind.sourceName)\"/></entity></model>"
    let document = try ModelDocument(contents: Data(xml.utf8), file: "test")
    #expect(document.entities[0].attributes[0].kind == kind && document.notes.isEmpty)
  }

  // MARK: What is wrong

  @Test(
    "what is unknown or wrong is noted with its place, and the rest is read",
    arguments: [
      (
        "<model colour=\"red\"/>", "warning: model has an attribute that isn't known: colour=\"red\" (line 2)"
      ),
      ("<model><thing/></model>", "warning: model has an element that isn't known: thing (line 2)"),
      ("<model><entity/></model>", "error: entity has no name (line 2)"),
      (
        "<model><entity name=\"E\">\n<attribute name=\"a\" attributeType=\"Colour\"/></entity></model>",
        "error: E.a: attributeType=\"Colour\" is no type of attribute (line 3)"
      ),
      (
        "<model><entity name=\"E\"><attribute name=\"a\" attributeType=\"Integer 16\" defaultValueString=\"70000\"/></entity></model>",
        "error: E.a: defaultValueString=\"70000\" is no Integer 16 (line 2)"
      ),
      (
        "<model><entity name=\"E\"><attribute name=\"a\" optional=\"maybe\"/></entity></model>",
        "error: E.a: optional=\"maybe\" should be YES or NO (line 2)"
      ),
      (
        "<model><entity name=\"E\"><relationship name=\"r\" destinationEntity=\"D\" deletionRule=\"Burn\"/></entity></model>",
        "error: E.r: deletionRule=\"Burn\" should be No Action, Nullify, Cascade or Deny (line 2)"
      ),
      (
        "<model><entity name=\"E\"><relationship name=\"r\" minCount=\"few\" destinationEntity=\"D\"/></entity></model>",
        "error: E.r: minCount=\"few\" should be a whole number (line 2)"
      ),
      (
        "<model><entity name=\"E\"><relationship name=\"r\"/></entity></model>",
        "error: E.r: relationship has no destinationEntity (line 2)"
      ),
      (
        "<model><entity name=\"E\"><userInfo><entry key=\"k\" value=\"1\"/><entry key=\"k\" value=\"2\"/></userInfo></entity></model>",
        "warning: E: the user info has two entries \"k\", and the last one counts (line 2)"
      ),
      (
        "<model><entity name=\"E\"><fetchedProperty name=\"p\"/></entity></model>",
        "error: E.p: the fetched property has no fetchRequest (line 2)"
      ),
      (
        "<model><entity name=\"E\"><attribute name=\"a\" derived=\"YES\"/></entity></model>",
        "error: E.a: the derived attribute has no derivationExpression (line 2)"
      ),
      (
        "<model><fetchRequest name=\"f\" entity=\"E\" resultType=\"3\"/></model>",
        "error: f: resultType=\"3\" should be 0, 1, 2 or 4 (line 2)"
      ),
    ])
  func notes(xml: String, note: String) throws {
    let document = try ModelDocument(contents: Data(("<?xml version=\"1.0\"?>\n" + xml).utf8), file: "test")
    #expect(document.notes.map(\.description) == [note])
  }

  @Test(
    "what is no model throws with the file, the place and what to do",
    arguments: [
      ("", ModelFileError.Code.corrupt, "the file is empty"),
      ("<model><entity></model>", .corrupt, "well-formed"),
      ("<model", .corrupt, "well-formed"),
      ("<model a=\"1\" a=\"2\"/>", .corrupt, "well-formed"),
      ("{}", .corrupt, "well-formed"),
      ("<plist/>", .unknownFormat, "its root element is plist"),
      ("<!DOCTYPE model [<!ENTITY a \"b\">]><model name=\"&a;\"/>", .corrupt, "a model has no document type"),
      ("<model name=\"\u{0}\"/>", .corrupt, "UTF-8"),
      (String(repeating: "<model>", count: 40), .tooLarge, "nested"),
    ])
  func errors(xml: String, code: ModelFileError.Code, message: String) throws {
    let error = #expect(throws: ModelFileError.self) {
      try ModelDocument(contents: Data(xml.utf8), file: "M/contents")
    }
    #expect(error?.code == code && error?.file == "M/contents")
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(error?.remedy.isEmpty == false)
    if code == .corrupt, !message.contains("UTF-8") { #expect((error?.line ?? 0) >= 1) }
  }

  @Test("the place of an XML fault is its line and column")
  func place() throws {
    let error = #expect(throws: ModelFileError.self) {
      try ModelDocument(contents: Data("<model>\n  <entity name=a/>\n</model>".utf8), file: "c")
    }
    #expect(error?.line == 2)
    #expect((error?.column ?? 0) > 2)
  }

  @Test("a chain of inheritance that no model has is refused instead of filling the memory")
  func longInheritance() throws {
    let entities = (0..<1000).map { "<entity name=\"E\($0)\" parentEntity=\"E\($0 + 1)\"/>" }
    let xml = "<model>" + entities.joined() + "</model>"
    let error = #expect(throws: ModelFileError.self) {
      try ModelDocument(contents: Data(xml.utf8), file: "c")
    }
    #expect(error?.code == .tooLarge)
  }

  @Test("a character that XML doesn't have can't be written")
  func unwritable() throws {
    var document = ModelDocument.sample
    document.entities[0].userInfo["k"] = "\u{1}"
    let error = #expect(throws: ModelFileError.self) { try document.contents() }
    #expect(error?.code == .unwritable)
  }
}

extension String {
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
