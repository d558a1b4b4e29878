// The string operators of predicates, over UTF-8.
//
// Without options, BEGINSWITH, ENDSWITH and CONTAINS compare bytes. With [c] or [d] both sides are folded by
// Foundation and then decomposed (for LIKE, whose `?` is one character, composed), so that composed and
// decomposed letters are alike. An empty needle is found in every string. LIKE and MATCHES have to match the
// whole string.

import Foundation

/// One string operator with its right-hand side, ready to be asked many times.
package struct StringMatcher: Sendable {
  private enum Test: Sendable {
    case order(ComparisonOperator)
    case beginsWith, endsWith, contains
    /// The left side is part of the pattern: `name IN "xAlicex"`.
    case containedIn
    case like([Glob])
    case matches(Regex)
  }

  /// A regular expression with the work that it may do, in progress reports of some ten thousand steps each: there
  /// are short expressions that would take years on short texts.
  ///
  /// Sendable: NSRegularExpression is immutable and documented as safe to use from several threads; what is left
  /// is behind a lock.
  private final class Regex: @unchecked Sendable {
    private let expression: NSRegularExpression
    private let budget: Int
    /// Of the budget, for all texts that `matches` was asked of; negative once it has run out.
    private let left: Lock<Int>

    init(_ expression: NSRegularExpression, budget: Int) {
      self.expression = expression
      self.budget = budget
      left = Lock(budget)
    }

    var hasRunOut: Bool { left.withLock { $0 < 0 } }

    /// Each text has the whole budget; nil if that isn't enough.
    func answer(_ text: String) -> Bool? { search(text, budget).answer }

    /// All texts have the budget together; false for every one once it is used up.
    func matches(_ text: String) -> Bool {
      let available = left.withLock { $0 }
      if available < 0 { return false }
      let (answer, work) = search(text, available)
      if work > 0 { left.withLock { $0 -= work } }
      return answer ?? false
    }

    private func search(_ text: String, _ limit: Int) -> (answer: Bool?, work: Int) {
      var answer: Bool? = false
      var work = 0
      let range = NSRange(text.startIndex..., in: text)
      expression.enumerateMatches(in: text, options: .reportProgress, range: range) { match, flags, stop in
        if match != nil {
          answer = true
          stop.pointee = true
        } else if flags.contains(.progress) {
          work += 1
          guard work > limit else { return }
          answer = nil
          stop.pointee = true
        }
      }
      return (answer, work)
    }
  }

  /// How much a MATCHES may do for one request, in reports of some ten thousand steps: two or three seconds on a
  /// machine of 2020. A pattern that backtracks without end runs into it at the first long text, a sound one with
  /// millions of rows doesn't.
  static let greatestRegexWork = 2000

  /// Whether a regular expression gave up; its answers since mean nothing.
  var hasRunOut: Bool { if case .matches(let regex) = test { regex.hasRunOut } else { false } }

  fileprivate enum Glob: Sendable, Equatable {
    case scalar(Unicode.Scalar)
    case any
    case run
  }

  private let test: Test
  private let options: StringOptions
  private let pattern: [UInt8]
  /// The faster way of CONTAINS with options, where there is one.
  private let search: FoldedSearch?

  /// nil for a regular expression that isn't one.
  package init?(
    _ op: ComparisonOperator, _ pattern: String, _ options: StringOptions,
    regexWork: Int = StringMatcher.greatestRegexWork
  ) {
    self.options = options
    let text = op == .matches ? pattern : StringMatcher.fold(pattern, options, composed: op == .like)
    self.pattern = Array(text.utf8)
    search = op == .contains ? FoldedSearch(self.pattern, options) : nil
    switch op {
    case .beginsWith: test = .beginsWith
    case .endsWith: test = .endsWith
    case .contains: test = .contains
    case .isIn: test = .containedIn
    case .like: test = .like(StringMatcher.parseGlob(text))
    case .matches:
      // Diacritics can't be folded inside an expression, so they are folded in the pattern's letters as a
      // whole and in the text that is matched.
      let source =
        options.contains(.diacriticInsensitive) ? StringMatcher.fold(pattern, .diacriticInsensitive) : pattern
      guard let expression = StringMatcher.wholeExpression(source, options) else { return nil }
      test = .matches(Regex(expression, budget: regexWork))
    default: test = .order(op)
    }
  }

  var nullResult: Bool {
    if case .order(.notEqual) = test { true } else { false }
  }

  /// Whether these bytes of UTF-8 match; nil where a regular expression takes more steps to find out than it is
  /// given.
  package func answer(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool? {
    if case .matches(let regex) = test { return regex.answer(text(bytes)) }
    return matches(bytes)
  }

  /// Whether these bytes of UTF-8 match. An expression that takes too many steps doesn't, and `hasRunOut` says so.
  func matches(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    if case .matches(let regex) = test { return regex.matches(text(bytes)) }
    if options.isEmpty { return test(bytes) }
    return search?.answer(bytes) ?? matchesFolded(bytes)
  }

  /// Sets `answers` to 1 for the first `count` entries of `pool` that match, and to 0 for the others of them.
  func fill(_ answers: UnsafeMutablePointer<UInt8>, _ pool: BytesPool, count: Int) {
    guard let search else {
      for entry in 0..<count { answers[entry] = matches(pool.entry(entry)) ? 1 : 0 }
      return
    }
    search.search(pool.bytes, ends: pool.ends, count: count, answers)
    for entry in 0..<count where answers[entry] == FoldedSearch.Answer.unknown {
      answers[entry] = matchesFolded(pool.entry(entry)) ? 1 : 0
    }
  }

  private func matchesFolded(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    if StringMatcher.isASCII(bytes) { return testLowercased(bytes) }
    var isLike = false
    if case .like = test { isLike = true }
    var folded = StringMatcher.fold(String(decoding: bytes, as: UTF8.self), options, composed: isLike)
    return folded.withUTF8 { test($0) }
  }

  /// An expression that only matches whole texts; nil if `source` is no expression. It is tried alone first,
  /// since brackets around it would mend some that aren't, and closed in each way that its end may ask for:
  /// after a comment, after a quotation.
  private static func wholeExpression(_ source: String, _ options: StringOptions) -> NSRegularExpression? {
    let how: NSRegularExpression.Options = options.contains(.caseInsensitive) ? .caseInsensitive : []
    guard (try? NSRegularExpression(pattern: source, options: how)) != nil || source.isEmpty else {
      return nil
    }
    for end in ["", "\n", "\\E"] {
      let pattern = "\\A(?:" + source + end + ")\\z"
      if let expression = try? NSRegularExpression(pattern: pattern, options: how) { return expression }
    }
    return nil
  }

  private func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    return options.contains(.diacriticInsensitive) ? StringMatcher.fold(text, .diacriticInsensitive) : text
  }

  /// Folding ASCII is lower-casing, and diacritics aren't there.
  private func testLowercased(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard options.contains(.caseInsensitive), bytes.contains(where: { $0 >= 0x41 && $0 <= 0x5A }) else {
      return test(bytes)
    }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytes.count) { lower in
      for i in bytes.indices {
        let byte = bytes[i]
        lower[i] = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
      }
      return test(UnsafeBufferPointer(lower))
    }
  }

  private func test(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    pattern.withUnsafeBufferPointer { needle in
      switch test {
      case .order(let op): return op.holds(StringOrder.compare(utf8: bytes, needle))
      case .beginsWith:
        return bytes.count >= needle.count && StringMatcher.equal(bytes, from: 0, needle)
      case .endsWith:
        return bytes.count >= needle.count
          && StringMatcher.equal(bytes, from: bytes.count - needle.count, needle)
      case .contains: return StringMatcher.find(needle, in: bytes)
      case .containedIn: return StringMatcher.find(bytes, in: needle)
      case .like(let glob):
        return StringMatcher.match(glob, Array(String(decoding: bytes, as: UTF8.self).unicodeScalars))
      case .matches: return false  // handled before folding
      }
    }
  }

  private static func equal(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, _ needle: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    needle.count == 0 || memcmp(bytes.baseAddress! + start, needle.baseAddress!, needle.count) == 0
  }

  private static func find(_ needle: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>) -> Bool
  {
    if needle.count == 0 { return true }
    if bytes.count < needle.count { return false }
    let first = needle[0]
    var start = 0
    while start + needle.count <= bytes.count {
      guard let hit = memchr(bytes.baseAddress! + start, Int32(first), bytes.count - needle.count + 1 - start)
      else {
        return false
      }
      start = UnsafeRawPointer(hit) - UnsafeRawPointer(bytes.baseAddress!)
      if equal(bytes, from: start, needle) { return true }
      start += 1
    }
    return false
  }

  static func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var all: UInt8 = 0
    for byte in bytes { all |= byte }
    return all < 0x80
  }

  /// Both sides of a comparison with options go through here.
  static func fold(_ text: String, _ options: StringOptions, composed: Bool = false) -> String {
    if options.isEmpty { return text }
    var how: String.CompareOptions = []
    if options.contains(.caseInsensitive) { how.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { how.insert(.diacriticInsensitive) }
    let folded = text.folding(options: how, locale: nil)
    return composed
      ? folded.precomposedStringWithCanonicalMapping : folded.decomposedStringWithCanonicalMapping
  }

  // MARK: LIKE

  /// `*` any run, `?` one scalar, a backslash takes the next character as it is.
  private static func parseGlob(_ text: String) -> [Glob] {
    var result: [Glob] = []
    var isEscaped = false
    for scalar in text.unicodeScalars {
      switch scalar {
      case _ where isEscaped:
        result.append(.scalar(scalar))
        isEscaped = false
      case "\\": isEscaped = true
      case "*": if result.last != .run { result.append(.run) }
      case "?": result.append(.any)
      default: result.append(.scalar(scalar))
      }
    }
    if isEscaped { result.append(.scalar("\\")) }
    return result
  }

  /// Greedy with one place to come back to: at worst the product of both lengths.
  private static func match(_ glob: [Glob], _ text: [Unicode.Scalar]) -> Bool {
    var g = 0
    var t = 0
    var runAt = -1
    var resumeAt = 0
    while t < text.count {
      if g < glob.count, glob[g] == .run {
        runAt = g
        resumeAt = t
        g += 1
      } else if g < glob.count, glob[g] == .any || glob[g] == .scalar(text[t]) {
        g += 1
        t += 1
      } else if runAt >= 0 {
        g = runAt + 1
        resumeAt += 1
        t = resumeAt
      } else {
        return false
      }
    }
    while g < glob.count, glob[g] == .run { g += 1 }
    return g == glob.count
  }
}
