// Decodes the slots of a row group of which some follow from others.

import CairnModel

/// The blocks of one row group, each decoded when it is first asked for. Confined to whoever made it.
package final class RelatedColumns {
  /// What a reader knows of a block from beside it, and its bytes.
  package struct Block {
    package let bytes: UnsafeBufferPointer<UInt8>
    package let codec: BlockCodec
    package let rawLength: Int
    package let type: ValueType

    package init(bytes: UnsafeBufferPointer<UInt8>, codec: BlockCodec, rawLength: Int, type: ValueType) {
      self.bytes = bytes
      self.codec = codec
      self.rawLength = rawLength
      self.type = type
    }
  }

  private let decoder: ColumnDecoder
  private let counts: [Int]
  private let block: (Int) throws -> Block
  private var decoded: [Int: (columns: [Column], depth: Int)] = [:]
  private var underWay: [Int] = []

  /// `block` finds a slot's block, whose bytes stay valid while this exists, and throws where there is none.
  package init(decoder: ColumnDecoder, counts: [Int], block: @escaping (Int) throws -> Block) {
    self.decoder = decoder
    self.counts = counts
    self.block = block
  }

  /// The columns of a slot. Throws `PayloadError` where slots follow from each other in a circle, or in a
  /// chain longer than `ColumnRelation.maxDepth`.
  package func columns(_ slot: Int) throws -> [Column] { try decode(slot).columns }

  private func decode(_ slot: Int) throws -> (columns: [Column], depth: Int) {
    if let known = decoded[slot] { return known }
    guard !underWay.contains(slot), underWay.count <= ColumnRelation.maxDepth else {
      throw PayloadError(what: "slot \(slot) follows from too many others, or from itself", byteOffset: 0)
    }
    underWay.append(slot)
    defer { underWay.removeLast() }
    let found = try block(slot)
    var depth = 0
    let columns = try decoder.decode(
      found.bytes, codec: found.codec, rawLength: found.rawLength, type: found.type, counts: counts
    ) { source in
      let (columns, sourceDepth) = try self.decode(source)
      depth = max(depth, sourceDepth + 1)
      guard depth <= ColumnRelation.maxDepth else {
        throw PayloadError(what: "slot \(slot) follows from too many others", byteOffset: 0)
      }
      return columns
    }
    decoded[slot] = (columns, depth)
    return (columns, depth)
  }
}
