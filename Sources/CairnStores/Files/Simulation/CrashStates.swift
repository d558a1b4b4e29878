// The file systems that a power cut may leave. Each thing that isn't durable yet is a dimension: which of its versions
// the medium has got. All combinations are tried where they are few; else the telling ones, and random ones.

import Foundation

/// One file system that a crash may leave.
package struct CrashState {
  /// Restarted: nothing is open, operations count from 0.
  package let fileSystem: SimulatedFileSystem
  /// What of the last changes is there, for reports.
  package var description: String { describe() }
  fileprivate let describe: () -> String
}

extension SimulatedFileSystem {
  /// What a crash now may leave: of the process alone, first, which loses nothing; then of the machine.
  ///
  /// If the changes that aren't durable combine to 512 states at most (nine sectors written once, say), these are all.
  /// Otherwise they are every prefix of the changes, all of them but one, and 200 random ones by `seed`. If that is
  /// more than `limit`, it is `limit` of them by `seed`, with nothing and everything among them. Costs, for each state
  /// that is asked for, about as much as the changes in it; what didn't change is shared.
  package func crashStates(limit: Int = 1000, seed: UInt64 = 1) -> CrashStates {
    CrashStates(state.withLock { $0 }, limit: limit, seed: seed)
  }
}

package struct CrashStates: Sequence {
  private enum Selection {
    case combination(Int)
    case upTo(operation: Int)
    case allBut(dimension: Int, level: Int)
    case random(UInt64)
  }

  /// Something of which the medium has one version: level 0 is the durable one.
  private struct Dimension {
    enum Kind {
      case sector(node: Int, index: Int, versions: [FileImage.Sector?])
      case size(node: Int, versions: [Int])
      case names(NameChange)
    }
    let kind: Kind
    let label: String
    /// When each version after the durable one came.
    let operations: [Int]
  }

  private let whole: SimulatedState
  private let durable: SimulatedState
  private var dimensions: [Dimension] = []
  private var selections: [Selection] = []
  private let changedFiles: [Int]

  static let exhaustiveLimit = 512
  static let randomCount = 200

  init(_ state: SimulatedState, limit: Int, seed: UInt64) {
    var (whole, durable) = (state, state)
    whole.restart()
    durable.restart()
    for node in durable.nodes.indices { durable.nodes[node].losePending() }
    durable.pendingNames = []
    self.whole = whole
    self.durable = durable
    changedFiles = state.nodes.indices.filter {
      !state.nodes[$0].pendingSectors.isEmpty || !state.nodes[$0].pendingSizes.isEmpty
    }
    dimensions = Self.dimensions(of: state, changedFiles)
    selections = makeSelections(limit: Swift.max(2, limit), seed: seed)
  }

  /// With the process's own crash.
  package var underestimatedCount: Int { selections.count + 1 }

  package func makeIterator() -> some IteratorProtocol<CrashState> {
    let first = CrashState(fileSystem: SimulatedFileSystem(whole), describe: { "the process crashed" })
    return ([{ first }] + selections.map { selection in { make(selection) } }).lazy.map { $0() }
      .makeIterator()
  }

  private static func dimensions(of state: SimulatedState, _ changedFiles: [Int]) -> [Dimension] {
    var dimensions = state.pendingNames.map {
      Dimension(kind: .names($0), label: $0.label, operations: [$0.operation])
    }
    for number in changedFiles {
      let node = state.nodes[number]
      if !node.pendingSizes.isEmpty {
        dimensions.append(
          Dimension(
            kind: .size(node: number, versions: node.pendingSizes.map(\.value)),
            label: "size of \(node.label)",
            operations: node.pendingSizes.map(\.operation)))
      }
      for (index, versions) in node.pendingSectors.sorted(by: { $0.key < $1.key }) {
        dimensions.append(
          Dimension(
            kind: .sector(node: number, index: index, versions: versions.map(\.value)),
            label: "sector \(index) of \(node.label)", operations: versions.map(\.operation)))
      }
    }
    return dimensions
  }

  private func makeSelections(limit: Int, seed: UInt64) -> [Selection] {
    var random = SplitMix64(seed: seed)
    var selections: [Selection]
    if let count = combinationCount() {
      selections = (0..<count).map { .combination($0) }
    } else {
      let operations = Set(dimensions.flatMap(\.operations)).sorted()
      selections = [.upTo(operation: -1)]
      for (number, dimension) in dimensions.enumerated() {
        // Without all of its versions, and without the last.
        for level in Set([0, dimension.operations.count - 1]).sorted() {
          selections.append(.allBut(dimension: number, level: level))
        }
      }
      for _ in 0..<Self.randomCount { selections.append(.random(random.next())) }
      selections += operations.map { .upTo(operation: $0) }
    }
    guard selections.count > limit else { return selections }
    let middle = selections[1..<selections.count - 1].shuffled(using: &random).prefix(limit - 2)
    return [selections.first!] + middle + [selections.last!]
  }

  /// Nil if there are more than can be tried.
  private func combinationCount() -> Int? {
    var count = 1
    for dimension in dimensions {
      count *= dimension.operations.count + 1
      if count > Self.exhaustiveLimit { return nil }
    }
    return count
  }

  /// The version of each dimension.
  private func levels(_ selection: Selection) -> [Int] {
    switch selection {
    case .combination(var number):
      return dimensions.map {
        let level: Int
        (number, level) = number.quotientAndRemainder(dividingBy: $0.operations.count + 1)
        return level
      }
    case .upTo(let operation):
      return dimensions.map { $0.operations.prefix { $0 <= operation }.count }
    case .allBut(let dimension, let level):
      var levels = dimensions.map(\.operations.count)
      levels[dimension] = level
      return levels
    case .random(let seed):
      var random = SplitMix64(seed: seed)
      return dimensions.map { .random(in: 0...$0.operations.count, using: &random) }
    }
  }

  private func make(_ selection: Selection) -> CrashState {
    var state = durable
    let levels = levels(selection)
    var sizes: [Int: Int] = [:]
    for (dimension, level) in zip(dimensions, levels) where level > 0 {
      switch dimension.kind {
      case .sector(let node, let index, let versions):
        state.nodes[node].durable.setSector(index, versions[level - 1])
      case .size(let node, let versions):
        sizes[node] = versions[level - 1]
      case .names(let change):
        for (directory, name, node) in change.bindings {
          state.nodes[directory].durableEntries[name] = node
          state.nodes[directory].entries[name] = node
        }
      }
    }
    for node in changedFiles {
      // Cuts off sectors that came through beyond the size that came through.
      _ = state.nodes[node].durable.resize(to: sizes[node] ?? state.nodes[node].durable.size)
      state.nodes[node].content = state.nodes[node].durable
    }
    return CrashState(fileSystem: SimulatedFileSystem(state), describe: { describe(selection, levels) })
  }

  private func describe(_ selection: Selection, _ levels: [Int]) -> String {
    switch selection {
    case .upTo(let operation): return "the changes up to operation \(operation)"
    case .allBut(let dimension, let level):
      return "everything, but of \(dimensions[dimension].label) version \(level)"
    case .random(let seed): return "a random choice by \(seed)"
    case .combination:
      if levels.allSatisfy({ $0 == 0 }) { return "nothing that wasn't synced" }
      let parts = zip(dimensions, levels).filter { $0.1 > 0 }.map { dimension, level in
        dimension.label + (dimension.operations.count > 1 ? " (version \(level))" : "")
      }
      return "of what wasn't synced: " + parts.joined(separator: ", ")
    }
  }
}

/// Random numbers that a seed determines, on every machine (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014).
private struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
