// Has the columns of a scan read a little ahead of it, where they are in a file.

/// Follows a scan over chunks that asks a predicate, and has what it asks of the next chunks read meanwhile.
struct ReadAhead {
  /// In chunks: three row groups of a file.
  private static let distance = 12

  private let chunks: [Chunk]
  private let root: PreparedPredicate.Node
  /// In the order in which they are asked; found with the first chunk that has a backing.
  private var slots: [Int]?
  /// The first chunk that nothing has been said of.
  private var next = 0
  /// What the scan had found when the chunk before began.
  private var foundBefore = -1
  /// How many chunks may be scanned before anything is read ahead: one that soon has enough reads nothing in vain.
  private let patience: Int

  init(_ chunks: [Chunk], _ predicate: PreparedPredicate, mayEndEarly: Bool) {
    self.chunks = chunks
    root = predicate.root
    patience = mayEndEarly ? 4 : 0
  }

  /// Called before the chunk at `place` is scanned, with how many rows the scan has found. Where the chunk before had
  /// none, the first column alone decides, and the others aren't read.
  mutating func advance(to place: Int, found: Int) {
    let hasMatches = found > foundBefore
    foundBefore = found
    if place < patience { return }
    next = max(next, place)
    let end = min(place + ReadAhead.distance, chunks.count)
    while next < end {
      let chunk = chunks[next]
      next += 1
      guard chunk.backing != nil else { continue }
      if slots == nil { slots = root.slots }
      guard let slots, !slots.isEmpty, !root.leavesOut(chunk) else { continue }
      chunk.readAhead(hasMatches ? slots : [slots[0]])
    }
  }
}

extension PreparedPredicate.Node {
  /// The slots that are asked, each once, in order; without those of what is asked row by row.
  fileprivate var slots: [Int] {
    var result: [Int] = []
    addSlots(to: &result)
    return result
  }

  private func addSlots(to result: inout [Int]) {
    switch self {
    case .slot(let slot, _), .members(let slot, _, _), .key(let slot?, _):
      if !result.contains(slot) { result.append(slot) }
    case .and(let parts), .or(let parts):
      for part in parts { part.addSlots(to: &result) }
    case .not(let part): part.addSlots(to: &result)
    case .constant, .key(nil, _), .numbers, .general: break
    }
  }

  fileprivate func leavesOut(_ chunk: Chunk) -> Bool {
    if case .and(let parts) = self { return parts.contains { $0.isExcluded(from: chunk) } }
    return isExcluded(from: chunk)
  }
}
