// What kernels need of a snapshot: the chunks of an entity, and the place of a row.

/// Rows by concrete entity. Snapshots of the engine conform, and so can anything that holds chunks.
public protocol ChunkSource {
  var schema: Schema { get }

  /// The chunks of one concrete entity, in ascending order of keys.
  func chunks(of entity: EntityID) -> [Chunk]

  /// Where the live row with that key is, among the entities that inherit from `entity` and itself; nil if
  /// there is none. Costs a binary search over the chunks.
  func locate(_ id: Int64, in entity: EntityID) -> (chunk: Chunk, row: Int)?
}
