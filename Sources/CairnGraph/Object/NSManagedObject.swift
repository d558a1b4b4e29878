// An object of the graph: an identity, a place in a chunk, and what was changed since.
//
// Always holds: `flags` is empty exactly when the object is saved, unchanged and not a fault, and then `chunk`
// holds its row at `row` with the slots of its entity. A new object's values are row `row` of its table's
// drafts instead. `key` is positive once saved, negative before.

import CairnModel
public import Foundation

/// An object of an entity, living in a context.
///
/// Confined to its context's queue: use it inside `perform` or `performAndWait`, and pass `objectID` instead of
/// the object to anything that runs elsewhere. The context keeps an unchanged object only for as long as
/// somebody else does.
///
/// Subclasses declare their properties with `@Managed`. A subclass that overrides
/// `init(entity:insertInto:)` is called by it for fetched objects too, and sets initial values in
/// `awakeFromInsert()`.
open class NSManagedObject: NSObject, NSFetchRequestResult {
  // Unchecked exclusivity: these are touched by every property read. An object is confined to its context's
  // queue, so no two accesses run at once; and no access to one of them is in progress while code that could
  // reach it again is called, since each is read or written whole.
  @exclusivity(unchecked) @usableFromInline final var table: EntityTable
  @exclusivity(unchecked) @usableFromInline final var chunk: Chunk?
  @exclusivity(unchecked) final var changes: ObjectChanges?
  @exclusivity(unchecked) final var knownID: NSManagedObjectID?
  @exclusivity(unchecked) final var key: Int64
  @exclusivity(unchecked) @usableFromInline final var row: Int32
  @exclusivity(unchecked) @usableFromInline final var flags: ObjectFlags

  /// A new object of `entity`, with the model's default values, inserted into `context` and then told so by
  /// `awakeFromInsert()`. Without a context it belongs to none until `insert(_:)`.
  ///
  /// Programmer errors: an abstract entity, or one of another model than the context's.
  public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    if let fetched = context?.takeFetchedRow(of: entity) {
      table = fetched.table.takeUnretainedValue()
      chunk = fetched.chunk?.takeUnretainedValue()
      row = fetched.row
      key = fetched.key
      flags = .isFault
      super.init()
      return
    }
    table = NSManagedObject.table(forNew: entity, context)
    row = Int32(table.addDraft())
    key = 0
    flags = context == nil ? [.isDraft, .isDetached] : .isDraft
    super.init()
    context?.adopt(self)
  }

  private static func table(
    forNew entity: NSEntityDescription, _ context: NSManagedObjectContext?
  ) -> EntityTable {
    if let known = context?.lastTable(of: entity) { return known }
    if entity.isAbstract {
      fatalError("\"\(entity.name ?? "")\" is abstract: make an object of an entity that inherits from it")
    }
    return context.map { $0.table(for: entity) } ?? EntityTable.detached(entity)
  }

  /// A new object of the one entity that names this class as its class.
  public convenience init(context moc: NSManagedObjectContext) {
    let type = Self.self
    guard let entity = moc.entity(for: type) else {
      fatalError(
        "\(type) isn't the class of exactly one entity of the model; use init(entity:insertInto:), or set "
          + "the entity's managedObjectClassName to \"\(String(reflecting: type))\"")
    }
    self.init(entity: entity, insertInto: moc)
  }

  /// A request for the entity of this class, which the context that runs it finds.
  @_disfavoredOverload
  open class func fetchRequest() -> NSFetchRequest<NSFetchRequestResult> {
    ClassFetchRequest<NSFetchRequestResult>(self)
  }

  // MARK: By name

  /// The value of a property: numbers as NSNumber (which casts to every number type), other attributes as
  /// Swift's own types, a to-one as an object, a to-many as NSSet or NSOrderedSet. nil where there is none.
  ///
  /// An unknown key is a programmer error, as in Core Data.
  open func value(forKey key: String) -> Any? { storedForm(key) }

  /// Sets a property and maintains the inverse of a relationship.
  ///
  /// An unknown key and a value that doesn't fit the property are programmer errors, as in Core Data.
  open func setValue(_ value: Any?, forKey key: String) { setStoredForm(value, key) }

  // MARK: Hooks

  /// Called once, when the object has been inserted. Overrides call super.
  open func awakeFromInsert() {}

  /// Called each time the object stops being a fault. Setters don't mark it as changed meanwhile, and don't
  /// maintain inverses. Overrides call super.
  open func awakeFromFetch() {}

  /// Called when values were put back: by a rollback, a refresh that keeps changes, or a merge policy.
  open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

  /// Called once, before the object is marked as deleted; its relationships are still there.
  open func prepareForDeletion() {}

  /// Called before a save, of every object that it inserts, updates or deletes, and again as long as these
  /// calls change something. Use primitive setters, or compare first: a save gives up after 1,000 rounds.
  open func willSave() {}

  /// Called when the save is done.
  open func didSave() {}

  /// Called before the object becomes a fault.
  open func willTurnIntoFault() {}

  /// Called when the object has become a fault. Its values are gone.
  open func didTurnIntoFault() {}

  /// Checks a new object before it is saved. Overrides call super, and throw its errors and their own together
  /// as 1560. The base class checks what the model says of each property.
  open func validateForInsert() throws { try validateProperties() }

  /// As `validateForInsert`, of a changed object.
  open func validateForUpdate() throws { try validateProperties() }

  /// Checks that an object may be deleted: throws 1600 for a relationship with the deny rule that still leads
  /// to an object that isn't deleted as well.
  open func validateForDelete() throws { try validateDenyRules() }

  // MARK: Identity and state; none of these fires a fault

  /// nil for an object that was made without one, or whose context is gone.
  public final var managedObjectContext: NSManagedObjectContext? { table.context }

  public final var entity: NSEntityDescription { table.entity.description }

  /// Temporary until the object is saved. Made when first asked for.
  public final var objectID: NSManagedObjectID {
    if let knownID { return knownID }
    let made = table.makeID(reservedKey ?? key)
    knownID = made
    return made
  }

  /// Whether the object is in a context and was never saved.
  public final var isInserted: Bool {
    flags.contains(.isDraft) && flags.isDisjoint(with: [.isDetached, .isDeleted])
  }

  /// Whether a property was set since the last save, also to an equal value. Never of an inserted object.
  public final var isUpdated: Bool { flags.contains(.isUpdated) }

  /// Whether the next save deletes the object. False again once it is saved.
  public final var isDeleted: Bool { flags.contains(.isDeleted) }

  public final var hasChanges: Bool { isInserted || isUpdated || isDeleted }

  /// 0 when the object has its values.
  public final var faultingState: Int { isFault ? 1 : 0 }

  /// Whether no property was read yet since the object was fetched or refreshed.
  public final var isFault: Bool { flags.contains(.isFault) }

  /// Identity: two objects are equal when they are one.
  public final override func isEqual(_ object: Any?) -> Bool { object as? NSManagedObject === self }

  public final override var hash: Int { Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) >> 4 }

  open override var description: String {
    let state =
      flags.contains(.isDead)
      ? "gone"
      : isDeleted ? "deleted" : isFault ? "fault" : isInserted ? "inserted" : isUpdated ? "updated" : "saved"
    return "<\(String(reflecting: type(of: self))): \(objectID.uriRepresentation().absoluteString); \(state)>"
  }
}

@available(*, unavailable)
extension NSManagedObject: Sendable {}

/// The state of an object. Reading a property is quick when it is empty.
@usableFromInline struct ObjectFlags: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt32

  @usableFromInline init(rawValue: UInt32) { self.rawValue = rawValue }

  static let isFault = ObjectFlags(rawValue: 1)
  /// Its values are a row of the table's drafts.
  static let isDraft = ObjectFlags(rawValue: 2)
  /// A draft in a table of its own, outside of any context.
  static let isDetached = ObjectFlags(rawValue: 4)
  static let isUpdated = ObjectFlags(rawValue: 8)
  /// `changes.values` may hold values.
  static let hasOverlay = ObjectFlags(rawValue: 16)
  /// `awakeFromFetch` is running.
  static let isAwaking = ObjectFlags(rawValue: 32)
  /// Its row is gone; a row of nulls stands in for it.
  static let isInaccessible = ObjectFlags(rawValue: 64)
  /// A draft whose `awakeFromInsert` has run.
  static let didAwakeFromInsert = ObjectFlags(rawValue: 128)
  static let isDeleted = ObjectFlags(rawValue: 256)
  /// Stands in the context's `updatedList`, where it stays for a while after it has no changes any more.
  static let isListed = ObjectFlags(rawValue: 512)
  /// Stands in one of the lists of the context's event.
  static let inEvent = ObjectFlags(rawValue: 1024)
  /// Deleted, and its delete rules have been applied.
  static let isPropagated = ObjectFlags(rawValue: 2048)
  /// Its context has done with it: deleted and saved, rolled back, reset.
  static let isDead = ObjectFlags(rawValue: 4096)
  /// A draft that was assigned to its store.
  static let isAssigned = ObjectFlags(rawValue: 8192)
  /// What a new object has while it is filled: its slots can be written the quick way.
  @usableFromInline static let freshDraftBits: UInt32 = 2 | 128 | 1024
}
