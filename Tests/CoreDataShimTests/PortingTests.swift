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
    #expect(code.count == 13 && Set(guide) == Set(code) && guide.count == code.count)
  }

  @Test func `a class says what is unique, and what a new object has`() throws {
    let entity = try #require(pantry.entitiesByName["Ingredient"])
    #expect(entity.uniquenessConstraints as? [[String]] == [["name"]])
    #expect(entity.attributesByName["unit"]?.defaultValue as? String == "g")
  }

  @Test func `a fetch and an array are in the order of the guide's sort descriptor, by name and by text`()
    throws
  {
    let model = NSManagedObjectModel(for: Recipe.self, RecipeStep.self)
    let context = try NSPersistentContainer.inMemory(name: "Recipes", model: model).newBackgroundContext()
    try context.performAndWait {
      for name in ["Soup 10", "soup 9", "Soup 2"] {
        let recipe = Recipe(context: context)
        recipe.name = name
      }
      try context.save()
      let request = NSFetchRequest<Recipe>(entityName: "Recipe")
      sortingAsPeopleDo(request)
      let sorted = try context.fetch(request)
      #expect(sorted.map(\.name) == ["Soup 2", "soup 9", "Soup 10"])
      request.sortDescriptors = [
        NSSortDescriptor(key: "name", ascending: true, selector: "localizedStandardCompare:")
      ]
      #expect(try context.fetch(request) == sorted)
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      #expect(try context.fetch(request).map(\.name) == ["Soup 10", "Soup 2", "soup 9"])
    }
  }

  @Test func `every name of an order that the guide lists is one`() throws {
    let guide = try text("Sources/CoreData/README.md")
    let section = guide.components(separatedBy: "## Orders of strings")[1].components(separatedBy: "\n## ")[0]
    let line = try #require(section.split(separator: "\n").first { $0.hasPrefix("So there are ") })
    let names = line.matches(of: /`\.([A-Za-z]+)`/).map { String($0.1) }
    let known: [Selector] = [
      .compare, .caseInsensitiveCompare, .localizedCompare, .localizedCaseInsensitiveCompare,
      .localizedStandardCompare,
    ]
    #expect(names.map { $0 + ":" } == known.map(\.name))
  }

  @Test func `what the guide lists as missing is missing`() throws {
    let guide = try text("Sources/CoreData/README.md")
    let table = guide.components(separatedBy: "## What isn't there")[1].components(separatedBy: "\n## ")[0]
    let rows = table.split(separator: "\n").filter { $0.hasPrefix("| `NS") }
    let names = rows.flatMap { row in
      row.split(separator: "|")[0].matches(of: /`(NS[A-Za-z]+)`/).map { String($0.1) }
    }
    #expect(names.count > 10)
    let sources = FileManager.default.enumerator(
      at: Self.root.appendingPathComponent("Sources"), includingPropertiesForKeys: nil)
    for case let file as URL in try #require(sources) where file.pathExtension == "swift" {
      let code = try String(contentsOf: file, encoding: .utf8)
      for name in names {
        #expect(!code.contains("class \(name)") && !code.contains("struct \(name)"), "\(name): \(file.path)")
      }
    }
  }

  @Test func `an annotation with an expression's class means Cairn's`() {
    #expect(annotated(NSExpression(forKeyPath: "recipe.name")) == "recipe.name")
  }
}
