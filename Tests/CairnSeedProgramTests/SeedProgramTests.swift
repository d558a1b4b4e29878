// The programs do what their authors expect, over every store.

import Cairn
import Testing

@MainActor @Suite struct SeedProgramTests {
  private static func libraryModel() throws -> URL {
    try #require(
      Bundle.module.url(forResource: "Library", withExtension: "xcdatamodeld", subdirectory: "Resources"))
  }

  @Test(arguments: SeedStore.allCases)
  func `the stack in three steps gives a context that saves and finds`(_ store: SeedStore) throws {
    let description = store.makeDescription()
    let context = try makeContext(
      modelAt: try Self.libraryModel(), storeType: description.type, storeAt: description.url,
      options: description.options)
    #expect(context.concurrencyType == .mainQueueConcurrencyType)
    let author = Author(context: context)
    author.name = "Melville"
    for (title, year) in [("Typee", 1846), ("Moby-Dick", 1851)] {
      let book = Book(context: context)
      book.title = title
      book.year = Int32(year)
      book.author = author
    }
    #expect(Book(context: context).title == "Untitled")
    try context.save()
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.sortDescriptors = [NSSortDescriptor(key: "year", ascending: true)]
    #expect(try context.fetch(request).map(\.title) == ["Untitled", "Typee", "Moby-Dick"])
    context.delete(author)
    try context.save()
    #expect(try context.fetch(request).map(\.title) == ["Untitled"])
  }

  @Test(arguments: SeedStore.allCases)
  func `the container gives the same stack`(_ store: SeedStore) throws {
    let container = try makeContainer(
      modelAt: try Self.libraryModel(), store: store.makeDescription())
    let book = Book(context: container.viewContext)
    book.title = "Omoo"
    try container.viewContext.save()
    let other = container.newBackgroundContext()
    let titles = try other.performAndWait {
      try other.fetch(NSFetchRequest<Book>(entityName: "Book")).map(\.title)
    }
    #expect(titles == ["Omoo"])
  }

  @Test func `a model that isn't there is an error, not a crash`() {
    let missing = URL(fileURLWithPath: "/nowhere/Library.momd")
    #expect(throws: CocoaError.self) {
      try makeContext(modelAt: missing, storeType: NSInMemoryStoreType, storeAt: nil)
    }
  }

  @Test(arguments: SeedStore.allCases)
  func `notes are created, found in order, modified and removed`(_ store: SeedStore) throws {
    let dao = NoteDAO(store: store.makeDescription())
    let dates = [3.0, 1, 2].map { Date(timeIntervalSinceReferenceDate: $0 * 86_400 + 0.125) }
    #expect(try dao.findAll().isEmpty)
    for date in dates { try dao.create(Note(date: date, content: "of \(date)")) }
    #expect(try dao.findAll().map(\.date) == dates.sorted())
    #expect(try dao.findById(dates[1]) == Note(date: dates[1], content: "of \(dates[1])"))
    #expect(try dao.findById(Date(timeIntervalSinceReferenceDate: 0)) == nil)
    try dao.modify(Note(date: dates[1], content: "changed"))
    try dao.remove(Note(date: dates[2], content: ""))
    try dao.remove(Note(date: Date(timeIntervalSinceReferenceDate: 0), content: ""))
    #expect(try dao.findAll().map(\.content) == ["changed", "of \(dates[0])"])
    let other = NSManagedObjectContext(.mainQueue)
    other.persistentStoreCoordinator = dao.persistentStoreCoordinator
    #expect(try other.count(for: NSFetchRequest<NoteManagedObject>(entityName: "Note")) == 2)
    #expect(!dao.managedObjectContext.hasChanges)
  }

  @Test func `the shared notes are one object`() throws {
    #expect(NoteDAO.shared === NoteDAO.shared)
    #expect(try NoteDAO.shared.findAll().isEmpty)
  }

  @Test(arguments: SeedStore.allCases)
  func `employees are inserted by entity name, sorted and filtered`(_ store: SeedStore) throws {
    let container = try makeCompany(store.makeDescription())
    let context = container.viewContext
    #expect(try namesByBirthday(context) == ["Sunqi", "Wangwu", "Zhang", "Lisi", "Zhaoliu"])
    #expect(try names(in: "iOS", atLeast: 1.7, context) == ["Wangwu", "Zhang"])
    #expect(try names(in: "Android", atLeast: 1.8, context).isEmpty)
    #expect(try page(0, of: 1, beginningWith: "Zh", context) == ["Zhang"])
    #expect(try page(1, of: 1, beginningWith: "Zh", context) == ["Zhaoliu"])
    let departments = try context.fetch(NSFetchRequest<Department>(entityName: "Department"))
    #expect(Set(departments.map(\.employees.count)) == [2, 3])
  }
}

/// The documentation shows what compiles and runs here.
@Suite struct SeedProgramPageTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  @Test(arguments: [
    ("StackProgram.swift", "TheStack.md"), ("NotesProgram.swift", "NotesApplication.md"),
    ("EmployeesProgram.swift", "Employees.md"),
  ])
  func `each page has its program as it is compiled`(_ program: String, _ page: String) throws {
    let parts = try Self.text("Tests/CairnSeedProgramTests/\(program)")
      .components(separatedBy: "// begin\n")
    let shown = try #require(parts.last?.components(separatedBy: "// end\n").first)
    #expect(shown.contains("import Cairn\n") && parts.count == 2)
    #expect(try Self.text("Sources/Cairn/Cairn.docc/\(page)").contains("```swift\n\(shown)```\n"))
    let link = "<doc:\(page.replacingOccurrences(of: ".md", with: ""))>"
    #expect(try Self.text("Sources/Cairn/Cairn.docc/Cairn.md").contains(link))
  }
}
