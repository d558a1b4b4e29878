// What derived attributes are after a save (2.7), each way in which a source changes.

import Cairn
import Foundation
import Testing

@testable import CairnGraph

@Suite struct DerivedValueTests {
  // MARK: Forms

  @Test(arguments: StoreUnderTest.allCases)
  func `each form has its value from the save that inserts the object (2.7.1)`(kind: StoreUnderTest) throws {
    let stack = try DerivedStack(kind)
    let publisher = stack.make("Publisher", ["name": "Énigma"])
    let author = stack.make("Author", ["name": "Zoë Å", "publisher": publisher])
    let shelf = stack.make("Shelf", ["label": "A"])
    let book = stack.make("Book", ["title": "One", "price": 2.5, "author": author, "shelf": shelf])
    stack.make("Magazine", ["price": 4.25, "author": author, "shelf": shelf])
    let before = Date()
    try stack.save()
    #expect(try stack.text(book, "authorName") == "Zoë Å")
    #expect(try stack.text(author, "folded") == "zoe a")
    #expect(try stack.text(author, "loud") == "ZOË Å")
    #expect(try stack.text(author, "quiet") == "zoë å")
    #expect(try stack.text(book, "publisherFolded") == "enigma")
    #expect(try stack.number(shelf, "count") == 2 && stack.number(shelf, "total") == 6.75)
    let saved = try #require(try stack.stored(book, "saved") as? Date)
    #expect(saved >= before && saved <= Date())
    try stack.expectRight()
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `what isn't there is nil, and a sum of nothing 0`(kind: StoreUnderTest) throws {
    let stack = try DerivedStack(kind)
    let book = stack.make("Book")
    let shelf = stack.make("Shelf")
    let author = stack.make("Author")
    try stack.save()
    #expect(try stack.stored(book, "authorName") == nil && stack.stored(book, "publisherFolded") == nil)
    #expect(try stack.stored(author, "loud") == nil)
    #expect(try stack.number(shelf, "count") == 0 && stack.number(shelf, "total") == 0)
    book.setValue(stack.make("Author", ["name": "Ann"]), forKey: "author")
    try stack.save()
    #expect(try stack.text(book, "authorName") == "Ann" && stack.stored(book, "publisherFolded") == nil)
  }

  @Test func `a number that the type can't hold becomes the nearest that it can`() {
    #expect(Value.int(70_000).nearest(.int16).isStoredLike(.int(32_767)))
    #expect(Value.double(-1e300).nearest(.int64).isStoredLike(.int(.min)))
    #expect(Value.double(.infinity).nearest(.int32).isStoredLike(.int(Int64(Int32.max))))
    #expect(Value.double(-2.75).nearest(.int32).isStoredLike(.int(-2)))
    #expect(Value.decimal(Decimal(string: "2.75")!).nearest(.int64).isStoredLike(.int(2)))
    #expect(Value.double(.nan).nearest(.int32).isNull && Value.null.nearest(.double).isNull)
    #expect(Value.int(3).nearest(.float).isStoredLike(.float(3)))
  }

  // MARK: When it shows

  @Test(arguments: StoreUnderTest.allCases)
  func `an object that was read shows the new value after save and refresh (2.7.2)`(kind: StoreUnderTest)
    throws
  {
    let stack = try DerivedStack(kind)
    let author = stack.make("Author", ["name": "Ann"])
    let book = stack.make("Book", ["author": author])
    try stack.save()
    let other = stack.otherContext()
    let seen = try other.existingObject(with: book.objectID)
    #expect(book.value(forKey: "authorName") as? String == "Ann")
    #expect(seen.value(forKey: "authorName") as? String == "Ann")
    author.setValue("Bea", forKey: "name")
    #expect(author.value(forKey: "loud") as? String == "ANN")
    try stack.save()
    #expect(author.value(forKey: "loud") as? String == "BEA")
    #expect(book.value(forKey: "authorName") as? String == "Ann")
    stack.context.refresh(book, mergeChanges: true)
    #expect(book.value(forKey: "authorName") as? String == "Bea")
    #expect(seen.value(forKey: "authorName") as? String == "Ann")
    other.refreshAllObjects()
    #expect(seen.value(forKey: "authorName") as? String == "Bea")
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `what is set by hand is replaced by the computed value`(kind: StoreUnderTest) throws {
    let stack = try DerivedStack(kind)
    let author = stack.make("Author", ["name": "Ann", "bookCount": 7, "loud": "x"])
    try stack.save()
    #expect(try stack.text(author, "loud") == "ANN" && stack.number(author, "bookCount") == 0)
    author.setValue("y", forKey: "loud")
    author.setValue(9, forKey: "bookCount")
    try stack.save()
    #expect(try stack.text(author, "loud") == "ANN" && stack.number(author, "bookCount") == 0)
    #expect(author.value(forKey: "loud") as? String == "ANN" && !author.hasChanges)
    author.setValue("Bea", forKey: "name")
    author.setValue("z", forKey: "loud")
    stack.make("Book", ["author": author])
    try stack.save()
    #expect(try stack.text(author, "loud") == "BEA")
    try stack.expectRight()
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `fetches see the stored value: predicates, orders and dictionaries`(kind: StoreUnderTest) throws {
    let stack = try DerivedStack(kind)
    let shelves = (0..<4).map { index in
      let shelf = stack.make("Shelf", ["label": "\(index)"])
      for _ in 0..<(index * 3 % 4) { stack.make("Book", ["shelf": shelf, "price": 1.5]) }
      return shelf
    }
    try stack.save()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Shelf")
    request.predicate = NSPredicate(format: "count >= 2 AND total < 4.5")
    #expect(try stack.context.fetch(request) == [shelves[2]])
    request.predicate = nil
    request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
    #expect(try stack.context.fetch(request) == [1, 2, 3, 0].map { shelves[$0] })
    stack.context.delete(DerivedModel.members(shelves[2], "works")[0])
    try stack.save()
    let figures = NSFetchRequest<NSDictionary>(entityName: "Shelf")
    figures.resultType = .dictionaryResultType
    figures.propertiesToFetch = ["label", "count"]
    figures.predicate = NSPredicate(format: "label == '2'")
    #expect(try stack.context.fetch(figures).first?["count"] as? Int == 1)
    let books = NSFetchRequest<NSManagedObject>(entityName: "Book")
    books.predicate = NSPredicate(format: "shelfLabel == %@", "1")
    #expect(try stack.context.count(for: books) == 3)
  }

  // MARK: now()

  @Test(arguments: StoreUnderTest.allCases)
  func `now is the time of the save that inserts the object or changes its row`(kind: StoreUnderTest) throws {
    let stack = try DerivedStack(kind)
    let author = stack.make("Author", ["name": "A"])
    let books = (0..<3).map { _ in stack.make("Book", ["author": author]) }
    try stack.save()
    func times() throws -> [Date] { try books.compactMap { try stack.stored($0, "saved") as? Date } }
    let first = try times()
    #expect(first.count == 3 && Set(first).count == 1)
    author.setValue("B", forKey: "name")
    books[0].setValue(nil, forKey: "title")
    stack.context.detectConflicts(for: books[2])
    try stack.save()
    #expect(try times() == first)
    books[0].setValue("t", forKey: "title")
    books[1].setValue(nil, forKey: "author")
    try stack.save()
    let second = try times()
    #expect(second[0] > first[0] && second[1] == second[0] && second[2] == first[2])
  }
}
