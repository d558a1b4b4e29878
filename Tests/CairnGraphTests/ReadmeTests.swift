// Holds README.md to what compiles and runs.

import Foundation
import Testing

@Suite struct ReadmeTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
  }

  @Test @MainActor func `the README's program finds what the README says`() throws {
    #expect(try library() == ["Moby-Dick, one of 3", "Typee, one of 3"])
  }

  @Test func `the README shows the program that this target compiles`() throws {
    let program = try text("Tests/CairnGraphTests/ReadmeProgram.swift")
      .components(separatedBy: "// begin\n")[1].components(separatedBy: "// end\n")[0]
    #expect(try text("README.md").contains("```swift\n\(program)```\n"))
  }

  @Test func `the README's package is what a new user's builds with`() throws {
    let readme = try text("README.md")
    let manifest = try text("Package.swift")
    let shown = readme.components(separatedBy: "```swift\n")[2].components(separatedBy: "```")[0]
    #expect(shown.hasPrefix(String(manifest.prefix { $0 != "\n" })), "the version of the tools")
    #expect(shown.contains("\nimport PackageDescription\n"))
    // The product and the package are what they are called here.
    #expect(shown.contains(".product(name: \"Cairn\", package: \"cairn\")"))
    #expect(manifest.contains(".library(name: \"Cairn\"") && manifest.contains("name: \"cairn\""))
    #expect(manifest.contains(".macOS(.v15)") && shown.contains(".macOS(.v15)"))
  }

  @Test func `the README's test command is the one that CI runs`() throws {
    #expect(try text("README.md").contains("\nswift test\n"))
    #expect(try text(".ci/run").contains("\nswift test\n"))
  }
}
