// Reads the one declaration that `@Managed` stands on, and writes the accessors that take its place.
//
// It is pure: text in, text or problems out. Whatever the text, it ends (the scanner only moves
// forwards) and never traps. It isn't a parser of Swift: the compiler has parsed the declaration
// before it asks, so this only has to find the name and what the macro can't serve, and may be
// lenient about anything else.

/// A property that `@Managed` can serve.
struct ManagedDeclaration: Equatable {
  /// The property's name without backticks: the key of the attribute or relationship in the model.
  let key: String
  /// The property's type as it is written, with `?` for `!`.
  let type: String

  /// Reads a declaration with its attributes, comments and modifiers, or says why `@Managed` can't serve it.
  init(parsing source: String) throws(Refusal) {
    var reader = DeclarationReader(source)
    let name = reader.readDeclaration()
    guard let name, reader.problems.isEmpty else { throw Refusal(problems: reader.problems) }
    key = name
    type = reader.type
  }

  /// The source that the compiler puts in place of the property's storage.
  var accessors: String {
    let literal = Self.stringLiteral(key)
    return """
      {
        get { managedValue(forKey: \(literal)) }
        set { setManagedValue(newValue, forKey: \(literal)) }
      }
      """
  }

  /// The source that the compiler puts beside the property: a constant of no size whose name and type tell a model
  /// that is made of classes what there is, and the arguments of `@Managed` if it has any.
  func peers(_ arguments: ManagedArguments) -> String {
    guard let options = arguments.options else {
      return "private let `_managed_\(key)` = ManagedField<\(type)>()"
    }
    return """
      nonisolated private enum `_ManagedOptions_\(key)`: ManagedFieldOptions {
        static var options: ManagedPropertyOptions { ManagedPropertyOptions(\(options)) }
      }
      private let `_managed_\(key)` = ManagedFieldWithOptions<\(type), `_ManagedOptions_\(key)`>()
      """
  }

  // Between backticks a name may hold spaces and quotes, so a key isn't always fit for a plain literal.
  static func stringLiteral(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { literal.unicodeScalars.append("\\") }
      literal.unicodeScalars.append(scalar)
    }
    return literal + "\""
  }
}

/// Why `@Managed` can't serve a declaration: at least one problem, in the order of the source.
struct Refusal: Error, Equatable {
  let problems: [Problem]
}

/// One thing to change in a declaration.
struct Problem: Equatable {
  /// Where it is, in UTF-8 bytes from the start of the declaration's source.
  let range: Range<Int>
  /// A sentence that says what to do.
  let message: String
  /// What to put in place of `range`, where that alone mends it.
  var replacement: Replacement?

  struct Replacement: Equatable {
    let text: String
    let title: String
  }
}

/// Reads a declaration from its first attribute to its last binding, and notes every problem on the way.
private struct DeclarationReader {
  private(set) var problems: [Problem] = []
  private(set) var type = ""
  private var scanner: Scanner

  init(_ source: String) {
    scanner = Scanner(source)
  }

  /// The name of the first variable, or nil where there is none; in that case there is a problem.
  mutating func readDeclaration() -> String? {
    guard readHeader() else { return nil }
    guard let name = readName() else { return nil }
    let end = readType(of: name)
    readRest(from: end)
    return name.text
  }

  // Attributes and modifiers, up to and with `var` or `let`.
  private mutating func readHeader() -> Bool {
    while true {
      scanner.skipTrivia()
      if scanner.peek() == "@" {
        scanner.skipAttribute()
      } else if scanner.peek() == "#" {
        scanner.skipLine()  // #if and its kin may stand between attributes
      } else if let word = scanner.identifier() {
        if word.text == "var" { return true }
        if word.text == "let" {
          problems.append(.isLet(word))
          return true
        }
        noteModifier(word)
      } else {
        problems.append(.isNotVariable(scanner.restOfSource))
        return false
      }
    }
  }

  private mutating func noteModifier(_ word: Scanner.Word) {
    switch word.text {
    case "lazy": problems.append(.isLazy(word))
    case "static", "class": problems.append(.isOfType(word))
    default: break
    }
    // The `(set)` of `private(set)`, the `(unsafe)` of `nonisolated(unsafe)`.
    scanner.skipTrivia()
    if scanner.peek() == "(" { scanner.skipBalanced() }
  }

  private mutating func readName() -> Scanner.Word? {
    scanner.skipTrivia()
    if scanner.peek() == "(" {
      problems.append(.isSeveral(scanner.position..<scanner.position + 1))
      return nil
    }
    guard let name = scanner.identifier() else {
      problems.append(.isNotVariable(scanner.restOfSource))
      return nil
    }
    return name
  }

  // The type annotation, if there is one; returns the byte that ends it.
  private mutating func readType(of name: Scanner.Word) -> Scanner.Byte? {
    scanner.skipTrivia()
    guard scanner.peek() == ":" else {
      // In `var a, b: Int` the type follows the last name: there the commas are the problem.
      if scanner.peek() != "," { problems.append(.hasNoType(name)) }
      return scanner.peek()
    }
    let start = scanner.position + 1
    let end = scanner.skipType()
    type = scanner.trimmedText(start..<scanner.position)
    if type.hasSuffix("!") { type = type.dropLast() + "?" }
    return end
  }

  // What may follow a type, none of which a managed property can have.
  private mutating func readRest(from end: Scanner.Byte?) {
    let mark = scanner.position..<scanner.position + 1
    switch end {
    case "=": problems.append(.hasInitialValue(mark))
    case "{": problems.append(.hasAccessors(mark))
    case ",": problems.append(.isSeveral(mark))
    default: break
    }
  }
}

extension Problem {
  fileprivate static func isLet(_ word: Scanner.Word) -> Problem {
    Problem(
      range: word.range,
      message: "a managed property can't be a constant, since its value lives in the context: use 'var'",
      replacement: Replacement(text: "var", title: "replace 'let' with 'var'"))
  }

  fileprivate static func isLazy(_ word: Scanner.Word) -> Problem {
    Problem(
      range: word.range,
      message: "a managed property is read from the store when first asked for anyway: remove 'lazy'",
      replacement: Replacement(text: "", title: "remove 'lazy'"))
  }

  fileprivate static func isOfType(_ word: Scanner.Word) -> Problem {
    Problem(
      range: word.range,
      message:
        "a managed property belongs to an object, not to its class: remove '\(word.text)', or '@Managed'",
      replacement: Replacement(text: "", title: "remove '\(word.text)'"))
  }

  fileprivate static func isNotVariable(_ range: Range<Int>) -> Problem {
    Problem(
      range: range, message: "'@Managed' makes managed properties: put it on a 'var' with a name and a type")
  }

  fileprivate static func isSeveral(_ range: Range<Int>) -> Problem {
    Problem(
      range: range, message: "'@Managed' takes one property at a time: give each its own '@Managed var'")
  }

  fileprivate static func hasNoType(_ name: Scanner.Word) -> Problem {
    Problem(
      range: name.range,
      message: "'@Managed' can't infer a type: write it after the name, as in '\(name.text): String?'")
  }

  fileprivate static func hasInitialValue(_ range: Range<Int>) -> Problem {
    Problem(
      range: range,
      message:
        "a managed property has no initial value in code: remove it, and give the attribute a default value "
        + "in the model, by '@Managed(default:)' if the model is made of classes (or set it in 'awakeFromInsert()')"
    )
  }

  fileprivate static func hasAccessors(_ range: Range<Int>) -> Problem {
    Problem(
      range: range,
      message:
        "'@Managed' writes the accessors itself: remove this block, or remove '@Managed' and keep the block "
        + "as a computed property")
  }
}
