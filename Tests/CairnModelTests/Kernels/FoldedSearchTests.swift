// CONTAINS[cd] of ASCII by `FoldedSearch`, held to what folding the whole text says.

import Foundation
import Testing

@testable import CairnModel

@Suite struct FoldedSearchTests {
  private static let options: [StringOptions] = [
    [.caseInsensitive, .diacriticInsensitive], .caseInsensitive, .diacriticInsensitive,
  ]

  private func answer(_ text: String, _ needle: String, _ options: StringOptions) -> Bool? {
    var text = text
    return FoldedSearch(Array(needle.utf8), options).flatMap { search in text.withUTF8(search.answer) }
  }

  private func naive(_ text: String, _ needle: String, _ options: StringOptions) -> Bool {
    let folded = Array(StringMatcher.fold(text, options).utf8)
    let needle = Array(needle.utf8)
    guard needle.count <= folded.count else { return false }
    return (0...folded.count - needle.count).contains { start in
      folded[start..<start + needle.count].elementsEqual(needle)
    }
  }

  private static let pieces: [String] = [
    "a", "b", "A", "B", "e", "E", "s", "S", "i", "I", "f", "k", "K", "n", "j", "|", " ", "=", "é", "É",
    "e\u{301}", "\u{301}", "\u{327}", "\u{345}", "\u{20DD}", "\u{FE20}", "ß", "ẞ", "ﬁ", "ﬀ", "\u{212A}",
    "\u{212B}", "ö", "ø", "İ", "ı", "ŉ", "ế", "ǰ", "Ж", "й", "α", "ά", "\u{5B0}", "א", "ع", "\u{64B}", "क",
    "\u{93C}", "\u{94D}", "한", "漢", "\u{200D}", "\u{FE0F}", "👍", "🇩", "≠", "\u{E01}", "\u{E31}",
    "\u{3099}", "か", "\u{200B}", "\u{AD}", "\u{1D165}", "\r", "\n", "\u{1160}", "\u{11A8}",
  ]

  @Test func `finds what is in the folded text, and nothing else, in texts of every script`() {
    var generator = SystemRandomNumberGenerator()
    var hitCount = 0
    for round in 0..<6_000 {
      // Short ones, and such as are looked at sixteen bytes at a time.
      let text = (0..<Int.random(in: 0...(round % 4 < 2 ? 9 : 40), using: &generator))
        .map { _ in Self.pieces.randomElement(using: &generator)! }.joined()
      let options = Self.options[round % 3]
      var needle = String("abesifk|n= j".shuffled().prefix(Int.random(in: 1...4, using: &generator)))
      let ascii = StringMatcher.fold(text, options).unicodeScalars.filter { 0 < $0.value && $0.value < 0x80 }
      if round % 2 == 0, !ascii.isEmpty {
        needle = String(String.UnicodeScalarView(ascii.suffix(3 + round % 3)))
      }
      let expected = naive(text, needle, options)
      if expected { hitCount += 1 }
      let scalars = text.unicodeScalars.map { String($0.value, radix: 16) }
      #expect(answer(text, needle, options) ?? expected == expected, "\(needle) in \(scalars) \(options)")
    }
    #expect(hitCount > 300)
  }

  @Test func `texts that lie end to end are searched as if each were alone`() throws {
    var generator = SystemRandomNumberGenerator()
    var decidedCount = 0
    for round in 0..<400 {
      let options = Self.options[round % 3]
      // Halves of a needle meet at the borders, letters stand before marks of the next text, and bytes of no text.
      let needle = ["ab", "kis", "e", "fin", "s"][round % 5]
      let texts: [[UInt8]] = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
        let pieces = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
          (Self.pieces + ["a", "b", "ki", "s", "\u{301}", "fi", "n"]).randomElement(using: &generator)!
        }
        return Array(pieces.joined().utf8) + (Int.random(in: 0..<40, using: &generator) == 0 ? [0xC3] : [])
      }
      let search = try #require(FoldedSearch(Array(needle.utf8), options))
      let bytes = Array(texts.joined())
      var ends: [UInt64] = []
      for text in texts { ends.append((ends.last ?? 0) + UInt64(text.count)) }
      var answers = [UInt8](repeating: 7, count: texts.count + 1)
      // One byte behind the last text, which isn't to be looked at: it would end a match.
      (bytes + [needle.utf8.last!]).withUnsafeBufferPointer {
        search.search($0.baseAddress!, ends: ends, count: texts.count, &answers)
      }
      #expect(answers.last == 7)
      for (text, answer) in zip(texts, answers) where answer != FoldedSearch.Answer.unknown {
        let expected = naive(String(decoding: text, as: UTF8.self), needle, options)
        #expect((answer == FoldedSearch.Answer.yes) == expected, "\(needle) in \(text) \(options)")
        decidedCount += 1
      }
    }
    #expect(decidedCount > 6_000)
  }

  @Test(arguments: options)
  func `no scalar folds to ASCII but those that are looked at`(_ options: StringOptions) {
    var count = 0
    // All of the scripts with letters and marks, and some of the ideographs, of Hangul and of what lies beyond.
    let ranges: [StrideTo<UInt32>] = [
      stride(from: 0x80, to: 0x3400, by: 1), stride(from: 0x3400, to: 0xA000, by: 97),
      stride(from: 0xA000, to: 0xAC00, by: 1), stride(from: 0xAC00, to: 0xD800, by: 97),
      stride(from: 0xF900, to: 0x1_2000, by: 1), stride(from: 0x1_2000, to: 0x11_0000, by: 997),
    ]
    for value in ranges.joined() {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let folded = StringMatcher.fold("a" + String(scalar), options).utf8.dropFirst()
      guard folded.isEmpty || folded.contains(where: { $0 < 0x80 }) else { continue }
      count += 1
      let bytes = Array(String(scalar).utf8)
      // What folds to nothing is looked at behind a letter, but for the scripts that have no such scalars.
      let isLookedAt = FoldedSearch.mayBecomeASCII(lead: bytes[0], next: bytes[1])
      #expect(isLookedAt || folded.isEmpty, "\(String(value, radix: 16))")
      #expect(FoldingTable.of(options)?[value] != FoldingTable.barrier, "\(String(value, radix: 16))")
    }
    #expect(count > 100)
  }

  @Test func `finds letters across ligatures, signs and marks`() {
    #expect(answer("Groß-Gerau", "oss-g", Self.options[0]) == true)
    #expect(answer("SÃO PAULO", "sao p", Self.options[0]) == true)
    #expect(answer("SÃO PAULO", "sao p", .caseInsensitive) == false)
    #expect(answer("Orle\u{301}ans", "leans", Self.options[0]) == true)
    #expect(answer("\u{212A}iev", "kiev", Self.options[0]) == true)
    #expect(answer("аbc", "abc", Self.options[0]) == false)
  }

  @Test func `leaves other texts to folding`() {
    #expect(FoldedSearch(Array("é".utf8), Self.options[0]) == nil && FoldedSearch([], Self.options[0]) == nil)
    #expect(FoldedSearch(Array("a".utf8), []) == nil)
    let broken: [UInt8] = [0x61, 0xC3]
    #expect(
      broken.withUnsafeBufferPointer { FoldedSearch([0x61, 0x62], .caseInsensitive)?.answer($0) } == nil)
  }
}
