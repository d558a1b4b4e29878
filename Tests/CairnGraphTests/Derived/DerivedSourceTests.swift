// Each way in which a source of a derived value changes, and what follows from it (2.7).

import Cairn
import Foundation
import Testing

@testable import CairnGraph

@Suite struct DerivedSourceTests {
  @Test(arguments: StoreUnderTest.allCases)
  func `a changed attribute changes all that is copied from it, over one step, several, and no inverse`(
    kind: StoreUnderTest
  ) throws {
    let stack = try DerivedStack(kind)
    let publisher = stack.make("Publisher", ["name": "P"])
    let authors = ["A", "B"].map { stack.make("Author", ["name": $0, "publisher": publisher]) }
    let books = (0..<6).map {
      stack.make($0 < 4 ? "Book" : "Magazine", ["author": authors[$0 % 2], "editor": authors[0]])
    }
    try stack.save()
    authors[0].setValue("Ada", forKey: "name")
    try stack.save()
    #expect(try books.map { try stack.text($0, "authorName") } == ["Ada", "B", "Ada", "B", "Ada", "B"])
    #expect(try books.map { try stack.text($0, "authorLoud") } == ["ADA", "B", "ADA", "B", "ADA", "B"])
    #expect(try books.allSatisfy { try stack.text($0, "editorName") == "Ada" })
    publisher.setValue("Ópera", forKey: "name")
    try stack.save()
    #expect(try books.allSatisfy { try stack.text($0, "publisherFolded") == "opera" })
    authors[1].setValue(nil, forKey: "publisher")
    try stack.save()
    #expect(
      try books.map { try stack.stored($0, "publisherFolded") != nil } == [
        true, false, true, false, true, false,
      ])
    try stack.expectRight()
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a member that comes, goes, moves, is deleted or changes its summand changes counts and sums`(
    kind: StoreUnderTest
  ) throws {
    let stack = try DerivedStack(kind)
    let shelves = ["A", "B"].map { stack.make("Shelf", ["label": $0]) }
    try stack.save()
    func figures() throws -> [Double?] {
      try shelves.flatMap { [try stack.number($0, "count"), try stack.number($0, "total")] }
    }
    let books = [1.0, 2, 4].map { stack.make("Book", ["price": $0, "shelf": shelves[0]]) }
    try stack.save()
    #expect(try figures() == [3, 7, 0, 0])
    books[0].setValue(shelves[1], forKey: "shelf")
    try stack.save()
    #expect(try figures() == [2, 6, 1, 1])
    books[1].setValue(3, forKey: "price")
    books[0].setValue(nil, forKey: "price")
    try stack.save()
    #expect(try figures() == [2, 7, 1, 0])
    books[2].setValue(nil, forKey: "shelf")
    books[0].setValue(8, forKey: "price")
    try stack.save()
    #expect(try figures() == [1, 3, 1, 8])
    // By the other side, in one save with an insertion, a deletion and a change.
    shelves[0].mutableOrderedSetValue(forKey: "works").add(books[2])
    books[2].setValue(16, forKey: "price")
    stack.context.delete(books[1])
    stack.make("Magazine", ["price": 0.5, "shelf": shelves[1]])
    try stack.save()
    #expect(try figures() == [1, 16, 2, 8.5])
    try stack.expectRight()
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `an order that changes alone changes no derived value`(kind: StoreUnderTest) throws {
    let stack = try DerivedStack(kind)
    let shelf = stack.make("Shelf")
    for _ in 0..<3 { stack.make("Book", ["shelf": shelf, "price": 1]) }
    try stack.save()
    let works = shelf.mutableOrderedSetValue(forKey: "works")
    works.exchangeObject(at: 0, withObjectAt: 2)
    try stack.save()
    let commit = try #require(try stack.store.store.history(after: Generation(1)).first)
    #expect(commit.updated.map(\.properties) == [["works"]])
    try stack.expectRight()
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `delete rules change what is derived from what they change`(kind: StoreUnderTest) throws {
    let stack = try DerivedStack(kind)
    let author = stack.make("Author", ["name": "A", "profile": stack.make("Profile", ["text": "t"])])
    let editor = stack.make("Author", ["name": "E"])
    let shelf = stack.make("Shelf", ["label": "S"])
    let books = (0..<3).map { _ in
      stack.make("Book", ["author": author, "editor": editor, "shelf": shelf, "price": 1])
    }
    let tag = stack.make("Tag")
    for book in books { tag.mutableOrderedSetValue(forKey: "works").add(book) }
    editor.mutableSetValue(forKey: "favourites").addObjects(from: books)
    try stack.save()
    #expect(try stack.number(tag, "workCount") == 3 && stack.number(editor, "favouriteSum") == 3)
    // Without an inverse, nobody takes the link back: it leads nowhere.
    stack.context.delete(stack.make("Note"))
    stack.context.delete(author)
    try stack.save()
    #expect(try books.allSatisfy { try stack.stored($0, "authorName") == nil })
    try stack.expectRight()
    // A cascade.
    stack.context.delete(shelf)
    try stack.save()
    #expect(try stack.number(tag, "workCount") == 0 && stack.number(tag, "priceSum") == 0)
    #expect(try stack.number(editor, "favouriteCount") == 0 && stack.number(editor, "favouriteSum") == 0)
    try stack.expectRight()
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a to-one relationship without an inverse that leads to a deleted object gives nil`(
    kind: StoreUnderTest
  ) throws {
    let stack = try DerivedStack(kind)
    let editor = stack.make("Author", ["name": "E"])
    let book = stack.make("Book", ["editor": editor])
    try stack.save()
    #expect(try stack.text(book, "editorName") == "E")
    stack.context.delete(editor)
    try stack.save()
    #expect(try stack.stored(book, "editorName") == nil && stack.stored(book, "editorBooks") == nil)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `links in join tables count from both sides, ordered, symmetric and without an inverse`(
    kind: StoreUnderTest
  ) throws {
    let stack = try DerivedStack(kind)
    let books = [1.0, 2].map { stack.make("Book", ["price": $0]) }
    let authors = ["A", "B"].map { stack.make("Author", ["name": $0]) }
    let tag = stack.make("Tag")
    try stack.save()
    for book in books { tag.mutableOrderedSetValue(forKey: "works").add(book) }
    authors[0].mutableSetValue(forKey: "friends").add(authors[1])
    authors[0].mutableSetValue(forKey: "favourites").addObjects(from: books)
    books[0].mutableSetValue(forKey: "readers").addObjects(from: authors)
    try stack.save()
    #expect(try books.map { try stack.number($0, "tagCount") } == [1, 1])
    #expect(try authors.map { try stack.number($0, "friendCount") } == [1, 1])
    #expect(try stack.number(authors[0], "favouriteSum") == 3)
    #expect(try authors.map { try stack.number($0, "readingCount") } == [1, 1])
    try stack.expectRight()
    books[0].mutableSetValue(forKey: "tags").remove(tag)
    authors[1].mutableSetValue(forKey: "friends").removeAllObjects()
    authors[0].mutableSetValue(forKey: "reading").remove(books[0])
    books[1].setValue(10, forKey: "price")
    try stack.save()
    #expect(try stack.number(tag, "workCount") == 1 && stack.number(tag, "priceSum") == 10)
    #expect(try authors.map { try stack.number($0, "friendCount") } == [0, 0])
    #expect(try stack.number(authors[0], "favouriteSum") == 11 && stack.number(books[0], "readerCount") == 1)
    try stack.expectRight()
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a one-to-one relationship gives values both ways, whoever's row keeps it`(kind: StoreUnderTest) throws
  {
    let stack = try DerivedStack(kind)
    let authors = ["A", "B"].map { stack.make("Author", ["name": $0]) }
    let profiles = ["x", "y"].map { stack.make("Profile", ["text": $0]) }
    authors[0].setValue(profiles[0], forKey: "profile")
    try stack.save()
    #expect(try stack.text(authors[0], "profileText") == "x" && stack.text(profiles[0], "authorName") == "A")
    authors[1].setValue(profiles[0], forKey: "profile")
    profiles[1].setValue(authors[0], forKey: "author")
    try stack.save()
    #expect(try authors.map { try stack.text($0, "profileText") } == ["y", "x"])
    #expect(try profiles.map { try stack.text($0, "authorName") } == ["B", "A"])
    profiles[0].setValue("z", forKey: "text")
    authors[0].setValue("C", forKey: "name")
    try stack.save()
    #expect(try authors.map { try stack.text($0, "profileText") } == ["y", "z"])
    #expect(try profiles.map { try stack.text($0, "authorName") } == ["B", "C"])
    stack.context.delete(profiles[1])
    try stack.save()
    #expect(try stack.stored(authors[0], "profileText") == nil)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `what is derived from a derived attribute follows it in the same save`(kind: StoreUnderTest) throws {
    let stack = try DerivedStack(kind)
    let publishers = ["P", "Q"].map { stack.make("Publisher", ["name": $0]) }
    let author = stack.make("Author", ["name": "A", "publisher": publishers[0]])
    let edited = stack.make("Book", ["editor": author])
    try stack.save()
    for _ in 0..<2 { stack.make("Book", ["author": author]) }
    try stack.save()
    #expect(try stack.number(publishers[0], "bookTotal") == 2 && stack.number(edited, "editorBooks") == 2)
    author.setValue(publishers[1], forKey: "publisher")
    stack.make("Book", ["author": author])
    try stack.save()
    #expect(try publishers.map { try stack.number($0, "bookTotal") } == [0, 3])
    #expect(try stack.number(edited, "editorBooks") == 3)
    try stack.expectRight()
  }
}
