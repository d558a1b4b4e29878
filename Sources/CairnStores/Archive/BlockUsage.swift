// How much of an archive is of use: what decides when it is written anew.

/// How many groups use each block, and what all blocks in use take, in bytes.
struct BlockUsage {
  private var counts: [ObjectIdentifier: Int] = [:]
  private(set) var byteCount = 0

  init(_ index: ArchiveIndex) {
    for groups in index.tables { for group in groups { use(group, by: 1) } }
  }

  mutating func use(_ group: ArchiveGroup, by step: Int) {
    for case let reference? in group.columns {
      let key = ObjectIdentifier(reference.block)
      let before = counts[key] ?? 0
      let after = before + step
      counts[key] = after == 0 ? nil : after
      if before == 0 { byteCount += reference.block.length }
      if after == 0 { byteCount -= reference.block.length }
      byteCount += step * reference.blobBytes.reduce(0, +)
    }
  }
}
