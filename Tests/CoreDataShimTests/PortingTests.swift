// The porting guide shows code that compiles, and all of it.

import CoreData
import Foundation
import Testing

@Suite struct PortingTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The blocks between two kinds of line, without the indentation that their lines have in common.
  private func blocks(_ text: String, from begin: (Substring) -> Bool, to end: (Substring) -> Bool)
    -> [String]
  {
    var result: [String] = []
    var current: [Substring]?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let lines = current, end(line) {
        let depth = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        result.append(lines.map { String($0.dropFirst(depth)) }.joined(separator: "\n"))
        current = nil
      } else if current != nil {
        current?.append(line)
      } else if begin(line) {
        current = []
      }
    }
    return result
  }

  @Test func `the guide's blocks are those that this target compiles, in any order`() throws {
    let code = blocks(
      try text("Tests/CoreDataShimTests/PortingCode.swift"),
      from: { $0.trimmingCharacters(in: .whitespaces).hasPrefix("// begin ") },
      to: { $0.trimmingCharacters(in: .whitespaces) == "// end" })
    let guide = blocks(
      try text("Sources/CoreData/README.md"), from: { $0 == "```swift" }, to: { $0 == "```" })
    #expect(code.count == 9 && Set(guide) == Set(code) && guide.count == code.count)
  }

  @Test func `an annotation with an expression's class means Cairn's`() {
    #expect(annotated(NSExpression(forKeyPath: "recipe.name")) == "recipe.name")
  }
}
