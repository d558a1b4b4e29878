// Fetch request templates: kept by the model, handed out with their variables replaced.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct TemplateTests {
  private func model() -> NSManagedObjectModel {
    let model = RichModel.make()
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Note")
    request.predicate = NSPredicate(format: "title == $TITLE AND stars > $STARS")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
    request.fetchLimit = 5
    model.setFetchRequestTemplate(request, forName: "good")
    return model
  }

  @Test func `a template comes back as a copy with its variables replaced (2.4.2)`() throws {
    let model = model()
    let request = try #require(
      model.fetchRequestFromTemplate(
        withName: "good", substitutionVariables: ["TITLE": NSNull(), "STARS": 3]))
    #expect(request !== model.fetchRequestTemplate(forName: "good"))
    #expect(request.predicate?.tree == NSPredicate(format: "title == nil AND stars > 3").tree)
    #expect(request.fetchLimit == 5 && request.sortDescriptors?.first?.key == "title")
    #expect(
      model.fetchRequestTemplate(forName: "good")?.predicate?.tree.unresolvedVariables == ["TITLE", "STARS"])
  }

  /// A change of each field that says what is asked.
  static let changes: [@Sendable (NSFetchRequest<NSFetchRequestResult>) -> Void] = [
    { $0.predicate = NSPredicate(value: true) }, { $0.sortDescriptors = nil },
    { $0.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false, selector: .localizedCompare)] },
    { $0.fetchLimit = 6 }, { $0.fetchOffset = 1 }, { $0.fetchBatchSize = 1 },
    { $0.includesSubentities = false }, { $0.includesPendingChanges = false },
    { $0.includesPropertyValues = false }, { $0.returnsObjectsAsFaults = false },
    { $0.returnsDistinctResults = true }, { $0.shouldRefreshRefetchedObjects = true },
    { $0.resultType = .dictionaryResultType }, { $0.propertiesToFetch = ["title"] },
    { $0.propertiesToFetch = [] }, { $0.propertiesToGroupBy = ["title"] },
    { $0.havingPredicate = NSPredicate(value: true) },
    { $0.relationshipKeyPathsForPrefetching = ["tags"] },
    { $0.propertiesToFetch = [NSExpressionDescription()] },
  ]

  @Test(arguments: changes.indices)
  func `a change of any field of a request shows in its model's equality`(_ index: Int) throws {
    let (one, other) = (model(), model())
    #expect(one == other)
    let request = try #require(other.fetchRequestTemplate(forName: "good"))
    Self.changes[index](request)
    #expect(one != other)
    #expect(other.copy() as? NSManagedObjectModel == other)
  }

  @Test func `a column by name is the same as by its property`() throws {
    let (one, other) = (model(), model())
    one.fetchRequestTemplate(forName: "good")?.propertiesToFetch = ["title"]
    let title = try #require(other.entitiesByName["Note"]?.attributesByName["title"])
    other.fetchRequestTemplate(forName: "good")?.propertiesToFetch = [title]
    #expect(one == other)
  }

  @Test func `a copied fetched property has a request of its own, of the copy's entity`() throws {
    let model = RichModel.make()
    let note = try #require(model.entitiesByName["Note"])
    let recent = try #require(note.propertiesByName["recent"] as? NSFetchedPropertyDescription)
    recent.fetchRequest?.entity = note
    _ = NSPersistentStoreCoordinator(managedObjectModel: model)
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    let copied = try #require(copy.entitiesByName["Note"]?.propertiesByName["recent"])
    let request = try #require((copied as? NSFetchedPropertyDescription)?.fetchRequest)
    #expect(request.entity === copy.entitiesByName["Note"])
    request.fetchLimit = 99
    #expect(recent.fetchRequest?.fetchLimit != 99 && recent.fetchRequest?.entity === note)
  }

  @Test func `there is no request of a name that isn't kept (2.4.2)`() {
    #expect(model().fetchRequestFromTemplate(withName: "bad", substitutionVariables: [:]) == nil)
  }

  @Test func `a variable that isn't given is a programmer error (2.4.2)`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let model = TemplateTests().model()
      _ = model.fetchRequestFromTemplate(withName: "good", substitutionVariables: ["TITLE": "x"])
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("the fetch request template \"good\" needs values for $STARS"))
  }
}
