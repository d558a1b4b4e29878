// Random graphs of a model with derived attributes of every form, over relationships of every kind.

import Cairn
import Foundation

enum DerivedGraph {
  static let model = ModelDocument(
    entities: [
      .init(
        "Publisher",
        properties: [
          .attribute(.init("name", .string, isOptional: true)),
          .relationship(.init("authors", to: "Author", inverse: "publisher", isOptional: true)),
          // Of what is derived itself.
          derived("workTotal", .integer64, "authors.@sum.workCount"),
        ]),
      .init(
        "Author",
        properties: [
          .attribute(.init("name", .string, isOptional: true)),
          .relationship(.init("works", to: "Work", inverse: "author", isOptional: true)),
          .relationship(
            .init("publisher", to: "Publisher", inverse: "authors", isOptional: true, maxCount: 1)),
          .relationship(.init("friends", to: "Author", inverse: "friends", isOptional: true)),
          .relationship(.init("favourites", to: "Work", isOptional: true)),
          derived("folded", .string, "canonical:(name)"), derived("loud", .string, "uppercase:(name)"),
          derived("quiet", .string, "lowercase:(name)"),
          derived("publisherName", .string, "publisher.name"),
          derived("workCount", .integer32, "works.@count"), derived("priceSum", .double, "works.@sum.price"),
          derived("friendCount", .integer16, "friends.@count"),
          derived("favouriteCount", .integer64, "favourites.@count"),
          // Without what is behind the point.
          derived("favouriteSum", .integer64, "favourites.@sum.price"), derived("saved", .date, "now()"),
        ]),
      .init(
        "Work", isAbstract: true,
        properties: [
          .attribute(.init("price", .double, isOptional: true)),
          .relationship(.init("author", to: "Author", inverse: "works", isOptional: true, maxCount: 1)),
          .relationship(.init("tags", to: "Tag", inverse: "works", isOptional: true)),
          derived("authorName", .string, "author.name"), derived("authorLoud", .string, "author.loud"),
          derived("authorSaved", .date, "author.saved"),
          derived("publisherFolded", .string, "canonical:(author.publisher.name)"),
          derived("tagCount", .integer32, "tags.@count"),
        ]),
      .init("Book", superentity: "Work", properties: [derived("bookSaved", .date, "now()")]),
      .init("Magazine", superentity: "Work", properties: []),
      .init(
        "Tag",
        properties: [
          .attribute(.init("label", .string)),
          .relationship(.init("works", to: "Work", inverse: "tags", isOptional: true, isOrdered: true)),
          derived("workCount", .integer32, "works.@count"), derived("priceSum", .float, "works.@sum.price"),
          derived("priceTotal", .decimal, "works.@sum.price"),
        ], uniquenessConstraints: [["label"]]),
    ])

  /// The same without derived attributes.
  static let plain: ModelDocument = {
    var model = DerivedGraph.model
    for entity in model.entities.indices {
      model.entities[entity].properties.removeAll {
        if case .attribute(let attribute) = $0 { attribute.derivation != nil } else { false }
      }
    }
    return model
  }()

  /// None is optional, which says nothing of derived attributes: what isn't there is nil.
  private static func derived(_ name: String, _ kind: ModelDocument.AttributeKind, _ expression: String)
    -> ModelDocument.Property
  {
    .attribute(.init(name, kind, derivation: .init(expression)))
  }

  /// Makes a store with a random graph; `price` is the price of a work.
  static func make(
    _ path: String, of model: ModelDocument, seed: UInt64, price: (inout Dice) -> Double
  ) throws {
    var dice = Dice(seed: seed)
    try StoreFacts.open(path, of: model) { container in
      let context = container.newBackgroundContext()
      try context.performAndWait {
        func add(_ name: String) -> NSManagedObject {
          NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        }
        let names = ["Ann", "Zoë", "ÅSA", "Éclair", "bob", "", "İx", "e\u{301}"]
        let publishers = (0..<3).map { _ in add("Publisher") }
        let authors = (0..<6).map { _ in add("Author") }
        // Kinds take turns, so that tables have them in another order than keys.
        let works = (0..<24).map { add($0 % 3 == 0 ? "Magazine" : "Book") }
        for object in publishers + authors where dice.isHead() {
          object.setValue(names.randomElement(using: &dice), forKey: "name")
        }
        for author in authors {
          if dice.isHead() { author.setValue(publishers.randomElement(using: &dice), forKey: "publisher") }
          author.setValue(Set(dice.some(of: authors)), forKey: "friends")
          author.setValue(Set(dice.some(of: works)), forKey: "favourites")
        }
        for work in works {
          work.setValue(price(&dice), forKey: "price")
          if dice.isHead() { work.setValue(authors[dice.isHead() ? 0 : 1], forKey: "author") }
        }
        for number in 0..<5 {
          let tag = add("Tag")
          tag.setValue("tag \(number)", forKey: "label")
          tag.setValue(NSOrderedSet(array: works.shuffled(using: &dice).dropLast(6)), forKey: "works")
        }
        try context.save()
      }
    }
  }
}
