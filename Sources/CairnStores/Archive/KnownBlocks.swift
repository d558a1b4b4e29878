// The blocks of an archive while its footers are read: those that several groups name are one.

extension ArchiveIndex {
  /// Blocks that footers name, each once.
  struct KnownBlocks {
    private var all: [ArchiveBlock] = []
    /// Of the first of them.
    private var byOffset: [UInt64: ArchiveBlock] = [:]
    private var indexedCount = 0
    private var end: UInt64 = 0

    /// The one at an offset. Costs nothing for an offset behind all others, as most are.
    mutating func block(at offset: UInt64) -> ArchiveBlock? {
      if offset >= end { return nil }
      for block in all[indexedCount...] { byOffset[block.offset] = block }
      indexedCount = all.count
      return byOffset[offset]
    }

    /// Adds one that isn't there yet.
    mutating func add(_ block: ArchiveBlock) {
      all.append(block)
      end = max(end, block.offset + UInt64(block.length))
    }
  }
}
