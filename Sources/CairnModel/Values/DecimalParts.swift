// Decimals taken apart, so that numbers of all types compare and hash exactly.
//
// Foundation's own comparison of decimals is left alone here: it can't compare with a double except by
// rounding the double to a decimal first, and then two different doubles equal one decimal.

import Foundation

/// A decimal that isn't NaN: ± significand × 10^exponent. Zero has no sign.
struct DecimalParts: Hashable {
  var isNegative: Bool
  var exponent: Int
  var significand: UInt128

  /// The same number with no factor of ten in its significand: one form for each number.
  var reduced: DecimalParts {
    if significand == 0 { return DecimalParts(isNegative: false, exponent: 0, significand: 0) }
    var result = self
    while true {
      let (quotient, remainder) = result.significand.quotientAndRemainder(dividingBy: 10)
      if remainder != 0 { return result }
      result.significand = quotient
      result.exponent += 1
    }
  }

  /// The number, if it is a whole number that Int64 holds.
  var asInteger: Int64? {
    let parts = reduced
    guard parts.exponent >= 0, parts.exponent <= 18 else { return nil }
    let (size, overflow) = parts.significand.multipliedReportingOverflow(
      by: DecimalParts.powersOfTen[parts.exponent])
    if overflow || size > 1 << 63 { return nil }
    return Int64(exactly: parts.isNegative ? -Int128(size) : Int128(size))
  }

  /// The greatest integer that isn't greater, or the end of Int64 where that is beyond it.
  var floor: Int64 {
    var size = significand
    var isWhole = true
    if exponent < 0 {
      // A significand has 39 digits at most, so a higher power leaves nothing.
      let power =
        -exponent < DecimalParts.powersOfTen.count ? DecimalParts.powersOfTen[-exponent] : UInt128.max
      let (quotient, remainder) = significand.quotientAndRemainder(dividingBy: power)
      (size, isWhole) =
        -exponent < DecimalParts.powersOfTen.count
        ? (quotient, remainder == 0) : (0, significand == 0)
    } else if size != 0 {
      let power = min(exponent, DecimalParts.powersOfTen.count - 1)
      let (product, overflow) = size.multipliedReportingOverflow(by: DecimalParts.powersOfTen[power])
      size = overflow ? UInt128.max : product
    }
    if !isNegative { return Int64(clamping: size) }
    return Int64(clamping: -Int128(clamping: size) - (isWhole ? 0 : 1))
  }

  /// Negative, zero or positive as `a` is less than, equal to or greater than `b`.
  static func compare(_ a: DecimalParts, _ b: DecimalParts) -> Int {
    if a.significand == 0 || b.significand == 0 || a.isNegative != b.isNegative { return a.sign - b.sign }
    let order = compareMagnitudes(a, b)
    return a.isNegative ? -order : order
  }

  /// The same against a double that isn't NaN. Exact: nothing is rounded but a first guess.
  static func compare(_ a: DecimalParts, _ y: Double) -> Int {
    let otherSign = y == 0 ? 0 : (y < 0 ? -1 : 1)
    if a.significand == 0 || a.sign != otherSign {
      return a.sign < otherSign ? -1 : (a.sign == otherSign ? 0 : 1)
    }
    if y.isInfinite { return -otherSign }
    let order = compareMagnitude(a, abs(y))
    return a.isNegative ? -order : order
  }

  private var sign: Int { significand == 0 ? 0 : (isNegative ? -1 : 1) }

  private static func compareMagnitudes(_ a: DecimalParts, _ b: DecimalParts) -> Int {
    let p = digitCount(a.significand) + a.exponent
    let q = digitCount(b.significand) + b.exponent
    if p != q { return p < q ? -1 : 1 }
    // As many digits before the point, so the one with the higher exponent has that many digits fewer.
    if a.exponent < b.exponent { return -compareMagnitudes(b, a) }
    let (scaled, overflow) = a.significand.multipliedReportingOverflow(
      by: powersOfTen[a.exponent - b.exponent])
    if overflow || scaled > b.significand { return 1 }
    return scaled < b.significand ? -1 : 0
  }

  private static func compareMagnitude(_ a: DecimalParts, _ y: Double) -> Int {
    // Wrong in the last few bits at most, so it decides unless the two are close.
    let guess = Double(a.significand) * pow(10, Double(a.exponent))
    if abs(guess - y) > y * 0x1p-40 { return guess < y ? -1 : 1 }
    var left = WideInteger(a.significand)
    var right = WideInteger(UInt128(y.significandBitPattern) | (y.isNormal ? 1 << 52 : 0))
    let power = max(y.exponentBitPattern == 0 ? 1 : Int(y.exponentBitPattern), 1) - 1075
    if a.exponent >= 0 {
      left.multiply(byPowerOfTen: a.exponent)
    } else {
      right.multiply(byPowerOfTen: -a.exponent)
    }
    if power >= 0 { right.shiftLeft(power) } else { left.shiftLeft(-power) }
    return WideInteger.compare(left, right)
  }

  /// 10^0 to 10^38, all that UInt128 holds.
  static let powersOfTen: [UInt128] = (0...38).map { power in
    (0..<power).reduce(1) { product, _ in product * 10 }
  }

  /// 5^0 to 5^55, all that UInt128 holds.
  private static let powersOfFive: [UInt128] = (0...55).map { power in
    (0..<power).reduce(1) { product, _ in product * 5 }
  }

  private static func digitCount(_ x: UInt128) -> Int {
    // log10(2) is 1233 / 4096, rounded so that this is never too high and at most one too low.
    let guess = ((128 - x.leadingZeroBitCount) * 1233) >> 12
    return guess < powersOfTen.count && x >= powersOfTen[guess] ? guess + 1 : guess
  }
}

extension DecimalParts {
  init(_ x: Int64) {
    self.init(isNegative: x < 0, exponent: 0, significand: UInt128(x.magnitude))
  }

  /// A decimal that isn't NaN.
  init(_ x: Decimal) {
    self = DecimalParts.layout.flatMap { DecimalParts(x, $0) } ?? DecimalParts(textOf: x)
    if significand == 0 { isNegative = false }
  }

  /// The decimal that equals a double exactly, reduced; nil where none does.
  init?(exactly y: Double) {
    guard y.isFinite else { return nil }
    var size = UInt128(y.significandBitPattern) | (y.isNormal ? 1 << 52 : 0)
    if size == 0 {
      self.init(isNegative: false, exponent: 0, significand: 0)
      return
    }
    var power = max(Int(y.exponentBitPattern), 1) - 1075
    power += size.trailingZeroBitCount
    size >>= UInt128(size.trailingZeroBitCount)
    var exponent = 0
    if power < 0 {
      // size / 2^n is size × 5^n / 10^n, and has no shorter form.
      guard -power < DecimalParts.powersOfFive.count else { return nil }
      let (product, overflow) = size.multipliedReportingOverflow(by: DecimalParts.powersOfFive[-power])
      guard !overflow else { return nil }
      size = product
      exponent = power
    } else {
      while power > 0, size % 5 == 0 {  // pairs of 2 and 5 go to the exponent
        size /= 5
        power -= 1
        exponent += 1
      }
      guard power <= size.leadingZeroBitCount else { return nil }
      size <<= UInt128(power)
    }
    self = DecimalParts(isNegative: y < 0, exponent: exponent, significand: size).reduced
  }

  // MARK: Reading Foundation's type

  /// Where the byte behind a decimal's exponent has its length and its sign.
  private struct Layout {
    var lengthShift: UInt8
    var signBit: UInt8
  }

  /// Foundation gives no access to the significand as an integer. The twenty bytes of a decimal are its
  /// exponent, a byte of flags, two bytes unused, eight UInt16 of significand, low one first: on Apple's
  /// platforms by a public C struct, elsewhere in practice, which `layout` makes sure of.
  private init?(_ x: Decimal, _ layout: Layout) {
    let parts = withUnsafeBytes(of: x) { bytes -> DecimalParts? in
      let length = Int(bytes[1] >> layout.lengthShift & 15)
      guard length <= 8 else { return nil }
      var size: UInt128 = 0
      for word in (0..<length).reversed() {
        size = size << 16 | UInt128(bytes.load(fromByteOffset: 4 + 2 * word, as: UInt16.self))
      }
      return DecimalParts(
        isNegative: bytes[1] & layout.signBit != 0, exponent: Int(Int8(bitPattern: bytes[0])),
        significand: size)
    }
    guard let parts else { return nil }
    self = parts
  }

  /// The slow twin, which only uses what is documented.
  init(textOf x: Decimal) {
    let digits = Decimal(sign: .plus, exponent: 0, significand: x.significand).magnitude.description
    self.init(isNegative: x.isSignMinus, exponent: x.exponent, significand: UInt128(digits) ?? 0)
  }

  /// The layout that reads some samples as their text says; nil where none does, and text has to do.
  private static let layout: Layout? = {
    guard MemoryLayout<Decimal>.size == 20 else { return nil }
    let samples = [
      "-12345678901234567890123456789.0123456789", "7", "-7", "-1e-100", "70000e3",
      "340282366920938463463374607431768211455",
    ].compactMap { Decimal(string: $0) }
    let apple = Layout(lengthShift: 0, signBit: 1 << 4)
    let swift = Layout(lengthShift: 4, signBit: 1 << 3)
    return [apple, swift].first { layout in
      samples.allSatisfy { DecimalParts($0, layout) == DecimalParts(textOf: $0) }
    }
  }()

  /// Whether decimals are read without the detour over text.
  static var isLayoutKnown: Bool { layout != nil }
}

/// A natural number of any size, for comparing what doesn't fit a machine word: the low 32 bits first.
private struct WideInteger {
  private var limbs: [UInt32] = []

  init(_ x: UInt128) {
    var x = x
    while x != 0 {
      limbs.append(UInt32(truncatingIfNeeded: x))
      x >>= 32
    }
  }

  mutating func multiply(byPowerOfTen power: Int) {
    var rest = power
    while rest > 0 {
      let step = min(rest, 9)
      multiply(by: UInt32(DecimalParts.powersOfTen[step]))
      rest -= step
    }
  }

  private mutating func multiply(by factor: UInt32) {
    var carry: UInt64 = 0
    for i in limbs.indices {
      carry += UInt64(limbs[i]) * UInt64(factor)
      limbs[i] = UInt32(truncatingIfNeeded: carry)
      carry >>= 32
    }
    if carry > 0 { limbs.append(UInt32(carry)) }
  }

  mutating func shiftLeft(_ bits: Int) {
    multiply(by: 1 << UInt32(bits % 32))
    limbs.insert(contentsOf: repeatElement(0, count: bits / 32), at: 0)
  }

  static func compare(_ a: WideInteger, _ b: WideInteger) -> Int {
    if a.limbs.count != b.limbs.count { return a.limbs.count < b.limbs.count ? -1 : 1 }
    for (p, q) in zip(a.limbs.reversed(), b.limbs.reversed()) where p != q { return p < q ? -1 : 1 }
    return 0
  }
}
