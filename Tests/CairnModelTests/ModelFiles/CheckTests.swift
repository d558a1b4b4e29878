// What is wrong with a model, and what differs between two.

import Foundation
import Testing

@testable import CairnModel

@Suite struct CheckTests {
  typealias Document = ModelDocument

  /// Two entities that are all right.
  private static let sound = Document(entities: [
    .init(
      "Author",
      properties: [
        .attribute(.init("name", .string)),
        .relationship(.init("books", to: "Book", inverse: "author", isOptional: true)),
      ]),
    .init(
      "Book",
      properties: [
        .attribute(.init("title", .string)),
        .relationship(.init("author", to: "Author", inverse: "books", isOptional: true, maxCount: 1)),
      ]),
  ])

  @Test("nothing is wrong with a sound model, and no real model has an error")
  func sound() throws {
    #expect(CheckTests.sound.check() == [])
    for path in Fixtures.paths(endingIn: "/contents") {
      let errors = try Fixtures.document(path).check().filter { $0.severity == .error }
      #expect(errors == [], "\(path)")
    }
  }

  struct Fault: CustomTestStringConvertible, Sendable {
    let note: String
    let change: @Sendable (inout Document) -> Void
    var testDescription: String { note }

    init(_ note: String, _ change: @escaping @Sendable (inout Document) -> Void) {
      self.note = note
      self.change = change
    }

    /// A changed first property of Author.
    static func attribute(_ note: String, _ attribute: Document.Attribute) -> Fault {
      Fault(note) { $0.entities[0].properties[0] = .attribute(attribute) }
    }

    /// A changed relationship Author.books.
    static func relationship(
      _ note: String, _ change: @escaping @Sendable (inout Document.Relationship) -> Void
    ) -> Fault {
      Fault(note) { document in
        guard case .relationship(var relationship) = document.entities[0].properties[1] else { return }
        change(&relationship)
        document.entities[0].properties[1] = .relationship(relationship)
      }
    }
  }

  static let faults: [Fault] = [
    Fault("error: there are two entities Book") {
      $0.entities.append(.init("Book", renamingIdentifier: "Tome"))
    },
    Fault("error: there are two composites P") {
      $0.composites = [
        .init("P", elements: [.init("x", .double)]), .init("P", elements: [.init("y", .double)]),
      ]
    },
    Fault("error: there are two configurations C") {
      $0.configurations = [.init("C", entityNames: []), .init("C", entityNames: [])]
    },
    Fault("error: there are two fetch requests F") {
      $0.fetchRequests = [.init("F", entity: "Book"), .init("F", entity: "Book")]
    },
    Fault("warning: two entities were \"Book\" before, by their renaming identifiers") {
      $0.entities.append(.init("Tome", renamingIdentifier: "Book"))
    },
    Fault("error: C: the configuration has an entity Pen that isn't there") {
      $0.configurations = [.init("C", entityNames: ["Pen"])]
    },
    Fault("error: F: it fetches the entity Pen, which isn't there") {
      $0.fetchRequests = [.init("F", entity: "Pen")]
    },
    Fault("error: F: the fetch request has no entity") { $0.fetchRequests = [.init("F", entity: "")] },
    Fault("error: P: the composite contains itself") {
      $0.composites = [.init("P", elements: [.init("p", .composite, compositeName: "P")])]
    },
    Fault("error: Author: its parent entity Person isn't there") { $0.entities[0].superentity = "Person" },
    Fault("warning: pen: the name of an entity begins with an uppercase letter") {
      $0.entities.append(.init("pen"))
    },
    Fault("error: My Pen: \"My Pen\" is no name: letters, digits and _ make one, and it begins with a letter")
    {
      $0.entities.append(.init("My Pen"))
    },
    Fault("error: an entity has no name") { $0.entities.append(.init("")) },
    Fault("error: Author: there are two properties name") {
      $0.entities[0].properties.append(.attribute(.init("name", .date, renamingIdentifier: "day")))
    },
    Fault("error: Novel: the property title is inherited already") {
      $0.entities.append(
        .init("Novel", superentity: "Book", properties: [.attribute(.init("title", .string))]))
    },
    Fault("warning: Author: two properties were \"name\" before, by their renaming identifiers") {
      $0.entities[0].properties.append(.attribute(.init("alias", .string, renamingIdentifier: "name")))
    },
    Fault("warning: Author.Alias: the name of a property begins with a lowercase letter") {
      $0.entities[0].properties.append(.attribute(.init("Alias", .string)))
    },
    Fault(
      "error: Author.hash: every managed object has something named hash already: name the property otherwise"
    ) {
      $0.entities[0].properties.append(.attribute(.init("hash", .string)))
    },
    Fault("error: Author: a uniqueness constraint is empty") { $0.entities[0].uniquenessConstraints = [[]] },
    Fault("error: Author: the uniqueness constraint age has no property age") {
      $0.entities[0].uniquenessConstraints = [["age"]]
    },
    Fault("error: Author: the uniqueness constraint books has books, which is no attribute") {
      $0.entities[0].uniquenessConstraints = [["books"]]
    },
    Fault("error: Author: there are two indexes i") {
      $0.entities[0].fetchIndexes = ["i", "i"].map { .init($0, elements: [.init(.property("name"))]) }
    },
    Fault("error: Author: the index i has no elements") {
      $0.entities[0].fetchIndexes = [.init("i", elements: [])]
    },
    Fault("error: Author: the index i has no property age") {
      $0.entities[0].fetchIndexes = [.init("i", elements: [.init(.property("age"))])]
    },
    Fault("error: Author: the R-tree index i has name, which is no number") {
      $0.entities[0].fetchIndexes = [.init("i", elements: [.init(.property("name"), kind: .rTree)])]
    },
    Fault(
      "error: Author: the R-tree index i has name, which is no number of at most 32 bits or in floating point"
    ) {
      $0.entities[0].properties[0] = .attribute(.init("name", .integer64))
      $0.entities[0].fetchIndexes = [.init("i", elements: [.init(.property("name"), kind: .rTree)])]
    },
    Fault(
      "error: Book: the R-tree index i has title, which is no number of at most 32 bits or in floating point"
    ) {
      $0.entities[1].properties[0] = .attribute(.init("title", .decimal))
      $0.entities[1].fetchIndexes = [.init("i", elements: [.init(.property("title"), kind: .rTree)])]
    },
    Fault("error: Book: the R-tree index i has author, which is no number") {
      $0.entities[1].fetchIndexes = [.init("i", elements: [.init(.property("author"), kind: .rTree)])]
    },
    Fault("error: Book: the R-tree index i has an expression") {
      $0.entities[1].fetchIndexes = [
        .init("i", elements: [.init(.expression("title", .string), kind: .rTree)])
      ]
    },
    Fault("error: Author: the index i has the to-many relationship books") {
      $0.entities[0].fetchIndexes = [.init("i", elements: [.init(.property("books"))])]
    },
    .attribute(
      "error: Author.name: an attribute that is stored has to have a type", .init("name", .undefined)),
    .attribute(
      "warning: Author.name: it has no value transformer; choose NSSecureUnarchiveFromData or one of your own",
      .init("name", .transformable)),
    .attribute(
      "error: Author.name: there is no composite P with elements",
      .init("name", .composite, compositeName: "P")),
    .attribute(
      "error: Author.name: the default values of a composite attribute stand with its elements",
      .init("name", .composite, defaultValue: 1, elements: [.init("x", .double)])),
    .attribute(
      "error: Author.name: there are two elements x",
      .init("name", .composite, elements: [.init("x", .double), .init("x", .string)])),
    .attribute(
      "error: Author.name.x: an attribute that is stored has to have a type",
      .init("name", .composite, elements: [.init("x", .undefined)])),
    .attribute(
      "error: Author.name.x.y: an element of a composite can't be transient",
      .init(
        "name", .composite,
        elements: [.init("x", .composite, elements: [.init("y", .double, isTransient: true)])])),
    .attribute(
      "error: Author.name.x: an element of a composite can't be derived",
      .init("name", .composite, elements: [.init("x", .date, derivation: .init("now()"))])),
    .attribute(
      "error: Author.name: a derived attribute is computed by the store, and can't be transient",
      .init("name", .date, isTransient: true, derivation: .init("now()"))),
    .attribute(
      "error: Author.name: an attribute that is stored has to have a type", .init("name", .objectID)),
    .attribute(
      "error: Author.name: the default value \"x\" is no Integer 16",
      .init("name", .integer16, defaultValue: "x")),
    .attribute(
      "warning: Author.name: only binary data can be kept in external records",
      .init("name", .string, allowsExternalBinaryDataStorage: true)),
    .attribute(
      "error: Author.name: the minimum is greater than the maximum",
      .init("name", .integer16, validation: .init(minimum: 2, maximum: 1))),
    .attribute(
      "error: Author.name: the default value is less than the minimum",
      .init("name", .integer16, defaultValue: 1, validation: .init(minimum: 2))),
    .attribute(
      "error: Author.name: the default value is greater than the maximum",
      .init("name", .double, defaultValue: .double(1.5), validation: .init(maximum: 1))),
    .attribute(
      "error: Author.name: the minimum length is greater than the maximum length",
      .init("name", .string, validation: .init(minimumLength: 2, maximumLength: 1))),
    .attribute(
      "error: Author.name: the default value is longer than the maximum length",
      .init("name", .string, defaultValue: "long", validation: .init(maximumLength: 2))),
    .attribute(
      "error: Author.name: \"(\" is no regular expression",
      .init("name", .string, validation: .init(regularExpression: "("))),
    .attribute(
      "error: Author.name: it is derived, but not said from what",
      .init("name", .string, derivation: .init(""))),
    .attribute(
      "warning: Author.name: it is derived, so its default value means nothing",
      .init("name", .string, defaultValue: "x", derivation: .init("books.@count"))),
    Fault("warning: Author.name: with CloudKit, an attribute is optional or has a default value") {
      $0.editor.isUsedWithCloudKit = true
      $0.entities.removeLast()
      $0.entities[0].properties.removeLast()
    },
    .relationship("error: Author.books: a count can't be negative") { $0.minCount = -1 },
    .relationship("error: Author.books: the minimum count is greater than the maximum count") {
      $0.minCount = 3
      $0.maxCount = 2
    },
    .relationship(
      "warning: Author.books: the delete rule No Action leaves references to deleted objects behind"
    ) {
      $0.deleteRule = .noAction
    },
    Fault("error: Author.pen: its inverse Book.title is no relationship") {
      $0.entities[0].properties.append(.relationship(.init("pen", to: "Book", inverse: "title")))
    },
    Fault("warning: Author.pen: it has no inverse, so that nothing is maintained on the other side") {
      $0.entities[0].properties.append(.relationship(.init("pen", to: "Book", maxCount: 1)))
    },
    Fault("error: Author.pen: its destination Pen isn't there") {
      $0.entities[0].properties.append(.relationship(.init("pen", to: "Pen")))
    },
    Fault("error: Author.pen: it has no destination") {
      $0.entities[0].properties.append(.relationship(.init("pen", to: "")))
    },
    Fault("error: Author.more: Book.author isn't its inverse in turn") {
      $0.entities[0].properties.append(.relationship(.init("more", to: "Book", inverse: "author")))
    },
  ]

  @Test("each fault is found, named with its place, and the only one", arguments: faults)
  func fault(_ fault: Fault) {
    var document = CheckTests.sound
    fault.change(&document)
    #expect(document.check().map(\.description) == [fault.note])
  }

  @Test("a predicate that can't be parsed is an error wherever it stands")
  func predicates() {
    var document = CheckTests.sound
    document.fetchRequests = [.init("F", entity: "Book", predicate: "title ==")]
    document.entities[0].properties[0] = .attribute(
      .init(
        "name", .string, validation: .init(others: [.init("SELF ==")]),
        derivation: .init("(", filteringPredicate: "a ==")))
    document.entities[0].fetchIndexes = [
      .init("i", elements: [.init(.expression(")", .string))], partialPredicate: "name ==")
    ]
    let notes = document.check()
    #expect(
      notes.count == 6 && notes.allSatisfy { $0.severity == .error && $0.message.contains("can't be parsed") }
    )
  }

  @Test("composites in line that are nested too deep are an error")
  func deepElements() {
    let leaf = Document.Attribute("leaf", .double)
    func document(_ depth: Int) -> Document {
      let nested = (0..<depth).reduce(leaf) { inner, _ in .init("n", .composite, elements: [inner]) }
      return Document(entities: [.init("E", properties: [.attribute(nested)])])
    }
    #expect(document(32).check() == [])
    #expect(document(33).check().map(\.severity) == [.error])
  }

  @Test("inheritance in a circle is an error of every entity in it")
  func circle() {
    let document = Document(entities: [.init("A", superentity: "B"), .init("B", superentity: "A")])
    #expect(
      document.check().map(\.description) == [
        "error: A: it inherits from itself", "error: B: it inherits from itself",
      ])
  }

  // MARK: Differences

  /// Changes of the sample, and the only line that each makes.
  static let changes: [(line: String, change: @Sendable (inout Document) -> Void)] = [
    (
      "place: x: default value: 1.0 → 2.0",
      { $0.place.elements[0].defaultValue = .double(2) }
    ),
    (
      "place: inner: y: maximum length: none → 3",
      { $0.place.elements[1].elements[0].validation.maximumLength = 3 }
    ),
    (
      "place: validation: SELF != nil (odd) → SELF != nil (1550)",
      { $0.place.validation.others[0].warning = "1550" }
    ),
    (
      "fetch request f: order: a → a by localizedCompare:",
      { $0.fetchRequests[0].sortDescriptors[0].selector = "localizedCompare:" }
    ),
    ("fetch request f: properties: none → a, b", { $0.fetchRequests[0].propertiesToFetch = ["a", "b"] }),
    ("fetch request f: groups: none → a", { $0.fetchRequests[0].propertiesToGroupBy = ["a"] }),
    ("fetch request f: group condition: none → a > 1", { $0.fetchRequests[0].havingPredicate = "a > 1" }),
    (
      "fetch request f: prefetching: none → r",
      { $0.fetchRequests[0].relationshipKeyPathsForPrefetching = ["r"] }
    ),
    ("class: E → .E", { $0.entities[0].isClassInCurrentModule = true }),
    ("configuration C: CloudKit: no → yes", { $0.configurations[0].isUsedWithCloudKit = true }),
    ("something else changed", { $0.entities[0].isSyncable = true }),
    ("place: something else changed", { $0.place.isSyncable = true }),
    ("something else changed", { $0.entities.reverse() }),
    ("something else changed", { $0.editor.sourceLanguage = "Swift" }),
    (
      "something else changed",  // the same text of another user info
      { $0.entities[0].userInfo = ["a": "1", "b": "2"] }
    ),
  ]

  @Test("every change makes a line, if only a general one", arguments: changes.indices)
  func everyChange(_ index: Int) {
    var old = Document(
      entities: [
        .init(
          "E", className: "E",
          properties: [
            .attribute(
              .init(
                "place", .composite, validation: .init(others: [.init("SELF != nil", warning: "odd")]),
                elements: [
                  .init("x", .double, defaultValue: .double(1)),
                  .init("inner", .composite, elements: [.init("y", .string)]),
                ]))
          ]), .init("F"),
      ],
      configurations: [.init("C", entityNames: ["E"])],
      fetchRequests: [.init("f", entity: "E", sortDescriptors: [.init("a")])])
    old.entities[0].userInfo = ["a": "1, b=2"]
    var new = old
    CheckTests.changes[index].change(&new)
    let lines = new.differences(from: old).map { difference in
      (difference.property.map { $0 + ": " } ?? "") + difference.message
    }
    #expect(lines == [CheckTests.changes[index].line])
  }

  @Test("a document doesn't differ from itself, and differs from another in what was changed")
  func differences() {
    #expect(Document.sample.differences(from: .sample) == [])
    var new = CheckTests.sound
    new.entities[0].name = "Writer"
    new.entities[0].renamingIdentifier = "Author"
    new.entities[0].properties[0] = .attribute(
      .init("fullName", .string, isOptional: true, renamingIdentifier: "name"))
    new.entities[1].properties.append(.attribute(.init("year", .integer16)))
    new.entities[1].properties.remove(at: 0)
    new.entities.append(.init("Pen"))
    new.fetchRequests = [.init("all", entity: "Book")]
    let lines = new.differences(from: CheckTests.sound).map { difference in
      [difference.kind.rawValue, difference.entity ?? "", difference.property ?? "", difference.message]
        .joined(separator: "|")
    }
    #expect(
      lines == [
        "renamed|Writer||was Author", "changed|Writer||renaming identifier: none → Author",
        "renamed|Writer|fullName|was name", "changed|Writer|fullName|optional: no → yes",
        "changed|Writer|fullName|renaming identifier: none → name", "added|Book|year|attribute",
        "removed|Book|title|attribute", "added|Pen||entity", "added|||fetch request all",
      ])
    let back = CheckTests.sound.differences(from: new).map {
      "\($0.kind.rawValue) \($0.entity ?? "") \($0.message)"
    }
    #expect(back.contains("removed Pen entity") && back.contains("removed  fetch request all"))
    #expect(new.entitiesWithOtherHashes(than: CheckTests.sound) == ["Author", "Book", "Pen", "Writer"])
    #expect(Document.sample.entitiesWithOtherHashes(than: .sample) == [])
  }
}

extension ModelDocument {
  /// The first property of the first entity, an attribute.
  fileprivate var place: Attribute {
    get {
      guard case .attribute(let attribute) = entities[0].properties[0] else { return .init("", .undefined) }
      return attribute
    }
    set { entities[0].properties[0] = .attribute(newValue) }
  }
}
