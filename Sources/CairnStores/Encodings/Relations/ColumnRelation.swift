// How the values of one slot follow from those of others in the same row, or nearly so.

/// What a slot is predicted from. It knows nothing of what slots are called or mean.
package struct ColumnRelation: Hashable, Sendable {
  /// How a value is predicted from those of the sources. Nulls among these count as 0, or as empty.
  package enum Kind: Hashable, Sendable {
    /// The value of the last row before in which the sources had the same values; others are listed.
    case lastOfKey
    /// The same, with the difference given for every row.
    case nearLastOfKey
    case sum(Sum)
    /// The source over a number that is at least 2, rounded towards 0.
    case quotient(Int64)
    /// What that division leaves.
    case remainder(Int64)
    /// A text that is one of the source's items, which that byte joins; others are listed.
    case item(UInt8)
  }

  /// What the difference is taken to. A clock number writes 9:05 as 905, so that adding 60 to it is adding 100.
  package enum Sum: UInt8, Sendable, CaseIterable {
    case first = 1
    case firstPlusSecond = 2
    case firstMinusSecond = 3
    /// A clock number of the first's minutes and the second.
    case clockPlusMinutes = 4
    case clockMinusMinutes = 5
    /// The minutes from the second clock number to the first.
    case minutesBetween = 6
  }

  package let kind: Kind
  /// One to three slots.
  package let sources: [Int]

  package init(_ kind: Kind, of sources: [Int]) {
    precondition(sources.count == kind.sourceCount ?? sources.count, "\(kind) of \(sources.count) slots")
    precondition((1...ColumnRelation.maxSources).contains(sources.count), "\(sources.count) sources")
    self.kind = kind
    self.sources = sources
  }

  package static let maxSources = 3
  /// How many relations may follow on each other until a slot is reached that has none.
  package static let maxDepth = 3
}

extension ColumnRelation.Kind {
  /// nil for any number.
  var sourceCount: Int? {
    switch self {
    case .lastOfKey, .nearLastOfKey: nil
    case .sum(let sum): sum == .first ? 1 : 2
    case .quotient, .remainder, .item: 1
    }
  }

  var isKeyed: Bool { self == .lastOfKey || self == .nearLastOfKey }

  /// Whether it is of texts, and which byte joins their items.
  var joint: UInt8? { if case .item(let joint) = self { joint } else { nil } }

  /// The byte that stands for it in a payload.
  var code: UInt8 {
    switch self {
    case .lastOfKey: 1
    case .nearLastOfKey: 2
    case .sum: 3
    case .quotient: 4
    case .remainder: 5
    case .item: 6
    }
  }

  /// The values that are predicted, of which there are `n`; for kinds of numbers that aren't keyed.
  func predictions(
    _ first: UnsafePointer<Int64>, _ second: UnsafePointer<Int64>?, _ n: Int,
    into out: UnsafeMutablePointer<Int64>
  ) {
    switch self {
    case .lastOfKey, .nearLastOfKey, .item: preconditionFailure("\(self) is predicted row by row")
    case .quotient(let divisor): for i in 0..<n { out[i] = first[i] / divisor }
    case .remainder(let divisor): for i in 0..<n { out[i] = first[i] % divisor }
    case .sum(let sum):
      let other = second ?? first
      switch sum {
      case .first: out.update(from: first, count: n)
      case .firstPlusSecond: for i in 0..<n { out[i] = first[i] &+ other[i] }
      case .firstMinusSecond: for i in 0..<n { out[i] = first[i] &- other[i] }
      case .clockPlusMinutes: for i in 0..<n { out[i] = Clock.number(Clock.minutes(first[i]) &+ other[i]) }
      case .clockMinusMinutes: for i in 0..<n { out[i] = Clock.number(Clock.minutes(first[i]) &- other[i]) }
      case .minutesBetween:
        for i in 0..<n { out[i] = Clock.minutes(first[i]) &- Clock.minutes(other[i]) }
      }
    }
  }
}

/// Times of day as numbers whose last two digits are minutes.
enum Clock {
  @inline(__always)
  static func minutes(_ number: Int64) -> Int64 { number / 100 &* 60 &+ number % 100 }

  @inline(__always)
  static func number(_ minutes: Int64) -> Int64 { minutes / 60 &* 100 &+ minutes % 60 }
}
