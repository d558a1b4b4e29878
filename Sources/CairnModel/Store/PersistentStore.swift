// The waist: what a store is. Batches cross it, rows don't.

public import Foundation

/// A place that keeps rows: the protocol behind which all stores stand, ours and third parties'.
///
/// Readers ask a snapshot and never wait for a writer. Commits happen one at a time, and each is all or
/// nothing. A store may be used from any thread.
///
/// Writing a store takes this protocol alone: answer requests with chunks of your own (`Chunk.make`).
/// `CairnTesting` holds the laws that every store satisfies.
public protocol PersistentStore: AnyObject, Sendable {
  /// What this kind of store is and can do.
  static var traits: StoreTraits { get }

  var schema: Schema { get }

  /// The store's identity and the user's own entries. Writing replaces the user's entries.
  var metadata: StoreMetadata { get set }

  /// The newest generation. Immutable, cheap (a reference), usable for as long as it is held. Throws
  /// `storeClosed`.
  func snapshot() throws -> any StoreSnapshot

  /// The rows that match, in order. Throws `unknownEntity`, `unknownProperty`, `unbindablePredicate`,
  /// `foreignSnapshot`, `unsupportedRequest`.
  func fetch(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> RowBatch

  /// How many rows `fetch` would return. Throws as `fetch` does.
  func count(_ request: StoreRequest, in snapshot: any StoreSnapshot) throws -> Int

  /// Figures over groups of rows, ordered by group. Throws as `fetch` does.
  func aggregate(_ request: AggregateRequest, in snapshot: any StoreSnapshot) throws -> [AggregateRow]

  /// The rows with these keys, in the order of `keys`; keys without a row are left out. The keys' entity may
  /// be any of the hierarchy.
  func rows(_ keys: [RowKey], in snapshot: any StoreSnapshot) throws -> RowBatch

  /// The destinations of one relationship for each of `sources`. Destinations that were deleted are left out
  /// of to-many relationships; a to-one's key is returned as it is stored.
  func related(
    _ sources: [RowKey], through relationship: RelationshipID, in snapshot: any StoreSnapshot
  ) throws -> RelatedKeys

  /// Applies every change, or none.
  ///
  /// Throws `CommitConflict` with both sides when a row has changed since the change set's versions were read
  /// or a uniqueness constraint would break, and `StoreError` for a change set that makes no sense (unknown
  /// entities, slots or keys, wrong types, duplicate keys, dangling references). After any throw the store
  /// and all snapshots are as before. After it returns, `snapshot()` includes the changes; a durable store
  /// has them on disk.
  func commit(_ changes: ChangeSet) throws -> Commit

  /// Keys for `count` new rows of the hierarchy with this root, never handed out before. Keys that are never
  /// committed are lost.
  func reserveKeys(_ count: Int, root: EntityID) throws -> Range<Int64>

  /// The commits after `generation`, oldest first. Throws `historyPurged` when some of them aren't kept any
  /// more.
  func history(after generation: Generation) throws -> [Commit]

  /// Forgets the commits up to and including `generation`.
  func purgeHistory(through generation: Generation) throws

  /// Ends the use of the store: everything after it throws `storeClosed`. Snapshots stay readable.
  func close() throws
}

/// What this package's own stores can do besides: hand out one row without the arrays of a batch, which cost
/// more than finding it.
package protocol SingleRowStore: PersistentStore {
  /// What `rows` finds for one key; nil where it finds nothing.
  func row(_ key: RowKey, in snapshot: any StoreSnapshot) throws -> (chunk: Chunk, row: Int)?
  /// The same in the newest snapshot.
  func newestRow(_ key: RowKey) throws -> (chunk: Chunk, row: Int)?
}

/// One generation of a store. Made by the store; only it can read what is inside.
public protocol StoreSnapshot: AnyObject, Sendable {
  var generation: Generation { get }
}

/// What a kind of store is and can do.
public struct StoreTraits: Sendable, Hashable {
  /// Core Data's store type string, such as "InMemory".
  public let type: String
  /// Whether a commit survives the process.
  public let isDurable: Bool
  /// Whether the store lives at a URL of the file system.
  public let isFileBased: Bool

  public init(type: String, isDurable: Bool, isFileBased: Bool) {
    self.type = type
    self.isDurable = isDurable
    self.isFileBased = isFileBased
  }
}

/// A store's identity and what its user wrote beside it.
public struct StoreMetadata: Sendable, Hashable {
  public let uuid: UUID
  public let type: String
  public var userEntries: [String: Value]
  /// Of the model that the store was made with: each entity's version hash by the entity's name. Empty for a store
  /// that keeps no such thing.
  public var versionHashes: [String: Data]
  /// The names that the model's versions go by.
  public var versionIdentifiers: [String]

  public init(
    uuid: UUID, type: String, userEntries: [String: Value] = [:], versionHashes: [String: Data] = [:],
    versionIdentifiers: [String] = []
  ) {
    self.uuid = uuid
    self.type = type
    self.userEntries = userEntries
    self.versionHashes = versionHashes
    self.versionIdentifiers = versionIdentifiers
  }
}

/// How much history a store keeps.
public enum HistoryPolicy: Sendable, Hashable {
  case none
  /// The newest commits, this many.
  case newest(Int)
  case all
}
