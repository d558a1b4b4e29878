// The identity of an object: what may be passed between contexts, threads and processes in its place.

import CairnModel
public import Foundation

/// The name of an object.
///
/// An object that was never saved has a temporary ID; the save that stores it gives it its permanent one, which
/// never changes and differs from the temporary one. Equal IDs name the same object, and equality and hashing
/// look at numbers only.
///
/// Sendable: everything but the weak reference is constant, and that one is written by the initialiser only.
public final class NSManagedObjectID: NSObject, NSFetchRequestResult, NSCopying, @unchecked Sendable {
  /// Where a key comes from: the store, or the context that made up a temporary one.
  let origin: UUID
  let root: EntityID
  /// Positive when permanent, negative when temporary.
  let key: Int64

  /// The concrete entity of the object, as far as it was known when the ID was made.
  public let entity: NSEntityDescription
  /// nil for a temporary ID, and when the store is gone.
  public private(set) weak var persistentStore: NSPersistentStore?

  public var isTemporaryID: Bool { key < 0 }

  init(key: Int64, entity: CompiledEntity, store: NSPersistentStore?, origin: UUID) {
    self.key = key
    self.entity = entity.description
    root = entity.schema.root
    persistentStore = store
    self.origin = origin
  }

  /// `x-coredata://<store>/<entity>/p<key>`, or `x-coredata:///<entity>/t<context><number>` when temporary.
  public func uriRepresentation() -> URL {
    let name = entity.name?.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? ""
    let text =
      isTemporaryID
      ? "x-coredata:///\(name)/t\(origin.uuidString)\(-key)"
      : "x-coredata://\(origin.uuidString)/\(name)/\(storeName)"
    guard let url = URL(string: text) else { fatalError("\(text) is no URL") }
    return url
  }

  /// What the store calls the object: its key, unless the store has names of its own.
  private var storeName: String {
    guard let persistentStore else { return "p\(key)" }
    let name = persistentStore.uriName(of: key, in: entity)
    return name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed.subtracting(["/"])) ?? ""
  }

  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectID else { return false }
    return key == other.key && root == other.root && origin == other.origin
  }

  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(key)
    hasher.combine(root)
    return hasher.finalize()
  }

  /// Itself: an ID never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  public override var description: String { "<\(uriRepresentation().absoluteString)>" }
}
