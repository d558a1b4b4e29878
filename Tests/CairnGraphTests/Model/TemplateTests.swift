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
