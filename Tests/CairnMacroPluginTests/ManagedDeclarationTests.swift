// The laws of `@Managed`'s reading of a declaration: which name it finds, and what it refuses, where
// and with which remedy. The compiler's side (that the plugin is asked and obeyed) needs no law here:
// every test target with a managed property compiles by it.
import Foundation
import Testing

@testable import CairnMacroPlugin

@Suite struct `The name of a managed property` {
  @Test func `a plain variable is named as it is written`() throws {
    #expect(try key("@Managed var name: String?") == "name")
  }

  @Test func `spaces and line breaks don't matter`() throws {
    #expect(try key("@Managed var a:Int") == "a")
    #expect(try key("\n\n  @Managed\n  var\n\ta\n  : Int") == "a")
    #expect(try key("\r\n@Managed\r\nvar a\r\n:\r\nInt\r\n") == "a")
  }

  @Test func `a backticked name loses its backticks`() throws {
    #expect(try key("@Managed var `class`: String") == "class")
    #expect(try key("@Managed var `var`:Int") == "var")
    #expect(try key("@Managed var `two words`: Int") == "two words")
  }

  @Test func `modifiers are no names`() throws {
    for modifiers in [
      "public", "open", "final", "private(set)", "public internal(set) final", "override",
      "nonisolated(unsafe)",
      "private (set)", "package\nprivate(set)\n",
    ] {
      #expect(try key("@Managed \(modifiers) var a: Int") == "a", "\(modifiers)")
    }
  }

  @Test func `attributes before and after are no names`() throws {
    for attributes in [
      "@objc @Managed", "@Managed @objc(var)", "@Managed @available(*, deprecated, message: \"var x: )\")",
      "@CairnGraph.Managed", "@CairnGraph::Managed",
      "@Managed @Box<[String: (Int) -> Int]>(default: { var b = (1, 2) })",
      "@Managed @Note(\"\\(\"var \\(\")\") c: Int\")\")", "@Managed @Note(#\"\" var c: \")\"#)",
      "@Managed @Note(\"\"\"\n  \" var c: )\n  \"\"\")", "@Managed @Note(/* ) var c */ 1)",
      "@Managed @Note(`)`)",
    ] {
      #expect(try key("\(attributes) var a: Int") == "a", "\(attributes)")
    }
  }

  @Test func `conditions around attributes are no names`() throws {
    #expect(try key("#if os(Linux)\n@available(*, deprecated)\n#endif\n@Managed var a: Int") == "a")
  }

  @Test func `comments are no names, wherever they stand`() throws {
    #expect(try key("/// var b: Int\n@Managed var a: Int") == "a")
    #expect(try key("/* var b /* var c */ var d */ @Managed /**/ var /* e */ a /* f: */ : Int // = 3") == "a")
    #expect(try key("@Managed // var b\nvar // let c\na// :\n: /* = */ Int /* { } */") == "a")
  }

  @Test func `names may be of any script`() throws {
    #expect(try key("@Managed var größe: Int") == "größe")
    #expect(try key("// é\n@Managed var 名前: String?") == "名前")
    #expect(try key("@Managed var 🪨: Int") == "🪨")
    #expect(try key("@Managed var _$a1: Int") == "_$a1")
  }

  @Test func `any type is a type`() throws {
    for type in [
      "Int?", "Int!", "[String: Int]", "Set<Tag>", "Dictionary<String, Array<(Int, Int)>>", "(Int, Int)",
      "(Int, Int) -> Void", "Box<(Int) -> Result<Int, Never>, Int>",
      "@Sendable () async throws(Oops) -> Void",
      "any Hashable & Sendable", "Swift.Array<Foundation.URL>", "`Type`", "[3 of Int]", "Cairn::Note?",
    ] {
      #expect(try key("@Managed var a: \(type)") == "a", "\(type)")
    }
  }
}

@Suite struct `The accessors of a managed property` {
  @Test func `they read and write the value under its key`() throws {
    let accessors = try ManagedDeclaration(parsing: "@Managed var `class`: String?").accessors
    #expect(
      accessors == """
        {
          get { managedValue(forKey: "class") }
          set { setManagedValue(newValue, forKey: "class") }
        }
        """)
  }

  @Test func `a quote in a name is escaped`() throws {
    let accessors = try ManagedDeclaration(parsing: "@Managed var `5\" disk`: Int").accessors
    #expect(accessors.contains(#"managedValue(forKey: "5\" disk")"#))
  }
}

@Suite struct `The constant beside a managed property` {
  private func peers(_ attribute: String, _ rest: String) throws -> String {
    try ManagedDeclaration(parsing: attribute + " " + rest).peers(ManagedArguments(parsing: attribute))
  }

  private func options(_ attribute: String) throws -> String? {
    try ManagedArguments(parsing: attribute).options
  }

  @Test func `it has the type of the property, without comments`() throws {
    for type in [
      "Int?", "Set<Tag>", "[String: (Int, Int)]", "Dictionary<String, Array<Int>>", "Cairn::Note?",
    ] {
      let expected = "private let `_managed_a` = ManagedField<\(type)>()"
      #expect(try peers("@Managed", "var a: \(type)") == expected)
      #expect(try peers("@Managed", "var a :\n /* x */ \(type) // = 3\n") == expected)
    }
  }

  @Test func `a type with an exclamation mark is an optional`() throws {
    #expect(
      try peers("@Managed", "var `class`: String! // !")
        == "private let `_managed_class` = ManagedField<String?>()")
  }

  @Test func `arguments stand in an enumeration beside it`() throws {
    let expected = """
      nonisolated private enum `_ManagedOptions_a`: ManagedFieldOptions {
        static var options: ManagedPropertyOptions { ManagedPropertyOptions(.unique, default: 5) }
      }
      private let `_managed_a` = ManagedFieldWithOptions<Int, `_ManagedOptions_a`>()
      """
    #expect(try peers("@Managed(.unique, default: 5)", "var a: Int") == expected)
  }

  @Test func `a key path to the inverse becomes its last name`() throws {
    for path in [
      "\\Folder.notes", "\\Folder.notes ", "\\ Folder . notes", "\\A.B.notes", "\\Folder.`notes`", "\\.notes",
      "\\Box<A, B>.notes", "\\Folder?.notes!", "/* \\a.b */ \\Folder.notes // x.y\n",
    ] where !path.contains(",") {
      #expect(try options("@Managed(inverse: \(path))") == "inverse: \"notes\"", "\(path)")
    }
  }

  @Test func `other arguments stay as they are, whatever is in them`() throws {
    let list = "originalName: \"a, inverse: (b\", default: [1, 2].map { $0, $0 }, deleteRule: .cascade"
    #expect(try options("@Managed(\(list))") == list)
    #expect(try options("@CairnGraph.Managed ( inverse: \\A.b , \(list) )") == "inverse: \"b\", \(list)")
    #expect(try options("@Managed") == nil)
    #expect(try options("@Managed( )") == nil)
  }

  @Test func `an inverse that is no key path literal is refused at its place`() throws {
    for text in ["path", "\\Folder", "nil", "\\Folder[0]", "\"notes\""] {
      let attribute = "@Managed(.unique, inverse: \(text))"
      let problem = try #require(throws: Refusal.self) { try ManagedArguments(parsing: attribute) }.problems[
        0]
      #expect(problem.range == 27..<27 + text.utf8.count && problem.message.contains("'\\Folder.notes'"))
    }
  }

  @Test func `any text ends`() {
    for text in [
      "", "@", "@Managed(", "@Managed(inverse:", "@Managed(inverse: \\", "@Managed(\"", "@Managed(#\"x",
    ] {
      _ = try? ManagedArguments(parsing: text)
    }
  }
}

@Suite struct `What @Managed refuses` {
  @Test func `a constant`() {
    expectProblem("@Managed let a: Int", at: "let", says: "use 'var'", fix: "var")
  }

  @Test func `an initial value`() {
    for value in ["= 5", "=5", "= [1: 2] /* x */", "= { 5 }()"] {
      expectProblem("@Managed var a: Int? \(value)", at: "=", says: "default value in the model")
    }
    expectProblem("@Managed var a: Set<Int>=[]", at: "=", says: "default value in the model")
  }

  @Test func `several variables at once`() {
    expectProblem("@Managed var a, b: Int", at: ",", says: "one property at a time")
    expectProblem("@Managed var a: Dictionary<Int, Int>?, b: Int", at: ", b", says: "one property at a time")
    expectProblem("@Managed var (a, b): (Int, Int)", at: "(", says: "one property at a time")
  }

  @Test func `a missing type`() {
    expectProblem("@Managed var größe", at: "größe", says: "'größe: String?'")
    #expect(problems("@Managed var a = 5").map(\.range) == [13..<14, 15..<16])
  }

  @Test func `accessors of one's own`() {
    for block in ["{ 5 }", "{ get { 5 } set {} }", "{ didSet {} }", "{\n willSet { print(\"}\") } }"] {
      expectProblem("@Managed var a: Array<Int> \(block)", at: "{", says: "writes the accessors itself")
      expectProblem("@Managed var a:Int\(block)", at: "{", says: "writes the accessors itself")
    }
  }

  @Test func `a lazy property`() {
    expectProblem("@Managed public lazy var a: Int", at: "lazy", says: "remove 'lazy'", fix: "")
  }

  @Test func `a property of the class`() {
    expectProblem("@Managed static var a: Int", at: "static", says: "remove 'static'", fix: "")
    expectProblem("@Managed class var a: Int", at: "class", says: "remove 'class'", fix: "")
  }

  @Test func `what isn't a variable`() {
    for source in [
      "@Managed func a() {}", "", "@", "@Managed", "@Managed var", "@Managed var `a", "= 5", "let", "\0",
    ] {
      #expect(!problems(source).isEmpty, "\(source)")
    }
  }

  @Test func `every problem is named, in the order of the source`() {
    let source = "@Managed static lazy let a = 5"
    let found = problems(source).map { String(decoding: Array(source.utf8)[$0.range], as: UTF8.self) }
    #expect(found == ["static", "lazy", "let", "a", "="])
  }
}

@Suite struct `Reading any text` {
  static let sample = """
    // é /* x
    @available(*, deprecated, message: #"a "\\#(b("c"))" "#) @Box<[String: (Int) -> Int]>
    @Managed /* a /* b */ c */ public private(set) var `größe 1`: Dictionary<String, (Int) -> Void>?
    """

  @Test func `every beginning and every end of a declaration is read or refused within bounds`() {
    let bytes = Array(Self.sample.utf8)
    for cut in 0...bytes.count {
      checkBounds(String(decoding: bytes[..<cut], as: UTF8.self))
      checkBounds(String(decoding: bytes[cut...], as: UTF8.self))
    }
  }

  @Test func `every byte may be replaced by every other that has a meaning`() {
    let bytes = Array(Self.sample.utf8)
    for index in bytes.indices {
      for byte in "\"#\\(){}[]<>-/*@`:=,\n v".utf8 {
        var changed = bytes
        changed[index] = byte
        checkBounds(String(decoding: changed, as: UTF8.self))
      }
    }
  }

  @Test(.timeLimit(.minutes(1))) func `a long text takes time in proportion, however it is nested`() {
    for piece in ["(", "/*", "#", "@", "<", "\"", "\\(", "#\"", "`", "@a<", "@a(\"\\(", "var ", "/"] {
      let long = String(repeating: piece, count: 20_000)
      for prefix in ["", "@a(", "@a(##\"", "var a: ", "var a: ("] { checkBounds(prefix + long) }
    }
  }

  private func checkBounds(_ source: String) {
    for problem in problems(source) {
      // One assertion per failure only: there are too many texts for one each.
      if problem.range.lowerBound < 0 || problem.range.upperBound > source.utf8.count {
        Issue.record("\(problem.range) of \(source.utf8.count) bytes: \(source.prefix(200))")
      }
    }
  }
}

private func key(_ source: String) throws -> String {
  try ManagedDeclaration(parsing: source).key
}

private func problems(_ source: String) -> [Problem] {
  do throws(Refusal) {
    _ = try ManagedDeclaration(parsing: source)
    return []
  } catch {
    return error.problems
  }
}

/// Expects one problem, which starts where `mark` first stands, with `text` in its message.
private func expectProblem(
  _ source: String, at mark: String, says text: String, fix: String? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let found = problems(source)
  #expect(found.count == 1, "\(source): \(found)", sourceLocation: sourceLocation)
  guard let problem = found.first, let range = source.range(of: mark) else { return }
  let offset = source.utf8.distance(from: source.startIndex, to: range.lowerBound)
  #expect(problem.range.lowerBound == offset, "\(source)", sourceLocation: sourceLocation)
  #expect(problem.message.contains(text), "\(source): \(problem.message)", sourceLocation: sourceLocation)
  #expect(problem.replacement?.text == fix, "\(source)", sourceLocation: sourceLocation)
}
