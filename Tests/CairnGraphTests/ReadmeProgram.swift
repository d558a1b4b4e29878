// The program that README.md shows, compiled here and run by ReadmeTests. The README holds the lines between
// the markers word for word.

// begin
import Cairn

final class Author: NSManagedObject {
  @Managed var name: String
  @Managed(inverse: \Book.author, deleteRule: .cascade) var books: Set<Book>
}

final class Book: NSManagedObject {
  @Managed var title: String
  @Managed var year: Int32
  @Managed var author: Author?
}

func library() throws -> [String] {
  let model = NSManagedObjectModel(for: Author.self, Book.self)
  let container = try NSPersistentContainer.inMemory(name: "Library", model: model)
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
  request.predicate = NSPredicate(
    format: "author.name BEGINSWITH[c] %@ AND year < %d", "herman", 1900)
  request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
  return try context.fetch(request).map { "\($0.title), one of \($0.author?.books.count ?? 0)" }
}
// end
