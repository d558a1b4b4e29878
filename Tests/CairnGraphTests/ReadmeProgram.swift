// The program that README.md shows, compiled here and run by ReadmeTests. The README holds the lines between
// the markers word for word.

// begin
import Cairn

final class Author: NSManagedObject {
  @Managed var name: String
  @Managed var books: Set<Book>
}

final class Book: NSManagedObject {
  @Managed var title: String
  @Managed var year: Int32
  @Managed var author: Author?
}

/// Two entities and a relationship, seen from both sides.
func libraryModel() -> NSManagedObjectModel {
  let (author, book) = (NSEntityDescription(), NSEntityDescription())
  (author.name, book.name) = ("Author", "Book")
  author.setManagedObjectClass(Author.self)
  book.setManagedObjectClass(Book.self)

  let (name, title, year) = (NSAttributeDescription(), NSAttributeDescription(), NSAttributeDescription())
  (name.name, name.type) = ("name", .string)
  (title.name, title.type) = ("title", .string)
  (year.name, year.type) = ("year", .integer32)

  let (books, writer) = (NSRelationshipDescription(), NSRelationshipDescription())
  (books.name, books.destinationEntity, books.inverseRelationship) = ("books", book, writer)
  (writer.name, writer.destinationEntity, writer.inverseRelationship) = ("author", author, books)
  writer.maxCount = 1

  author.properties = [name, books]
  book.properties = [title, year, writer]
  let model = NSManagedObjectModel()
  model.entities = [author, book]
  return model
}

func library() throws -> [String] {
  let container = try NSPersistentContainer.inMemory(name: "Library", model: libraryModel())
  let context = container.viewContext
  let melville = Author(context: context)
  melville.name = "Herman Melville"
  for (title, year) in [("Typee", 1846), ("Moby-Dick", 1851), ("Billy Budd", 1924)] {
    let book = Book(context: context)
    (book.title, book.year, book.author) = (title, Int32(year), melville)
  }
  try context.save()

  // A fetch across the relationship, in order.
  let request = NSFetchRequest<Book>(entityName: "Book")
  request.predicateTree = .and([
    .compare("author.name", .beginsWith, "herman", options: .caseInsensitive),
    .compare("year", .less, 1900),
  ])
  request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
  return try context.fetch(request).map { "\($0.title), one of \($0.author?.books.count ?? 0)" }
}
// end
