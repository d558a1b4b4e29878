// The generator behind every random run: tiny, fast, and the same on all platforms for one seed.

/// Sebastiano Vigna's SplitMix64. One seed gives one sequence, for ever.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number below `bound`, which is positive.
  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  /// True `percent` times in a hundred.
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

  /// Some of the choices, each at most once, in random order.
  mutating func some<T>(_ choices: [T], upTo count: Int) -> [T] {
    var rest = choices
    var result: [T] = []
    for _ in 0..<min(below(count + 1), choices.count) { result.append(rest.remove(at: below(rest.count))) }
    return result
  }
}
