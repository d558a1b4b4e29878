// Randomness that can be repeated: every random test takes a seed and names it when it fails.

import Foundation

/// The generator of Steele, Lea and Flood (2014). The same seed gives the same numbers on every platform.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// True once in `n` times.
  mutating func oneIn(_ n: Int) -> Bool { Int.random(in: 0..<n, using: &self) == 0 }

  mutating func below(_ n: Int) -> Int { Int.random(in: 0..<n, using: &self) }

  mutating func pick<T>(_ items: [T]) -> T { items[below(items.count)] }
}

/// The seeds of a run: three fixed ones, or the one that the environment variable `CAIRN_SEED` names.
let seeds: [UInt64] =
  ProcessInfo.processInfo.environment["CAIRN_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? [1, 2, 3]

/// Collects what went wrong in a loop too long for an expectation a turn.
struct Failures: CustomStringConvertible {
  private(set) var count = 0
  private var first: [String] = []

  var isEmpty: Bool { count == 0 }

  mutating func add(_ text: @autoclosure () -> String) {
    count += 1
    if first.count < 5 { first.append(text()) }
  }

  mutating func check(_ holds: Bool, _ text: @autoclosure () -> String) {
    if !holds { add(text()) }
  }

  var description: String {
    count == 0 ? "none" : "\(count) failures, first: " + first.joined(separator: " | ")
  }
}
