// The words of an index follow the order of values.

import Foundation
import Testing

@testable import CairnModel

struct IndexCoderTests {
  private func isAfter(_ a: [UInt64], _ b: [UInt64]) -> Bool { b.lexicographicallyPrecedes(a) }

  @Test(arguments: ValueType.allCases, seeds)
  func `a lesser value has no greater first word, and equal values have equal words`(
    type: ValueType, seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var values = (0..<120).map { _ in random.value(type) } + [.null]
    if type == .string { values += Nasty.strings.map { .string($0) } }
    if type == .decimal { values += Nasty.decimals.map { .decimal($0) } }
    if type == .double { values += Nasty.doubles.map { .double($0) } }
    values.sort()
    let column = column(type, values)
    let words = IndexCoder.words(column)
    #expect(words.count == IndexCoder.wordCount(type))
    var failures = Failures()
    for row in 1..<values.count {
      let (a, b) = (IndexCoder.words(column, row - 1), IndexCoder.words(column, row))
      failures.check(words.map { $0[row] } == b, "row by row and all at once: \(values[row])")
      failures.check(a[0] <= b[0], "\(values[row - 1]) and \(values[row])")
      if values[row - 1] == values[row] { failures.check(a == b, "\(values[row - 1]) equals \(values[row])") }
      if let constant = IndexCoder.words(values[row], as: type) {
        failures.check(constant == b, "constant \(values[row])")
      } else {
        failures.add("no words for \(values[row])")
      }
    }
    #expect(failures.isEmpty, "\(type), seed \(seed): \(failures)")
  }

  @Test func `a number of another type has the words of the value it equals, or none`() {
    #expect(IndexCoder.words(.bool(true), as: .int16) == IndexCoder.words(.int(1), as: .int16))
    #expect(IndexCoder.words(.int(3), as: .double) == IndexCoder.words(.double(3), as: .double))
    #expect(IndexCoder.words(.double(-0.0), as: .double) == IndexCoder.words(.double(0), as: .double))
    #expect(IndexCoder.words(.double(1.5), as: .int16) == nil && IndexCoder.words("x", as: .int16) == nil)
    #expect(IndexCoder.words(.int(70_000), as: .int16) == nil)
  }
}
