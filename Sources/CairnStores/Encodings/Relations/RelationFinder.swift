// Looks for relations between the slots of a table, on the rows of one row group.

import CairnModel
import Foundation

/// Finds relations by trying all that there could be: cheaply first, and the best by encoding the rows.
package struct RelationFinder {
  let slots: [[Column]]
  let rows: [BlockRows]
  private let n: Int
  let scratch = Scratch()
  private let encoder = ColumnEncoder(effort: .default)
  /// What each slot takes by itself.
  let plainCost: [Int]

  /// How many slots are looked at, as targets or as sources: with many the search would take too long.
  static let maxSlots = 32
  /// Slots that take fewer bytes than this aren't worth it.
  private static let leastCost = 400

  /// For each slot the relation with which its blocks get smaller, if there is one. Following them leads
  /// neither in circles nor further than `ColumnRelation.maxDepth`.
  ///
  /// `sample` has each slot's columns for the same rows; those of one row group, since predictions start
  /// anew in each. Costs some seconds for 16,384 rows of 20 slots. The same sample gives the same relations.
  ///
  /// Without `allowingItems` none of kind `item`, which not every file may use.
  package static func plan(_ sample: [[Column]], allowingItems: Bool = true) -> [ColumnRelation?] {
    let found = RelationFinder(sample).candidates(allowingItems: allowingItems)
    return RelationPlan(slots: sample.count, candidates: found).relations
  }

  private init(_ sample: [[Column]]) {
    slots = sample
    let scratch = scratch
    let encoder = encoder
    rows = sample.map { BlockRows($0, scratch: scratch) }
    n = rows.first?.count ?? 0
    precondition(rows.allSatisfy { [n] in $0.count == n }, "the columns of a sample have the same rows")
    plainCost = sample.map { parts in
      parts.first.map { encoder.encode(parts, type: $0.type).bytes.count } ?? 0
    }
  }

  private func candidates(allowingItems: Bool) -> [RelationCandidate] {
    var found: [RelationCandidate] = []
    if n < 64 { return [] }
    let targets = slots.indices.filter { plainCost[$0] >= RelationFinder.leastCost }
      .sorted { plainCost[$0] == plainCost[$1] ? $0 < $1 : plainCost[$0] > plainCost[$1] }
      .prefix(RelationFinder.maxSlots).sorted()
    let guesses =
      KeyedGuesses(self, targets: targets).guesses + ArithmeticGuesses(self, targets: targets).guesses
      + (allowingItems ? ItemGuesses(self, targets: targets).guesses : [])
    for target in targets {
      for guess in guesses where guess.target == target {
        let size = encoder.encode(
          slots[target], type: type(target)!, relation: guess.relation,
          sources: guess.relation.sources.map { slots[$0] }
        ).bytes.count
        // Each further slot to read has to save a hundredth.
        let gain = plainCost[target] * (101 - guess.relation.sources.count) / 100 - size
        // Less than a twentieth isn't worth reading other slots for.
        if gain * 20 > plainCost[target] {
          found.append(RelationCandidate(target: target, relation: guess.relation, gain: gain))
        }
      }
    }
    return found
  }

  private func type(_ slot: Int) -> ValueType? { slots[slot].first?.type }

  func isText(_ slot: Int) -> Bool { type(slot).map { ItemRelation.types.contains($0) } ?? false }

  /// A relation that may be worth measuring.
  struct Guess {
    let target: Int
    let relation: ColumnRelation
    /// What it is thought to take, in bits.
    let cost: Double
  }

  /// The cheapest guesses for each target. Confined to the finder.
  private struct GuessList {
    private(set) var guesses: [Guess] = []
    private let kept: Int

    init(kept: Int) { self.kept = kept }

    mutating func add(_ guess: Guess) {
      guesses.append(guess)
      guesses.sort { $0.cost < $1.cost }
      if guesses.count > kept { guesses.removeLast() }
    }

    func isWorthAdding(_ cost: Double) -> Bool { guesses.count < kept || cost < guesses.last!.cost }
  }

  /// The bits that `of` outcomes take of which `hits` are of one kind and the rest of another.
  private static func entropy(hits: Int, of total: Int) -> Double {
    if hits == 0 || hits == total { return 8 }
    let share = Double(hits) / Double(total)
    return -Double(total) * (share * log2(share) + (1 - share) * log2(1 - share))
  }

  /// The bits for a difference, given those that the value takes by itself.
  @inline(__always)
  private static func bits(_ difference: Int64, _ plain: Double) -> Double {
    min(plain, Double(64 - difference.magnitude.leadingZeroBitCount) + 1.5)
  }

  // MARK: Values that repeat where others do

  private struct KeyedGuesses {
    private(set) var guesses: [Guess] = []

    init(_ finder: RelationFinder, targets: [Int]) {
      let scratch = finder.scratch
      let n = finder.n
      let mark = scratch.mark
      defer { scratch.release(to: mark) }
      let keys = Keys(finder)
      // For each number of slots in the key, so that short ones aren't crowded out.
      var lists: [[GuessList]] = targets.map { _ in
        Array(repeating: GuessList(kept: 3), count: ColumnRelation.maxSources)
      }
      let state = State(n: n, scratch: scratch)
      let values = targets.map { keys.view($0, finder) }
      func tryAll(_ codes: KeyCodes, _ sources: [Int]) {
        for (index, target) in targets.enumerated() where !sources.contains(target) {
          guard let view = values[index] else { continue }
          let plain = Double(finder.plainCost[target] * 8) / Double(n)
          let cost = state.cost(view, finder.rows[target], codes, plain: plain)
          guard cost < 0.95 * plain * Double(n), lists[index][sources.count - 1].isWorthAdding(cost) else {
            continue
          }
          lists[index][sources.count - 1].add(
            Guess(target: target, relation: ColumnRelation(.lastOfKey, of: sources), cost: cost))
        }
      }
      for (i, a) in keys.slots.enumerated() {
        let mark = scratch.mark
        tryAll(keys.codes[i], [a])
        for j in keys.slots.indices where j > i {
          let mark = scratch.mark
          let pair = KeyCodes(keys.codes[i], keys.codes[j], n, scratch: scratch)
          tryAll(pair, [a, keys.slots[j]])
          for k in keys.slots.indices where k > j {
            let mark = scratch.mark
            tryAll(KeyCodes(pair, keys.codes[k], n, scratch: scratch), [a, keys.slots[j], keys.slots[k]])
            scratch.release(to: mark)
          }
          scratch.release(to: mark)
        }
        scratch.release(to: mark)
      }
      for guess in lists.joined().flatMap(\.guesses) {
        guesses.append(guess)
        let near = ColumnRelation(.nearLastOfKey, of: guess.relation.sources)
        guesses.append(Guess(target: guess.target, relation: near, cost: guess.cost))
      }
    }
  }

  /// The slots that can be part of a key, with codes of their values.
  private struct Keys {
    private(set) var slots: [Int] = []
    private(set) var codes: [KeyCodes] = []

    init(_ finder: RelationFinder) {
      for slot in finder.slots.indices where slots.count < RelationFinder.maxSlots {
        guard let type = finder.type(slot),
          let view = KeyCodes.view(finder.rows[slot], type, scratch: finder.scratch)
        else { continue }
        let codes = KeyCodes(view, finder.n, scratch: finder.scratch)
        // One value says nothing, and values that never come again don't either.
        let again = KeyedRows(codes, finder.n, scratch: finder.scratch).seenCount()
        guard again < finder.n - 1, again > finder.n / 10 else { continue }
        slots.append(slot)
        self.codes.append(codes)
      }
    }

    /// The values of a target that can be predicted by keys.
    func view(_ slot: Int, _ finder: RelationFinder) -> UnsafeMutablePointer<Int64>? {
      guard let type = finder.type(slot), RelationWriter.canPredict(type, by: .lastOfKey) else { return nil }
      return KeyCodes.view(finder.rows[slot], type, scratch: finder.scratch)
    }
  }

  /// The last value of each key, used again for each guess.
  private struct State {
    private let last: UnsafeMutablePointer<Int64>
    private let lastRound: UnsafeMutablePointer<Int32>
    private let round: UnsafeMutablePointer<Int32>
    private let n: Int

    init(n: Int, scratch: Scratch) {
      self.n = n
      last = scratch.take(Int64.self, 2 * n + 64)
      lastRound = scratch.take(Int32.self, 2 * n + 64)
      lastRound.update(repeating: 0, count: 2 * n + 64)
      round = scratch.take(Int32.self, 1)
      round[0] = 0
    }

    /// The bits that a target is thought to take.
    func cost(_ values: UnsafePointer<Int64>, _ rows: BlockRows, _ codes: KeyCodes, plain: Double) -> Double {
      round[0] += 1
      let now = round[0]
      var (unseen, seen, hits) = (0, 0, 0)
      var bits = 0.0
      let hasNulls = rows.nullCount > 0
      for row in 0..<n {
        if hasNulls, rows.isNull(row) { continue }
        let code = Int(truncatingIfNeeded: codes.codes[row])
        let value = values[row]
        if lastRound[code] != now {
          lastRound[code] = now
          unseen += 1
        } else {
          seen += 1
          if last[code] == value {
            hits += 1
          } else {
            bits += RelationFinder.bits(value &- last[code], plain)
          }
        }
        last[code] = value
      }
      return bits + Double(unseen) * plain + RelationFinder.entropy(hits: hits, of: max(seen, 1))
    }
  }

  // MARK: Values that can be worked out

  private struct ArithmeticGuesses {
    private(set) var guesses: [Guess] = []
    private static let divisors: [Int64] = [10, 12, 24, 60, 100, 1000, 3600, 86_400, 1_000_000]

    init(_ finder: RelationFinder, targets: [Int]) {
      let scratch = finder.scratch
      let mark = scratch.mark
      defer { scratch.release(to: mark) }
      let size = min(finder.n, 2048)
      let slots = finder.slots.indices.filter { finder.type($0)?.integerRange != nil }
        .prefix(RelationFinder.maxSlots)
      var views: [Int: UnsafeMutablePointer<Int64>] = [:]
      for slot in slots {
        let all = finder.rows[slot].integers(scratch: scratch)
        let some = scratch.take(Int64.self, size)
        for i in 0..<size { some[i] = all[i * finder.n / size] }
        views[slot] = some
      }
      let clocks = slots.filter { ArithmeticGuesses.isClock(views[$0]!, size) }
      let predicted = scratch.take(Int64.self, size)
      for target in targets where views[target] != nil {
        var list = GuessList(kept: 5)
        let plain = Double(finder.plainCost[target] * 8) / Double(finder.n)
        func attempt(_ kind: ColumnRelation.Kind, _ sources: [Int]) {
          kind.predictions(
            views[sources[0]]!, sources.count > 1 ? views[sources[1]] : nil, size, into: predicted)
          let isNull = { (i: Int) in finder.rows[target].isNull(i * finder.n / size) }
          let bits = ArithmeticGuesses.cost(views[target]!, predicted, size, plain: plain, isNull: isNull)
          let cost = bits * (1 + 0.02 * Double(sources.count))
          guard cost < 0.95 * plain * Double(size), list.isWorthAdding(cost) else { return }
          list.add(Guess(target: target, relation: ColumnRelation(kind, of: sources), cost: cost))
        }
        for a in slots where a != target {
          attempt(.sum(.first), [a])
          for divisor in divisors {
            attempt(.quotient(divisor), [a])
            attempt(.remainder(divisor), [a])
          }
          for b in slots where b != target && b != a {
            if a < b { attempt(.sum(.firstPlusSecond), [a, b]) }
            attempt(.sum(.firstMinusSecond), [a, b])
            if clocks.contains(a), clocks.contains(target) {
              attempt(.sum(.clockPlusMinutes), [a, b])
              attempt(.sum(.clockMinusMinutes), [a, b])
            }
            if clocks.contains(a), clocks.contains(b) { attempt(.sum(.minutesBetween), [a, b]) }
          }
        }
        guesses += list.guesses
      }
    }

    private var divisors: [Int64] { ArithmeticGuesses.divisors }

    private static func isClock(_ values: UnsafePointer<Int64>, _ n: Int) -> Bool {
      var high: Int64 = 0
      for i in 0..<n {
        guard (0...2400).contains(values[i]), values[i] % 100 < 60 else { return false }
        high = max(high, values[i])
      }
      return high >= 100
    }

    private static func cost(
      _ values: UnsafePointer<Int64>, _ predicted: UnsafePointer<Int64>, _ n: Int, plain: Double,
      isNull: (Int) -> Bool
    ) -> Double {
      var some = (0..<63).map { values[$0 * n / 63] &- predicted[$0 * n / 63] }
      some.sort()
      let middle = some[31]
      var (hits, total) = (0, 0)
      var bits = 0.0
      for i in 0..<n where !isNull(i) {
        let difference = values[i] &- predicted[i] &- middle
        total += 1
        if difference == 0 { hits += 1 } else { bits += RelationFinder.bits(difference, plain) }
      }
      return bits + RelationFinder.entropy(hits: hits, of: max(total, 1))
    }
  }
}
