// Random graphs of a model with relationships of every kind.

import Cairn
import Foundation
import Testing

enum LibraryGraph {
  /// Relationships of every kind, to entities with a unique attribute, with one that may be missing, and with none.
  static let model = ModelDocument(
    entities: [
      .init(
        "Work", isAbstract: true,
        properties: [
          .attribute(.init("title", .string)),
          // To many from many, in order on both sides.
          .relationship(.init("tags", to: "Tag", inverse: "works", isOptional: true, isOrdered: true)),
        ]),
      .init(
        "Book", superentity: "Work",
        properties: [
          .attribute(.init("price", .decimal, isOptional: true)),
          .relationship(
            .init("chapters", to: "Chapter", inverse: "book", isOptional: true, isOrdered: true)),
          .relationship(.init("owner", to: "Person", inverse: "books", isOptional: true, maxCount: 1)),
        ]),
      .init(
        "Comic", superentity: "Book",
        properties: [
          .attribute(.init("isColored", .boolean)),
          .relationship(.init("sequel", to: "Comic", inverse: "prequel", isOptional: true, maxCount: 1)),
          .relationship(.init("prequel", to: "Comic", inverse: "sequel", isOptional: true, maxCount: 1)),
        ]),
      .init(
        "Chapter",
        properties: [
          .attribute(.init("text", .string, isOptional: true)),
          .relationship(.init("book", to: "Book", inverse: "chapters", isOptional: true, maxCount: 1)),
          // To many without an inverse.
          .relationship(.init("sources", to: "Work", isOptional: true)),
        ]),
      .init(
        "Tag",
        properties: [
          .attribute(.init("label", .string)),
          .relationship(.init("works", to: "Work", inverse: "tags", isOptional: true, isOrdered: true)),
        ], uniquenessConstraints: [["label"]]),
      .init(
        "Person",
        properties: [
          .attribute(.init("mail", .string, isOptional: true)),
          .attribute(.init("born", .date, isOptional: true)),
          .relationship(.init("books", to: "Book", inverse: "owner", isOptional: true)),
          // Reflexive: its own inverse; two sides of which one is in order; a list whose inverse is to-one.
          .relationship(.init("friends", to: "Person", inverse: "friends", isOptional: true)),
          .relationship(
            .init("follows", to: "Person", inverse: "followers", isOptional: true, isOrdered: true)),
          .relationship(.init("followers", to: "Person", inverse: "follows", isOptional: true)),
          .relationship(.init("mentor", to: "Person", inverse: "mentees", isOptional: true, maxCount: 1)),
          .relationship(
            .init("mentees", to: "Person", inverse: "mentor", isOptional: true, isOrdered: true)),
        ], uniquenessConstraints: [["mail"]]),
    ])

  /// Makes a store with a random graph.
  static func make(_ path: String, seed: UInt64) throws {
    var dice = Dice(seed: seed)
    try StoreFacts.open(path, of: model) { container in
      let context = container.newBackgroundContext()
      try context.performAndWait {
        func add(_ name: String, _ count: Int) -> [NSManagedObject] {
          (0..<count).map { _ in NSEntityDescription.insertNewObject(forEntityName: name, into: context) }
        }
        let (books, comics, chapters) = (add("Book", 6), add("Comic", 5), add("Chapter", 9))
        let (tags, people) = (add("Tag", 5), add("Person", 8))
        for work in books + comics {
          work.setValue(dice.text(), forKey: "title")
          if dice.isHead() {
            work.setValue(NSDecimalNumber(mantissa: 1234, exponent: -2, isNegative: false), forKey: "price")
          }
          work.setValue(people.randomElement(using: &dice), forKey: "owner")
        }
        for (number, comic) in comics.enumerated() {
          comic.setValue(dice.isHead(), forKey: "isColored")
          if number > 0, dice.isHead() { comic.setValue(comics[number - 1], forKey: "prequel") }
        }
        for (number, tag) in tags.enumerated() { tag.setValue(dice.text() + "\(number)", forKey: "label") }
        for chapter in chapters {
          if dice.isHead() { chapter.setValue(dice.text(), forKey: "text") }
          chapter.setValue(Set(dice.some(of: books + comics)), forKey: "sources")
        }
        for book in (books + comics).shuffled(using: &dice) {
          let free = chapters.filter { $0.value(forKey: "book") == nil }
          book.setValue(NSOrderedSet(array: dice.some(of: free)), forKey: "chapters")
          book.setValue(NSOrderedSet(array: dice.some(of: tags)), forKey: "tags")
        }
        for tag in tags {
          let works = (tag.value(forKey: "works") as? NSOrderedSet)?.array ?? []
          tag.setValue(NSOrderedSet(array: works.shuffled(using: &dice)), forKey: "works")
        }
        for (number, person) in people.enumerated() {
          // With half of the seeds everybody has a mail, and is named by it.
          if seed % 2 == 0 || dice.isHead() {
            person.setValue("\(number)@x.org" + dice.text(), forKey: "mail")
          }
          if dice.isHead() {
            person.setValue(Date(timeIntervalSinceReferenceDate: Double(number) * 86_400.5), forKey: "born")
          }
          person.setValue(Set(dice.some(of: people)), forKey: "friends")
          person.setValue(NSOrderedSet(array: dice.some(of: people)), forKey: "follows")
          let free = people.filter { $0.value(forKey: "mentor") == nil && $0 != person }
          person.setValue(NSOrderedSet(array: dice.some(of: free)), forKey: "mentees")
        }
        try context.save()
      }
    }
  }
}

/// What random graphs are made of; the same for the same seed.
struct Dice: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state ^ state >> 33) &* 0xFF51_AFD7_ED55_8CCD
  }

  /// Up to four of them, in any order.
  mutating func some<T>(of all: [T]) -> [T] {
    Array(all.shuffled(using: &self).prefix(Int.random(in: 0...4, using: &self)))
  }

  /// With what tables and JSON write in other ways than it is.
  mutating func text() -> String {
    let parts = ["Ada", ",", "\"", "\n", "é", "李", " ", "\r\n", "x=1", "[", "", "@id"]
    return (0..<Int.random(in: 0...3, using: &self)).map { _ in parts.randomElement(using: &self) ?? "" }
      .joined()
  }

  mutating func isHead() -> Bool { Bool.random(using: &self) }
}
