// What an explanation says of a fetch, held to what is known of the rows and of the store.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct ExplanationTests {
  private let container: NSPersistentContainer
  private let context: NSManagedObjectContext

  /// 10,000 items, numbered from 0 on: three chunks, of 4,096 rows but the last.
  init() throws {
    let model = NSManagedObjectModel {
      NSEntityDescription("Item", indexes: [["code", "weight"]]) {
        NSAttributeDescription("number", .integer32)
        NSAttributeDescription("code", .integer32)
        NSAttributeDescription("weight", .double)
        NSAttributeDescription("name", .string)
      }
    }
    container = try .inMemory(name: "Items", model: model)
    context = container.newBackgroundContext()
    for number in 0..<10_000 {
      let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      item.setValue(number, forKey: "number")
      item.setValue(number % 1_000, forKey: "code")
      item.setValue(Double(number), forKey: "weight")
      item.setValue("item \(number % 7)", forKey: "name")
    }
    try context.save()
  }

  private func items(_ format: String? = nil, sort: String? = nil) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.predicate = format.map { NSPredicate(format: $0) }
    request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: false)] }
    return request
  }

  private func work(_ request: NSFetchRequest<NSManagedObject>) throws -> FetchExplanation.Work {
    let explanation = try context.explain(request)
    #expect(explanation.questions.count == 1)
    return try #require(explanation.questions.first?.work)
  }

  @Test func `chunks that bounds decide aren't looked through`() throws {
    let work = try work(items("number >= 9000"))
    #expect((work.chunkCount, work.skippedChunkCount) == (3, 2))
    #expect((work.rowsLookedAt, work.rowsMatched) == (10_000 - 8_192, 1_000))
    #expect(work.indexes.isEmpty && work.order == .stored)
  }

  @Test func `a chunk that the bounds of any condition decide isn't looked through`() throws {
    let work = try work(items("name == 'item 3' AND number >= 9000"))
    #expect((work.chunkCount, work.skippedChunkCount, work.rowsLookedAt) == (3, 2, 10_000 - 8_192))
  }

  @Test func `a chunk that the values of a later condition decide has been looked through`() throws {
    let work = try work(items("name == 'item 3' AND name == 'nobody'"))
    #expect((work.chunkCount, work.skippedChunkCount, work.rowsLookedAt) == (3, 0, 10_000))
  }

  @Test func `all of an entity is counted as it lies, and a window ends the search`() throws {
    let all = try work(items())
    #expect((all.chunkCount, all.skippedChunkCount, all.rowsLookedAt, all.rowsMatched) == (3, 3, 0, 10_000))
    let request = items("weight >= 0")
    request.fetchLimit = 5
    let window = try work(request)
    #expect(window.chunkCount == 1)
  }

  @Test func `an index is named with its properties and candidates`() throws {
    for (format, properties, range, candidates) in [
      ("code == 7", ["code"], false, 10), ("code == 7 AND weight > 5000", ["code", "weight"], true, 5),
      ("code IN {7, 8}", ["code"], false, 20),
    ] {
      let work = try work(items(format))
      let index = try #require(work.indexes.first, "\(format)")
      #expect(work.indexes.count == 1 && index.entity == "Item" && index.properties == properties)
      #expect(index.endsWithRange == range && index.candidates == candidates, "\(format): \(index)")
      #expect((work.rowsLookedAt, work.rowsMatched) == (candidates, candidates))
    }
  }

  @Test func `an order is made by keeping the first, or by sorting all`() throws {
    let all = items("number < 100", sort: "weight")
    #expect(try work(all).order == .sorted)
    all.fetchLimit = 3
    #expect(try work(all).order == .best)
    let explanation = try context.explain(all)
    #expect(
      explanation.sort == ["-weight"] && explanation.questions[0].limit == 3 && explanation.resultCount == 3)
  }

  @Test func `what columns can't answer is shown as left to objects`() throws {
    let request = items()
    request.predicate = NSPredicate(format: "number < 20 AND FUNCTION(name, 'uppercaseString') == 'ITEM 3'")
    let explanation = try context.explain(request)
    #expect(explanation.storePredicate == "number < 20")
    #expect(explanation.memoryPredicate?.contains("uppercaseString") == true)
    #expect(explanation.resultCount == 3 && explanation.questions[0].resultCount == 20)
    let sorted = items("number < 20")
    sorted.sortDescriptors = [
      NSSortDescriptor(key: "name", ascending: true, selector: Selector("localizedStandardCompare:"))
    ]
    #expect(try context.explain(sorted).isSortedInMemory)
    #expect(try !context.explain(items("number < 20", sort: "name")).isSortedInMemory)
  }

  @Test func `unsaved objects are counted, and the stores asked for as many more rows`() throws {
    let changed = try context.fetch(items("number < 2"))
    for object in changed { object.setValue(-1, forKey: "number") }
    context.delete(try context.fetch(items("number == 5"))[0])
    _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
    let request = items("number < 10")
    request.fetchLimit = 4
    let explanation = try context.explain(request)
    #expect(explanation.pendingObjectCount == 4 && explanation.questions[0].limit == 4 + 3)
    #expect(explanation.resultCount == 4)
  }

  @Test func `figures by group are asked for as such, counts as counts`() throws {
    let groups = NSFetchRequest<NSDictionary>(entityName: "Item")
    groups.resultType = .dictionaryResultType
    let sum = NSExpressionDescription()
    sum.name = "sum"
    sum.expression = NSExpression(format: "sum:(weight)")
    groups.propertiesToFetch = ["name", sum]
    groups.propertiesToGroupBy = ["name"]
    let explanation = try context.explain(groups)
    #expect(explanation.resultKind == "dictionaries" && explanation.resultCount == 7)
    #expect(
      explanation.questions.map(\.kind) == [.aggregate]
        && explanation.questions[0].work?.rowsMatched == 10_000)
    let count = NSFetchRequest<NSNumber>(entityName: "Item")
    count.resultType = .countResultType
    count.predicate = NSPredicate(format: "number < 100")
    let counted = try context.explain(count)
    #expect(counted.resultCount == 100 && counted.questions.map(\.kind) == [.count])
    #expect(
      counted.questions[0].work?.rowsMatched == 100 && counted.questions[0].work?.skippedChunkCount == 2)
  }

  @Test func `steps have times, those of the stores within them, and the text shows it all`() throws {
    let explanation = try context.explain(items("number >= 9000", sort: "name"))
    #expect(explanation.steps.map(\.name) == ["plan", "stores", "results"])
    let question = explanation.questions[0]
    #expect(question.seconds > 0 && explanation.seconds >= question.seconds)
    #expect(try #require(question.work).steps.map(\.name) == ["prepare", "index", "filter", "order"])
    #expect(try #require(question.work).steps.reduce(0) { $0 + $1.seconds } <= question.seconds)
    let text = explanation.description
    for line in [
      "Item, objects: 1000 results in ", "\n  predicate  number >= 9000, on columns\n",
      "\n  order      -name\n",
      "\n  chunks     3, of which 2 were decided by their least and greatest values\n",
      "\n  rows       1808 looked at, 1000 matched\n", "\n  order      all of them sorted\n",
    ] {
      #expect(text.contains(line), "\(text)")
    }
    let copy = try JSONDecoder().decode(FetchExplanation.self, from: JSONEncoder().encode(explanation))
    #expect(copy == explanation)
  }

  @Test func `explaining a fetch changes nothing of what it finds, and fails as it fails`() throws {
    let before = try context.fetch(items("number < 10")).map(\.objectID)
    #expect(try context.explain(items("number < 10")).resultCount == before.count)
    #expect(try context.fetch(items("number < 10")).map(\.objectID) == before)
    #expect(throws: StoreError(.unknownProperty, "")) { try context.explain(items("nothing < 10")) }
  }

  @Test func `a store that doesn't say how it works is explained without`() throws {
    CustomKind.dictionary.register()
    let model = NSManagedObjectModel {
      NSEntityDescription("Note") { NSAttributeDescription("text", .string) }
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(
      ofType: CustomKind.dictionary.type, configurationName: nil,
      at: FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    _ = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
    try context.save()
    let explanation = try context.explain(NSFetchRequest<NSManagedObject>(entityName: "Note"))
    #expect(explanation.resultCount == 1 && explanation.questions.map(\.work) == [nil])
    #expect(explanation.description.contains("the store doesn't say"))
  }
}
