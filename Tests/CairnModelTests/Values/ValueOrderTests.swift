// The one order and the one equality, over a pool of every kind of value.

import Foundation
import Testing

@testable import CairnModel

struct ValueOrderTests {
  /// If values can be put in a row such that comparing any two gives the order of their places, the order is
  /// antisymmetric and transitive on them: cheaper than trying all triples.
  private func failures(ofOrderOn pool: [Value]) -> Failures {
    let sorted = pool.sorted { Value.compare($0, $1) < 0 }
    var rank = 0
    var ranks: [Int] = []
    for i in sorted.indices {
      if i > 0, Value.compare(sorted[i - 1], sorted[i]) != 0 { rank += 1 }
      ranks.append(rank)
    }
    var failures = Failures()
    for i in sorted.indices {
      for j in sorted.indices {
        let order = Value.compare(sorted[i], sorted[j])
        failures.check(
          order.signum() == (ranks[i] - ranks[j]).signum(), "\(sorted[i]) ? \(sorted[j]): \(order)")
        if order == 0 {
          failures.check(sorted[i] == sorted[j], "\(sorted[i]) compares equal to \(sorted[j]) and isn't")
          failures.check(
            sorted[i].hashValue == sorted[j].hashValue, "hashes of \(sorted[i]) and \(sorted[j])")
        } else {
          failures.check(sorted[i] != sorted[j], "\(sorted[i]) equals \(sorted[j]) and compares as \(order)")
        }
      }
    }
    return failures
  }

  @Test func `the order of all values is total, and equality and hashes agree with it (COM-20, COM-21)`() {
    let failures = failures(ofOrderOn: Nasty.all)
    #expect(failures.isEmpty, "\(failures)")
  }

  @Test(arguments: seeds)
  func `random numbers of all types have one total order`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let pool = (0..<80).flatMap { _ -> [Value] in
      let x = random.double()
      let near = x.isFinite && abs(x) < 1e120 ? Decimal(x) : 0
      return [
        .double(x), .double(x.nextUp), .decimal(near), .decimal(random.decimal()), random.value(.int64),
        random.value(.float),
      ]
    }
    let failures = failures(ofOrderOn: pool)
    #expect(failures.isEmpty, "seed \(seed): \(failures)")
  }

  @Test func `integers aren't rounded to doubles on the way (COM-22)`() {
    let big: Int64 = 1 << 53
    #expect(Value.int(big + 1) > .double(Double(big)))
    #expect(Value.int(big) == .double(Double(big)))
    #expect(Value.int(big - 1) < .double(Double(big)))
    #expect(Value.int(.max) < .double(0x1p63))
    #expect(Value.int(.min) == .double(-0x1p63))
    #expect(Value.int(.max - 1) != .int(.max))
  }

  @Test func `a double equals the decimal of its exact value and no other (COM-22)`() throws {
    let tenth = try #require(Decimal(string: "0.1"))
    #expect(Value.double(0.1) > .decimal(tenth), "0.1 as a double is a little more than a tenth")
    #expect(Value.double(0.1.nextDown) < .decimal(tenth))
    #expect(Value.double(0.5) == .decimal(Decimal(sign: .plus, exponent: -1, significand: 5)))
    #expect(Value.double(0x1p60 + 256) == .decimal(try #require(Decimal(string: "1152921504606847232"))))
    #expect(Value.float(0.1) > .double(0.1))
    #expect(Value.double(1e127) != .decimal(try #require(Decimal(string: "1e127"))))
    #expect(Value.double(1e22) == .decimal(try #require(Decimal(string: "1e22"))))
  }

  @Test func `numbers compare by value across types, booleans as 0 and 1 (COM-22, COM-24)`() {
    #expect(Value.bool(true) == .int(1))
    #expect(Value.bool(true) == .double(1))
    #expect(Value.bool(false) == .decimal(0))
    #expect(Value.bool(true) < .double(1.5))
    #expect(Value.decimal(Decimal(sign: .plus, exponent: -2, significand: 100)) == .int(1))
  }

  @Test func `-0.0 equals 0.0 (COM-25)`() {
    #expect(Value.double(-0.0) == .double(0))
    #expect(Value.double(-0.0) == .int(0))
    #expect(
      Value.date(Date(timeIntervalSinceReferenceDate: -0.0)) == .date(Date(timeIntervalSinceReferenceDate: 0))
    )
  }

  @Test func `NaN equals NaN of any type and comes before every other number (COM-23)`() {
    let nans: [Value] = [.double(.nan), .double(-.nan), .float(.nan), .decimal(.nan), .double(.signalingNaN)]
    for a in nans {
      for b in nans { #expect(a == b) }
      #expect(a < .double(-.infinity))
      #expect(a < .int(.min))
      #expect(a < .decimal(-.greatestFiniteMagnitude))
      #expect(a > .null)
    }
  }

  @Test func `null comes first and equals null (COM-26)`() {
    for value in Nasty.all where !value.isNull { #expect(Value.null < value) }
    #expect(Value.null == .null)
  }

  @Test func `values of different families are never equal and have a fixed order (COM-27)`() {
    let ladder: [Value] = [
      .null, .int(.max), .string(""), .date(.distantPast), .data(Data()), .uuid(Nasty.uuids[0]), .uri(""),
      .key(1),
      .composite([:]),
    ]
    for (i, a) in ladder.enumerated() {
      for (j, b) in ladder.enumerated() {
        #expect(Value.compare(a, b).signum() == (i - j).signum())
      }
    }
  }

  @Test func `bytes and UUIDs compare byte by byte, unsigned, a prefix first (COM-28)`() {
    #expect(Value.data(Data([127])) < .data(Data([128])))
    #expect(Value.data(Data([1])) < .data(Data([1, 0])))
    #expect(Value.data(Data([1, 255])) < .data(Data([2])))
    #expect(Value.uuid(Nasty.uuids[4]) < .uuid(Nasty.uuids[3]))
    #expect(Value.uuid(Nasty.uuids[1]) < .uuid(Nasty.uuids[2]))
  }

  @Test func `null elements of a composite are as good as absent`() {
    #expect(Value.composite(["a": 1, "b": .null]) == .composite(["a": 1]))
    #expect(Value.composite(["a": 1]) < .composite(["a": 1, "b": 1]))
    #expect(Value.composite(["a": 2]) > .composite(["a": 1, "b": 1]))
    #expect(Value.composite(["a": .composite(["b": .null])]) == .composite(["a": .composite([:])]))
  }
}

struct DecimalPartsTests {
  @Test(arguments: seeds)
  func `reading a decimal's bytes gives what its text says`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    #expect(DecimalParts.isLayoutKnown)
    let pool = Nasty.decimals + (0..<300).map { _ in random.decimal() }
    var failures = Failures()
    for x in pool where !x.isNaN {
      let parts = DecimalParts(x)
      let text = DecimalParts(textOf: x)
      failures.check(DecimalParts.compare(parts, text) == 0, "\(x): \(parts) and \(text)")
      failures.check(parts.reduced == text.reduced, "\(x) reduced")
    }
    #expect(failures.isEmpty, "seed \(seed): \(failures)")
  }

  @Test(arguments: seeds)
  func `the decimal that equals a double compares equal to it and to no neighbour`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var failures = Failures()
    var exactCount = 0
    for x in Nasty.doubles + (0..<500).map({ _ in random.double() }) where x.isFinite {
      guard let parts = DecimalParts(exactly: x) else { continue }
      exactCount += 1
      failures.check(DecimalParts.compare(parts, x) == 0, "\(x)")
      failures.check(DecimalParts.compare(parts, x.nextUp) < 0, "\(x) and the next")
      failures.check(DecimalParts.compare(parts, x.nextDown) > 0, "\(x) and the one before")
      failures.check(parts == parts.reduced, "\(x) isn't reduced")
    }
    #expect(failures.isEmpty && exactCount > 200, "seed \(seed): \(failures)")
  }

  @Test func `floor and whole numbers`() throws {
    func parts(_ text: String) throws -> DecimalParts { DecimalParts(try #require(Decimal(string: text))) }
    #expect(try parts("1.5").floor == 1)
    #expect(try parts("-1.5").floor == -2)
    #expect(try parts("-2").floor == -2)
    #expect(try parts("1e100").floor == .max)
    #expect(try parts("-1e100").floor == .min)
    #expect(try parts("1e-100").floor == 0)
    #expect(try parts("-1e-100").floor == -1)
    #expect(try parts("9223372036854775807.5").floor == .max)
    #expect(try parts("9223372036854775807").asInteger == .max)
    #expect(try parts("-9223372036854775808").asInteger == .min)
    #expect(try parts("9223372036854775808").asInteger == nil)
    #expect(try parts("1e18").asInteger == 1_000_000_000_000_000_000)
    #expect(try parts("0.5").asInteger == nil)
    let hundredHundredths = DecimalParts(isNegative: false, exponent: -2, significand: 100)
    #expect(hundredHundredths.asInteger == 1 && hundredHundredths.floor == 1)
    #expect(DecimalParts.compare(hundredHundredths, DecimalParts(Int64(1))) == 0)
    #expect(hundredHundredths.reduced == DecimalParts(Int64(1)))
  }
}
