// What a slot can hold.

import Foundation
import Testing

@testable import CairnModel

struct ValueFitsTests {
  @Test func `null fits every type`() {
    for type in ValueType.allCases { #expect(Value.null.fits(type)) }
  }

  @Test func `an integer fits a type whose range holds it, up to both ends`() {
    for (type, low, high) in [
      (ValueType.int16, Int64(Int16.min), Int64(Int16.max)), (.int32, Int64(Int32.min), Int64(Int32.max)),
      (.bool, 0, 1),
    ] {
      #expect(Value.int(low).fits(type) && Value.int(high).fits(type))
      #expect(!Value.int(low - 1).fits(type) && !Value.int(high + 1).fits(type))
    }
    #expect(Value.int(.min).fits(.int64) && Value.int(.max).fits(.int64))
  }

  @Test func `a number fits a floating-point type that holds exactly it`() {
    #expect(Value.int(1 << 53).fits(.double) && !Value.int(1 << 53 + 1).fits(.double))
    #expect(Value.int(1 << 24).fits(.float) && !Value.int(1 << 24 + 1).fits(.float))
    #expect(!Value.int(.max).fits(.double) && !Value.int(.max).fits(.float) && Value.int(.min).fits(.double))
    #expect(
      Value.double(0.5).fits(.float) && !Value.double(0.1).fits(.float) && !Value.double(1e300).fits(.float))
    #expect(
      Value.double(.nan).fits(.float) && Value.double(.infinity).fits(.float)
        && Value.float(0.1).fits(.double))
  }

  @Test func `a key is positive, and fits nothing else (COM-13)`() {
    #expect(Value.key(1).fits(.key) && !Value.key(0).fits(.key) && !Value.key(-1).fits(.key))
    for type in ValueType.allCases where type != .key { #expect(!Value.key(1).fits(type)) }
    #expect(!Value.int(1).fits(.key))
  }

  @Test func `bytes fit data and transformable, text fits only its own type`() {
    #expect(Value.data(Data()).fits(.data) && Value.data(Data()).fits(.transformable))
    for type in ValueType.allCases {
      #expect(Value.string("x").fits(type) == (type == .string))
      #expect(Value.uri("x").fits(type) == (type == .uri))
    }
  }

  @Test(arguments: seeds)
  func `what fits comes back from a column as an equal value`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var pool = Nasty.all
    for type in ValueType.allCases { pool += (0..<30).map { _ in random.value(type) } }
    var failures = Failures()
    for value in pool {
      for type in ValueType.allCases {
        let builder = ColumnBuilder(type)
        if value.fits(type) {
          try builder.append(value: value)
          failures.check(builder.finish().value(0) == value, "\(value) as \(type)")
        } else {
          failures.check(
            (try? builder.append(value: value)) == nil && builder.count == 0, "\(value) refused by \(type)")
        }
      }
    }
    #expect(failures.isEmpty, "seed \(seed): \(failures)")
  }
}
