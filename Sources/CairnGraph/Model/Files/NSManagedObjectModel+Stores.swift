// The model that a store carries with it.

import CairnModel
public import Foundation

extension NSManagedObjectModel {
  /// Cairn's own: the model that the store at `url` was made with, for stores that keep it: an archive opens
  /// without any other file. Classes are those of the file that calls this.
  ///
  /// Throws 260 when there is no file, 134000 when it is no store of a registered type, 134010 when it is one that
  /// keeps no model, and the store's own errors.
  public convenience init(ofStoreAt url: URL, fileID: String = #fileID) throws {
    let source = try NSPersistentStoreCoordinator.modelSource(ofStoreAt: url)
    try self.init(document: ModelDocument(contents: Data(source.utf8), file: url.path), fileID: fileID)
  }
}

extension NSPersistentStoreCoordinator {
  fileprivate static func modelSource(ofStoreAt url: URL) throws -> String {
    try requireFile(url)
    let type = try metadataForPersistentStore(ofType: nil, at: url)[NSStoreTypeKey] as? String ?? ""
    guard case .factory(let factory) = try StoreRegistry.kind(for: type),
      let source = try fileError(url, { try factory.files?.modelSource?(url) })
    else {
      throw NSError.coreData(
        NSPersistentStoreTypeMismatchError, "the store at \(url.path) doesn't keep its model",
        [NSFilePathErrorKey: url.path])
    }
    return source
  }
}
