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
}
