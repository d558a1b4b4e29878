// Fetch requests that a model keeps under names.

import CairnModel
import Foundation

extension NSManagedObjectModel {
  public final var fetchRequestTemplatesByName: [String: NSFetchRequest<NSFetchRequestResult>] { templates }

  /// The model's own request, to be run as it is and not to be changed: for a changed one take a copy. nil for a
  /// name that there isn't.
  public final func fetchRequestTemplate(
    forName name: String
  ) -> NSFetchRequest<NSFetchRequestResult>? {
    templates[name]
  }

  /// Keeps a request under a name; nil removes the one that is kept.
  public final func setFetchRequestTemplate(
    _ fetchRequestTemplate: NSFetchRequest<NSFetchRequestResult>?, forName name: String
  ) {
    templates[name] = fetchRequestTemplate
  }

  /// A copy of a kept request with the variables of its predicate replaced; nil for a name that there isn't.
  ///
  /// `NSNull` stands for nil. A variable of the predicate that isn't given is a programmer error.
  public final func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<NSFetchRequestResult>? {
    guard let request = templates[name]?.templateCopy(for: self) else { return nil }
    request.predicate = request.predicate?.withSubstitutionVariables(variables)
    if let missing = request.predicate?.tree.unresolvedVariables, !missing.isEmpty {
      fatalError(
        "the fetch request template \"\(name)\" needs values for "
          + missing.map { "$" + $0 }.joined(separator: ", "))
    }
    return request
  }
}
