// The identity of an object: what may be passed between contexts, threads and processes in its place.

import CairnModel
public import Foundation

/// The name of an object.
///
/// An object that was never saved has a temporary ID; the save that stores it gives it its permanent one, which
/// never changes and differs from the temporary one. Equal IDs name the same object, and equality and hashing
/// look at numbers only.
///
/// Sendable: all of it is constant.
public final class NSManagedObjectID: NSObject, NSFetchRequestResult, NSCopying, @unchecked Sendable {
  let space: IDSpace
  /// Positive when permanent, negative when temporary.
  let key: Int64

  /// Where the key comes from: the store, or the context that made up a temporary one.
  var origin: UUID { space.origin }
  var root: EntityID { space.root }

  /// The concrete entity of the object, as far as it was known when the ID was made.
  public var entity: NSEntityDescription { space.entity }
  /// nil for a temporary ID, and when the store is gone.
  public var persistentStore: NSPersistentStore? { space.store }

  public var isTemporaryID: Bool { key < 0 }

  init(_ key: Int64, in space: IDSpace) {
    self.key = key
    self.space = space
  }

  /// For a single ID: those of many objects share a space.
  convenience init(key: Int64, entity: CompiledEntity, store: NSPersistentStore?, origin: UUID) {
    self.init(key, in: IDSpace(entity, store, origin: origin))
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
    if key != other.key { return false }
    return space === other.space || root == other.root && origin == other.origin
  }

  /// The key: whoever keeps IDs in a set scatters them once more.
  public override var hash: Int { Int(truncatingIfNeeded: key) }

  /// Itself: an ID never changes.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  public override var description: String { "<\(uriRepresentation().absoluteString)>" }
}

/// What the IDs of one entity in one store or context have in common, kept once.
///
/// Sendable: everything but the weak reference is constant, and that one is written by the initialiser only.
final class IDSpace: @unchecked Sendable {
  let origin: UUID
  let root: EntityID
  let compiled: CompiledEntity
  var entity: NSEntityDescription { compiled.description }
  private(set) weak var store: NSPersistentStore?

  init(_ entity: CompiledEntity, _ store: NSPersistentStore?, origin: UUID) {
    compiled = entity
    root = entity.schema.root
    self.store = store
    self.origin = origin
  }
}
