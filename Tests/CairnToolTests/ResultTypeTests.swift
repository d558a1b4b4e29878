// What the library says when a fetch's results aren't of the type that its request was written with.

import Cairn
import Testing

@Suite struct ResultTypeTests {
  /// A context with an object, and a request for managed objects that is told to return something else.
  private static func fetch(_ resultType: NSFetchRequestResultType) throws {
    let model = NSManagedObjectModel {
      NSEntityDescription("Author") { NSAttributeDescription("name", .string) }
    }
    let context = try NSPersistentContainer.inMemory(name: "Library", model: model).newBackgroundContext()
    try context.performAndWait {
      let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
      author.setValue("Poe", forKey: "name")
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.resultType = resultType
      _ = try context.fetch(request)
    }
  }

  private func sentence(_ result: ExitTest.Result?) -> String {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
  }

  @Test func `a result type that the request's generic type doesn't fit is named`() async {
    let dictionaries = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try ResultTypeTests.fetch(.dictionaryResultType)
    }
    #expect(
      sentence(dictionaries).contains("not NSManagedObject: its resultType is .dictionaryResultType"),
      "\(sentence(dictionaries))")
    let ids = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try ResultTypeTests.fetch(.managedObjectIDResultType)
    }
    #expect(sentence(ids).contains("its resultType is .managedObjectIDResultType"), "\(sentence(ids))")
    let count = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try ResultTypeTests.fetch(.countResultType)
    }
    #expect(sentence(count).contains("its resultType is .countResultType"), "\(sentence(count))")
  }
}
