// Which relations to use together: no circles, no long chains, and as many bytes saved as can be.

/// A relation of a slot that was measured.
struct RelationCandidate {
  let target: Int
  let relation: ColumnRelation
  /// The bytes that it saves on the sample.
  let gain: Int
}

/// At most one relation a slot.
struct RelationPlan {
  /// For each slot an index into `candidates`.
  private(set) var chosen: [Int?]
  private let candidates: [RelationCandidate]
  private let maxDepth: Int

  /// Candidates of equal gain are taken in the order given.
  init(slots: Int, candidates: [RelationCandidate], maxDepth: Int = ColumnRelation.maxDepth) {
    chosen = Array(repeating: nil, count: slots)
    self.candidates = candidates
    self.maxDepth = maxDepth
    fill()
    while improve() {}
  }

  var relations: [ColumnRelation?] { chosen.map { $0.map { candidates[$0].relation } } }

  private var gain: Int { chosen.reduce(0) { $0 + ($1.map { candidates[$0].gain } ?? 0) } }

  /// Adds what fits, the greatest gain first.
  private mutating func fill() {
    let order = candidates.indices.sorted { a, b in
      candidates[a].gain == candidates[b].gain ? a < b : candidates[a].gain > candidates[b].gain
    }
    for index in order where chosen[candidates[index].target] == nil {
      chosen[candidates[index].target] = index
      if !isSound { chosen[candidates[index].target] = nil }
    }
  }

  /// Tries each candidate in place of what stands in its way. Returns whether that was better.
  private mutating func improve() -> Bool {
    for index in candidates.indices where chosen[candidates[index].target] != index {
      var trial = self
      trial.chosen[candidates[index].target] = index
      trial.clear(for: index)
      trial.fill()
      if trial.isSound, trial.gain > gain {
        self = trial
        return true
      }
    }
    return false
  }

  /// Gives up relations until no chain is too long, in each chain the one of least gain but `kept`.
  private mutating func clear(for kept: Int) {
    for slot in chosen.indices {
      while let chain = longChain(from: slot) {
        let others = chain.compactMap { chosen[$0] }.filter { $0 != kept }
        guard let least = others.min(by: { candidates[$0].gain < candidates[$1].gain }) else {
          chosen[candidates[kept].target] = nil
          return
        }
        chosen[candidates[least].target] = nil
      }
    }
  }

  /// Whether no chain of relations is longer than allowed, which a circle is.
  private var isSound: Bool { chosen.indices.allSatisfy { longChain(from: $0) == nil } }

  /// The slots of a chain of one relation more than allowed; nil where there is none.
  private func longChain(from slot: Int, after chain: [Int] = []) -> [Int]? {
    guard let index = chosen[slot] else { return nil }
    let longer = chain + [slot]
    if longer.count > maxDepth { return longer }
    for source in candidates[index].relation.sources {
      if let found = longChain(from: source, after: longer) { return found }
    }
    return nil
  }
}
