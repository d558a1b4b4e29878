// What a table remembers of the name of a property: see `EntityTable.cachedSlot`.

/// A property that was looked up: by the address of its name's literal, to its slot and type.
@usableFromInline struct SlotCacheEntry {
  @usableFromInline var address: UInt = 0
  @usableFromInline var slot: Int32 = -1
  /// 0 in an empty entry.
  @usableFromInline var typeBit: UInt32 = 0
  /// Of a relationship, the slot that has the destination's key, or -1.
  @usableFromInline var keySlot: Int32 = -1
  /// Of a relationship, the index of the root entity of its destinations.
  @usableFromInline var root: Int32 = 0
  /// Of a relationship, `Relation.onlyDestination` and `Relation.unorderedInverse` by index, or -1.
  @usableFromInline var onlyDestination: Int32 = -1
  @usableFromInline var unorderedInverse: Int32 = -1

  static let count = 256
  static let relationshipBit: UInt32 = 1 << 31

  /// Where the entry of an address stands, unless another one does.
  @inlinable @inline(__always)
  static func place(of address: UInt) -> Int {
    Int(truncatingIfNeeded: (UInt64(truncatingIfNeeded: address) &* 0x9E37_79B9_7F4A_7C15) >> 56)
  }
}
