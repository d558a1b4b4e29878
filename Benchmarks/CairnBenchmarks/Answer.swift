// What a case computes, boiled down so that two sides' answers can be compared.
//
// Invariant: two sides that found the same rows have equal answers, whatever order is free to them.

import Foundation

struct Answer: Equatable, CustomStringConvertible {
  private(set) var count = 0
  private(set) var checksum: UInt64 = 0

  /// An answer whose order doesn't matter.
  static func unordered(_ keys: some Sequence<Int32>) -> Answer {
    var answer = Answer()
    for key in keys {
      answer.count += 1
      answer.checksum &+= mix(UInt64(bitPattern: Int64(key)))
    }
    return answer
  }

  /// Keys in an order; each is told by the values that it was sorted by, since ties may stand either way.
  static func ordered(_ keys: some Sequence<Int32>, by columns: [[Int32]]) -> Answer {
    var answer = Answer()
    for key in keys {
      for column in columns { answer.fold(Int64(column[Int(key) - 1])) }
      answer.count += 1
    }
    return answer
  }

  /// One number, and how many rows it was made of.
  static func total(_ total: Int64, count: Int) -> Answer {
    Answer(count: count, checksum: UInt64(bitPattern: total))
  }

  /// Averages by name, in any order; compared to the sixth decimal place.
  static func averages(_ averages: some Sequence<(name: String, average: Double)>) -> Answer {
    var answer = Answer()
    for (name, average) in averages.sorted(by: { $0.name < $1.name }) {
      for byte in name.utf8 { answer.fold(Int64(byte)) }
      answer.fold(Int64((average * 1_000_000).rounded()))
      answer.count += 1
    }
    return answer
  }

  var description: String { "\(count) rows, checksum \(String(checksum, radix: 16))" }

  private mutating func fold(_ value: Int64) {
    checksum = Self.mix(checksum ^ UInt64(bitPattern: value))
  }

  /// The finaliser of SplitMix64: a bijection in which each bit depends on all.
  static func mix(_ value: UInt64) -> UInt64 {
    var mixed = value &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Random numbers from a seed: every run of the program picks the same rows.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    defer { state &+= 0x9E37_79B9_7F4A_7C15 }
    return Answer.mix(state)
  }
}
