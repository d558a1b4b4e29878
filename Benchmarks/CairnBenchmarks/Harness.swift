// Runs cases: the two sides in turn, the best run of each, their answers compared.
//
// Invariant: a figure is only given if every run of both sides computed the same answer, and the known one
// where there is one.

import Foundation

/// The figures of one case; as JSON, its keys are always all there, with null for what isn't known.
struct Figures: Encodable {
  var name: String
  var peer: String
  var ours: Double?
  var theirs: Double?
  var unit: String
  var goal: Double?

  var ratio: Double? {
    guard let ours, let theirs, theirs > 0 else { return nil }
    return ours / theirs
  }

  private enum CodingKeys: String, CodingKey {
    case name = "case"
    case peer, ours, theirs, unit, ratio, goal
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(peer, forKey: .peer)
    try container.encode(ours, forKey: .ours)
    try container.encode(theirs, forKey: .theirs)
    try container.encode(unit, forKey: .unit)
    try container.encode(ratio, forKey: .ratio)
    try container.encode(goal, forKey: .goal)
  }
}

struct Harness {
  /// Whether `Case.knownCount` holds for the data in use.
  var hasKnownData: Bool

  /// Runs one case. Throws if answers differ or a side throws.
  func run(_ benchmark: Case) throws -> Figures {
    let ours = try benchmark.ours?()
    let theirs = try benchmark.theirs?()
    var best: (ours: Double?, theirs: Double?)
    var expected: Answer?
    var runCount = 0
    var spent = 0.0

    func figure(_ side: Side?, _ sideName: String) throws -> Double? {
      guard let side else { return nil }
      let sample = try side.sample()
      try check(sample.answer, of: benchmark, sideName, against: expected)
      expected = sample.answer
      spent += sample.figure
      return sample.figure
    }
    guard ours != nil || theirs != nil else { return figures(of: benchmark, best) }
    repeat {
      best.ours = Self.lesser(best.ours, try figure(ours, "ours"))
      best.theirs = Self.lesser(best.theirs, try figure(theirs, "theirs"))
      runCount += 1
    } while runCount < benchmark.runCount || isShort(benchmark, runCount, spent)
    return figures(of: benchmark, best)
  }

  /// Cases of a few milliseconds are at the mercy of the scheduler, and more runs of them cost nothing.
  private func isShort(_ benchmark: Case, _ runCount: Int, _ spent: Double) -> Bool {
    benchmark.unit == .milliseconds && runCount < 200 && spent < 250
  }

  private func check(
    _ answer: Answer, of benchmark: Case, _ sideName: String, against expected: Answer?
  ) throws {
    if let expected, answer != expected {
      throw BenchmarkError("\(benchmark.name): \(sideName) gives \(answer), not \(expected)")
    }
    if hasKnownData, let known = benchmark.knownCount, answer.count != known {
      throw BenchmarkError("\(benchmark.name): \(sideName) gives \(answer.count) rows, not \(known)")
    }
  }

  private func figures(of benchmark: Case, _ best: (ours: Double?, theirs: Double?)) -> Figures {
    Figures(
      name: benchmark.name, peer: benchmark.peer, ours: best.ours, theirs: best.theirs,
      unit: benchmark.unit.rawValue, goal: benchmark.goal)
  }

  private static func lesser(_ first: Double?, _ second: Double?) -> Double? {
    guard let first, let second else { return first ?? second }
    return min(first, second)
  }
}
