// What a store's metadata says of the model that it is open with.

import Foundation

extension NSManagedObjectModel {
  /// Entries for the metadata of a store that is open with this model: hashes and identifiers of its version.
  final var versionMetadata: [String: Any] { [:] }
}
