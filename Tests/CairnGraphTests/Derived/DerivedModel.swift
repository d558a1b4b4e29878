// A model with every form of derived attribute over every kind of relationship, a stack over one store of it,
// and what each derived attribute should be, worked out from objects.

import Cairn
import Foundation
import Testing

@testable import CairnGraph

/// What a derived attribute is of an object, by names.
private enum Rule {
  case copy([String])
  case folded([String], @Sendable (String) -> String)
  case count(String)
  case sum(String, String)
}

enum DerivedModel {
  static func make(extra: NSEntityDescription? = nil) -> NSManagedObjectModel {
    NSManagedObjectModel {
      NSEntityDescription("Publisher", configurations: ["Books"]) {
        NSAttributeDescription("name", .string)
        NSRelationshipDescription("authors", toMany: "Author", inverse: "publisher")
        NSDerivedAttributeDescription("bookTotal", .integer64, from: "authors.@sum.bookCount")
      }
      author
      NSEntityDescription("Profile", configurations: ["Books"]) {
        NSAttributeDescription("text", .string)
        NSRelationshipDescription("author", to: "Author")
        NSDerivedAttributeDescription("authorName", .string, from: "author.name")
      }
      work
      NSEntityDescription("Book", parent: "Work", configurations: ["Books"]) {
        NSAttributeDescription("pages", .integer32)
        NSDerivedAttributeDescription("shelfLabel", .string, from: "shelf.label")
      }
      NSEntityDescription("Magazine", parent: "Work", configurations: ["Books"]) {
        NSAttributeDescription("issue", .integer32)
      }
      NSEntityDescription("Shelf", configurations: ["Books", "Shelves"]) {
        NSAttributeDescription("label", .string)
        NSRelationshipDescription(
          "works", toMany: "Work", inverse: "shelf", ordered: true, deleteRule: .cascade)
        NSDerivedAttributeDescription("count", .integer16, from: "works.@count")
        NSDerivedAttributeDescription("total", .decimal, from: "works.@sum.price")
      }
      NSEntityDescription("Tag", configurations: ["Books"]) {
        NSAttributeDescription("text", .string)
        NSRelationshipDescription("works", toMany: "Work", inverse: "tags", ordered: true)
        NSDerivedAttributeDescription("workCount", .integer32, from: "works.@count")
        NSDerivedAttributeDescription("priceSum", .double, from: "works.@sum.price")
      }
      NSEntityDescription("Note", configurations: ["Books"]) { NSAttributeDescription("text", .string) }
      if let extra { extra }
    }
  }

  private static var author: NSEntityDescription {
    NSEntityDescription("Author", configurations: ["Books"]) {
      NSAttributeDescription("name", .string)
      NSRelationshipDescription("books", toMany: "Work", inverse: "author")
      NSRelationshipDescription("publisher", to: "Publisher")
      NSRelationshipDescription("profile", to: "Profile", inverse: "author", deleteRule: .cascade)
      NSRelationshipDescription("friends", toMany: "Author", inverse: "friends")
      NSRelationshipDescription("favourites", toMany: "Work")
      NSRelationshipDescription("reading", toMany: "Work", inverse: "readers")
      NSDerivedAttributeDescription("folded", .string, from: "canonical:(name)")
      NSDerivedAttributeDescription("loud", .string, from: "uppercase:(name)")
      NSDerivedAttributeDescription("quiet", .string, from: "lowercase:(name)")
      NSDerivedAttributeDescription("publisherName", .string, from: "publisher.name")
      NSDerivedAttributeDescription("profileText", .string, from: "profile.text")
      NSDerivedAttributeDescription("bookCount", .integer32, from: "books.@count")
      NSDerivedAttributeDescription("priceSum", .double, from: "books.@sum.price")
      NSDerivedAttributeDescription("friendCount", .integer16, from: "friends.@count")
      NSDerivedAttributeDescription("readingCount", .integer32, from: "reading.@count")
      NSDerivedAttributeDescription("favouriteCount", .integer64, from: "favourites.@count")
      NSDerivedAttributeDescription("favouriteSum", .integer64, from: "favourites.@sum.price")
    }
  }

  private static var work: NSEntityDescription {
    NSEntityDescription("Work", abstract: true, configurations: ["Books"]) {
      NSAttributeDescription("title", .string)
      NSAttributeDescription("price", .double)
      NSRelationshipDescription("author", to: "Author")
      NSRelationshipDescription("editor", to: "Author")
      NSRelationshipDescription("shelf", to: "Shelf")
      NSRelationshipDescription("tags", toMany: "Tag")
      NSRelationshipDescription("readers", toMany: "Author")
      NSDerivedAttributeDescription("titleCopy", .string, from: "title")
      NSDerivedAttributeDescription("authorName", .string, from: "author.name")
      NSDerivedAttributeDescription("authorLoud", .string, from: "author.loud")
      NSDerivedAttributeDescription("publisherFolded", .string, from: "canonical:(author.publisher.name)")
      NSDerivedAttributeDescription("editorName", .string, from: "editor.name")
      NSDerivedAttributeDescription("editorBooks", .integer32, from: "editor.bookCount")
      NSDerivedAttributeDescription("tagCount", .integer32, from: "tags.@count")
      NSDerivedAttributeDescription("readerCount", .integer32, from: "readers.@count")
      NSDerivedAttributeDescription("saved", .date, from: "now()")
    }
  }

  // MARK: What they should be

  private static let rules: [String: [String: Rule]] = [
    "Publisher": ["bookTotal": .sum("authors", "bookCount")],
    "Author": [
      "folded": .folded(["name"]) {
        $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      },
      "loud": .folded(["name"]) { $0.uppercased() }, "quiet": .folded(["name"]) { $0.lowercased() },
      "publisherName": .copy(["publisher", "name"]), "profileText": .copy(["profile", "text"]),
      "bookCount": .count("books"), "priceSum": .sum("books", "price"), "friendCount": .count("friends"),
      "readingCount": .count("reading"), "favouriteCount": .count("favourites"),
      "favouriteSum": .sum("favourites", "price"),
    ],
    "Profile": ["authorName": .copy(["author", "name"])],
    "Work": [
      "titleCopy": .copy(["title"]), "authorName": .copy(["author", "name"]),
      "authorLoud": .copy(["author", "loud"]),
      "publisherFolded": .folded(["author", "publisher", "name"]) {
        $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      },
      "editorName": .copy(["editor", "name"]), "editorBooks": .copy(["editor", "bookCount"]),
      "tagCount": .count("tags"), "readerCount": .count("readers"),
    ],
    "Book": ["shelfLabel": .copy(["shelf", "label"])],
    "Shelf": ["count": .count("works"), "total": .sum("works", "price")],
    "Tag": ["workCount": .count("works"), "priceSum": .sum("works", "price")],
  ]

  private static func rules(of entity: NSEntityDescription) -> [String: Rule] {
    var result: [String: Rule] = [:]
    var next: NSEntityDescription? = entity
    while let found = next {
      result.merge(rules[found.name ?? ""] ?? [:]) { a, _ in a }
      next = found.superentity
    }
    return result
  }

  static func members(_ object: NSManagedObject, _ name: String) -> [NSManagedObject] {
    guard object.entity.relationshipsByName[name]?.isOrdered == true else {
      return object.mutableSetValue(forKey: name).allObjects.compactMap { $0 as? NSManagedObject }
    }
    let list = object.mutableOrderedSetValue(forKey: name)
    return (0..<list.count).compactMap { list.object(at: $0) as? NSManagedObject }
  }

  /// What an attribute of an object is, or should be if it is derived.
  private static func value(_ object: NSManagedObject, _ name: String) -> Any? {
    switch rules(of: object.entity)[name] {
    case nil: return object.value(forKey: name)
    case .copy(let path)?: return end(of: path, from: object)
    case .folded(let path, let fold)?: return (end(of: path, from: object) as? String).map(fold)
    case .count(let name)?: return members(object, name).count
    case .sum(let relationship, let summand)?:
      let summands = members(object, relationship).map { (value($0, summand) as? NSNumber)?.doubleValue ?? 0 }
      let sum = summands.reduce(0, +)
      return object.entity.attributesByName[name]?.type == .integer64 ? sum.rounded(.towardZero) : sum
    }
  }

  private static func end(of path: [String], from object: NSManagedObject) -> Any? {
    var owner: NSManagedObject? = object
    for hop in path.dropLast() {
      // Without an inverse, a link may lead to what is deleted.
      owner = (owner?.value(forKey: hop) as? NSManagedObject).flatMap { next in
        try? next.managedObjectContext?.existingObject(with: next.objectID)
      }
    }
    return owner.flatMap { value($0, path[path.count - 1]) }
  }

  private static func text(_ any: Any?) -> String {
    switch any {
    case let text as String: text
    case let number as NSNumber: "\(number.doubleValue)"
    case let decimal as Decimal: "\(NSDecimalNumber(decimal: decimal).doubleValue)"
    case let number as any BinaryInteger: "\(Double(number))"
    case nil: "nil"
    case let other?: "\(other)"
    }
  }

  /// What of the stored values isn't as it should be, a line each.
  static func mistakes(in context: NSManagedObjectContext) throws -> [String] {
    var result: [String] = []
    for entity in ["Publisher", "Author", "Profile", "Work", "Shelf", "Tag"] {
      for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
        for name in rules(of: object.entity).keys.sorted() {
          let (found, right) = (text(object.value(forKey: name)), text(value(object, name)))
          if found == right { continue }
          let id = object.objectID.uriRepresentation().lastPathComponent
          result.append("\(object.entity.name ?? "") \(id).\(name) is \(found), not \(right)")
        }
      }
    }
    return result
  }
}

/// A store of that model, and contexts over it that are used from the test's own thread.
final class DerivedStack {
  let kind: StoreUnderTest
  private let url: URL?
  let coordinator: NSPersistentStoreCoordinator
  let context: NSManagedObjectContext
  private var others: [NSManagedObjectContext] = []

  init(_ kind: StoreUnderTest = .memory, _ model: NSManagedObjectModel = DerivedModel.make()) throws {
    self.kind = kind
    url = kind.makeURL()
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try open()
  }

  private func open() throws {
    try coordinator.addPersistentStore(
      ofType: kind.type, configurationName: nil, at: url,
      options: [NSPersistentHistoryTrackingKey: NSNumber(value: true)])
  }

  var store: NSPersistentStore { coordinator.persistentStores[0] }

  func otherContext() -> NSManagedObjectContext {
    let other = NSManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = coordinator
    others.append(other)
    return other
  }

  /// Closes a store in a file and opens it again; contexts have to begin anew.
  func reopen() throws {
    if kind == .memory { return }
    try coordinator.remove(store)
    try open()
  }

  @discardableResult
  func make(
    _ entity: String, _ values: [String: Any] = [:], in other: NSManagedObjectContext? = nil
  ) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: other ?? context)
    object.setValuesForKeys(values)
    return object
  }

  func save() throws { try context.save() }

  /// A value as a context that has read nothing yet sees it.
  func stored(_ object: NSManagedObject, _ name: String) throws -> Any? {
    try otherContext().existingObject(with: object.objectID).value(forKey: name)
  }

  func number(_ object: NSManagedObject, _ name: String) throws -> Double? {
    let value = try stored(object, name)
    return (value as? NSNumber)?.doubleValue
      ?? (value as? Decimal).map { NSDecimalNumber(decimal: $0).doubleValue }
  }

  func text(_ object: NSManagedObject, _ name: String) throws -> String? {
    try stored(object, name) as? String
  }

  func expectRight(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let mistakes = try DerivedModel.mistakes(in: otherContext())
    #expect(mistakes.isEmpty, comment, sourceLocation: sourceLocation)
  }
}
