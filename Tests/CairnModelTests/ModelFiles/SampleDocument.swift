// A model that has every feature of model files once, by hand.

import Foundation

@testable import CairnModel

extension ModelDocument {
  /// Every feature that both forms of files can hold.
  static let sample = ModelDocument(
    entities: [person, employee, office, everyType],
    composites: [
      Composite(
        "Point",
        elements: [
          Attribute("x", .double, isOptional: true, usesScalarValueType: true, defaultValue: .double(0.5)),
          Attribute("y", .double, validation: Validation(minimum: .double(-90), maximum: .double(90))),
        ])
    ],
    configurations: [Configuration("Cloud", entityNames: ["Office", "Person"], isUsedWithCloudKit: true)],
    fetchRequests: [
      FetchRequest(
        "adults", entity: "Person", predicate: "age >= $age", fetchLimit: 20, fetchBatchSize: 5,
        resultType: .dictionary, includesSubentities: false, includesPropertyValues: false,
        includesPendingChanges: false, returnsObjectsAsFaults: false, returnsDistinctResults: true),
      FetchRequest("everybody", entity: "Person"),
    ],
    versionIdentifiers: ["2"],
    editor: EditorSettings(
      documentVersion: "1.0", lastSavedToolsVersion: "22758", systemVersion: "23E224",
      minimumToolsVersion: "Automatic", sourceLanguage: "Swift", isUsedWithCloudKit: true,
      isUsedWithSwiftData: true, macOSVersion: "Automatic", iOSVersion: "Automatic"))

  private static let person = Entity(
    "Person", className: "Person", isClassInCurrentModule: true, isAbstract: true, isSyncable: true,
    codeGenerationType: "category", renamingIdentifier: "Human", versionHashModifier: "v2",
    coreSpotlightDisplayNameExpression: "name",
    properties: [
      .attribute(
        Attribute(
          "name", .string, defaultValue: "",
          validation: Validation(minimumLength: 1, maximumLength: 80, regularExpression: "[A-Z].*"),
          isIndexedBySpotlight: true,
          renamingIdentifier: "title", versionHashModifier: "n", userInfo: ["a \"b\"": "<&>\n", "empty": ""])),
      .attribute(
        Attribute(
          "age", .integer16, isOptional: true, usesScalarValueType: true, defaultValue: 7,
          validation: Validation(minimum: 0, maximum: 150))),
      .attribute(Attribute("nickname", .string, isOptional: true, isTransient: true, isSyncable: true)),
      .relationship(
        Relationship(
          "friends", to: "Person", inverse: "friendOf", inverseEntity: "Person", isOptional: true,
          minCount: 2, maxCount: 9, isOrdered: true, deleteRule: .nullify, isIndexedBySpotlight: true,
          isSyncable: true, renamingIdentifier: "pals", versionHashModifier: "f", userInfo: ["k": "v"])),
      .relationship(
        Relationship(
          "friendOf", to: "Person", inverse: "friends", inverseEntity: "Person", isOptional: true,
          deleteRule: .noAction)),
    ],
    fetchIndexes: [
      FetchIndex(
        "byName", elements: [.init(.property("name")), .init(.property("age"), isAscending: false)],
        partialPredicate: "age > 3"),
      FetchIndex("byUpper", elements: [.init(.expression("uppercase:(name)", .string))]),
    ],
    compoundIndexes: [["age", "name"]],
    uniquenessConstraints: [["name"], ["age", "nickname"]],
    userInfo: ["key": "value"])

  private static let employee = Entity(
    "Employee", className: "Employee", classModule: "Staff", superentity: "Person",
    codeGenerationType: "class",
    properties: [
      .attribute(Attribute("salary", .decimal, defaultValue: .decimal(Decimal(string: "1200.50")!))),
      .relationship(
        Relationship(
          "office", to: "Office", inverse: "staff", inverseEntity: "Office", isOptional: true, maxCount: 1,
          deleteRule: .deny)),
    ],
    uniquenessConstraints: [["salary"]])

  private static let office = Entity(
    "Office",
    properties: [
      .attribute(Attribute("place", .composite, compositeName: "Point")),
      .attribute(
        Attribute(
          "headcount", .integer64, isOptional: true, derivation: Derivation("staff.@count"))),
      .relationship(
        Relationship(
          "staff", to: "Employee", inverse: "office", inverseEntity: "Employee", isOptional: true,
          deleteRule: .cascade)),
      .fetched(
        FetchedProperty(
          "namesakes", isOptional: true, isSyncable: true,
          request: FetchRequest(
            FetchedProperty.requestName, entity: "Person", predicate: "name == $FETCH_SOURCE.place.x"),
          renamingIdentifier: "twins", versionHashModifier: "w", userInfo: ["x": "y"])),
    ],
    fetchIndexes: [FetchIndex("byPlace", elements: [.init(.property("headcount"), kind: .rTree)])])

  private static let everyType = Entity(
    "EveryType",
    properties: [
      .attribute(Attribute("int32", .integer32, defaultValue: -5, validation: Validation(minimum: -10))),
      .attribute(Attribute("int64", .integer64, defaultValue: .int(.max), isIndexed: true)),
      .attribute(
        Attribute("double", .double, defaultValue: .double(0.1), preservesValueInHistoryOnDeletion: true)),
      .attribute(Attribute("float", .float, usesScalarValueType: false, defaultValue: .float(1.5))),
      .attribute(Attribute("boolean", .boolean, defaultValue: true)),
      .attribute(
        Attribute(
          "date", .date, defaultValue: .date(Date(timeIntervalSinceReferenceDate: 388_411_200)),
          validation: Validation(
            minimum: .date(Date(timeIntervalSinceReferenceDate: 0.5)),
            maximum: .date(Date(timeIntervalSinceReferenceDate: 602_395_200))))),
      .attribute(
        Attribute("data", .binaryData, allowsExternalBinaryDataStorage: true, isStoredInTruthFile: true)),
      .attribute(
        Attribute(
          "uuid", .uuid, defaultValue: .uuid(UUID(uuidString: "12345678-9ABC-4DEF-8123-456789ABCDEF")!))),
      .attribute(Attribute("uri", .uri, defaultValue: .uri("https://example.com/a?b"))),
      .attribute(
        Attribute(
          "transformable", .transformable, allowsCloudEncryption: true,
          valueTransformerName: "NSSecureUnarchiveFromData", customClassName: "Color",
          customClassModule: "Art")),
      .attribute(Attribute("undefined", .undefined, isTransient: true)),
      .relationship(
        Relationship(
          "old", to: "Office", maxCount: 1, deleteRule: .nullify, isStoredInTruthFile: true, isIndexed: true)),
    ])
}
