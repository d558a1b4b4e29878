// The one order and the one equality of strings.
//
// Equality is literal: the same UTF-8 bytes. Composed and decomposed "é" differ, unlike in Swift's `==`.
// Order is by the scalars of the canonical decomposition, so that "é" < "f". Strings that decompose alike but
// differ in their bytes are put in the order of their bytes, which makes the order total and agree with
// equality.
//
// This is the order that Foundation's `compare:` means. On Linux `compare:` itself is none: it calls each of
// "e\u{E7}" and "\u{E9}\u{DF}" greater than the other, as it does for more pairs in which a letter stands
// against a composed letter that begins with it (Hangul syllables too), and it doesn't always put several
// marks on one letter in canonical order. Wherever it keeps to one answer outside of these, the answer is
// this one.

import Foundation

public enum StringOrder {
  /// Whether two strings hold the same bytes.
  public static func equal(_ a: String, _ b: String) -> Bool {
    var a = a
    var b = b
    return a.withUTF8 { x in
      b.withUTF8 { y in
        x.count == y.count && (x.count == 0 || memcmp(x.baseAddress!, y.baseAddress!, x.count) == 0)
      }
    }
  }

  /// Negative, zero or positive as `a` comes before, is, or comes after `b`.
  ///
  /// Costs a comparison of bytes where the first difference is between ASCII characters; otherwise also a
  /// decomposition of both strings from the last ASCII character before the difference on.
  public static func compare(_ a: String, _ b: String) -> Int {
    var a = a
    var b = b
    return a.withUTF8 { x in b.withUTF8 { y in compare(utf8: x, y) } }
  }

  /// The same for UTF-8 that a column holds. Bytes that aren't UTF-8 are repaired before they're decomposed.
  static func compare(utf8 x: UnsafeBufferPointer<UInt8>, _ y: UnsafeBufferPointer<UInt8>) -> Int {
    let common = min(x.count, y.count)
    var i = 0
    while i < common, x[i] == y[i] { i += 1 }
    if i == x.count, i == y.count { return 0 }
    // Beyond the common prefix each side goes on with an ASCII character or ends. ASCII characters start a
    // new canonical segment, so the prefix decomposes the same way on both sides and this place decides.
    let xPlain = i == x.count || x[i] < 0x80
    let yPlain = i == y.count || y[i] < 0x80
    if xPlain, yPlain {
      let p = i == x.count ? -1 : Int(x[i])
      let q = i == y.count ? -1 : Int(y[i])
      return p < q ? -1 : 1
    }
    // An ASCII character takes no part in the decomposition of what stands before it.
    var start = i
    while start > 0, x[start - 1] >= 0x80 { start -= 1 }
    start = max(start - 1, 0)
    let order = compareDecomposed(
      String(decoding: x[start...], as: UTF8.self), String(decoding: y[start...], as: UTF8.self))
    if order != 0 { return order }
    let p = i == x.count ? -1 : Int(x[i])
    let q = i == y.count ? -1 : Int(y[i])
    return p < q ? -1 : 1
  }

  private static func compareDecomposed(_ a: String, _ b: String) -> Int {
    var x = a.decomposedStringWithCanonicalMapping.unicodeScalars.makeIterator()
    var y = b.decomposedStringWithCanonicalMapping.unicodeScalars.makeIterator()
    while true {
      switch (x.next(), y.next()) {
      case (nil, nil): return 0
      case (nil, _): return -1
      case (_, nil): return 1
      case (let p?, let q?) where p != q: return p < q ? -1 : 1
      default: continue
      }
    }
  }
}
