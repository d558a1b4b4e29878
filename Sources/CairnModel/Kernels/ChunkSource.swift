// What kernels need of a snapshot: the chunks of an entity, and the place of a row.

/// Rows by concrete entity. Snapshots of the engine conform, and so can anything that holds chunks.
public protocol ChunkSource {
  var schema: Schema { get }

  /// The chunks of one concrete entity, in ascending order of keys.
  func chunks(of entity: EntityID) -> [Chunk]

  /// The rows of a join table, with the slots of `JoinSlot`. A source without relationships of many to many
  /// need not give any.
  func joinChunks(_ join: Int) -> [Chunk]

  /// Where the live row with that key is, among the entities that inherit from `entity` and itself; nil if
  /// there is none. Costs a binary search over the chunks.
  func locate(_ id: Int64, in entity: EntityID) -> (chunk: Chunk, row: Int)?
}

extension ChunkSource {
  public func joinChunks(_ join: Int) -> [Chunk] { [] }
}

/// The slots of a join table's rows.
package enum JoinSlot {
  package static let source = 0
  package static let target = 1
  /// The place of the target in the source's list; null where that side isn't ordered.
  package static let sourceOrder = 2
  package static let targetOrder = 3

  package static let types: [ValueType] = [.key, .key, .int64, .int64]

  package static func key(_ side: JoinSide) -> Int { side == .source ? source : target }
  package static func order(_ side: JoinSide) -> Int { side == .source ? sourceOrder : targetOrder }
}
