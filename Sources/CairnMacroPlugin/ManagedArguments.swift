// Reads the arguments of an `@Managed(…)` attribute. As with the declaration, text in, text or problems out.

/// The arguments, made ready to be handed to an initialiser that takes names in the place of key paths.
struct ManagedArguments: Equatable {
  /// The argument list without its parentheses; nil where there is none, or nothing in it.
  let options: String?

  /// Reads an attribute. The inverse has to be a key path literal, whose last name is all that is needed of it: the
  /// compiler has checked the rest.
  init(parsing attribute: String) throws(Refusal) {
    var scanner = Scanner(attribute)
    scanner.skipTrivia()
    scanner.skipAttributeName()
    guard scanner.peek() == "(" else {
      options = nil
      return
    }
    scanner.skipByte()
    var arguments: [String] = []
    while let byte = scanner.peek(), byte != ")" {
      let argument = try Self.readArgument(&scanner)
      if !argument.isEmpty { arguments.append(argument) }
      if scanner.peek() == "," { scanner.skipByte() }
    }
    options = arguments.isEmpty ? nil : arguments.joined(separator: ", ")
  }

  private static func readArgument(_ scanner: inout Scanner) throws(Refusal) -> String {
    scanner.skipTrivia()
    let start = scanner.position
    let label = scanner.identifier()
    scanner.skipTrivia()
    guard label?.text == "inverse", scanner.peek() == ":" else {
      skipValue(&scanner)
      return scanner.trimmedText(start..<scanner.position)
    }
    scanner.skipByte()
    scanner.skipTrivia()
    let valueStart = scanner.position
    skipValue(&scanner)
    let value = scanner.trimmedText(valueStart..<scanner.position)
    guard let name = lastName(ofKeyPath: value) else {
      throw Refusal(problems: [.isNoKeyPath(valueStart..<valueStart + value.utf8.count)])
    }
    return "inverse: " + ManagedDeclaration.stringLiteral(name)
  }

  private static func skipValue(_ scanner: inout Scanner) {
    while let byte = scanner.peek(), byte != ",", byte != ")" { scanner.skipElement() }
  }

  /// The name after the last dot of a key path literal of at least one property; nil for anything else.
  private static func lastName(ofKeyPath text: String) -> String? {
    var scanner = Scanner(text)
    guard scanner.peek() == "\\" else { return nil }
    var name: String?
    while let byte = scanner.peek() {
      if byte == "." {
        scanner.skipByte()
        scanner.skipTrivia()
        guard let word = scanner.identifier() else { return nil }
        name = word.text
      } else {
        scanner.skipElement()
      }
    }
    return name
  }
}

extension Problem {
  static func isNoKeyPath(_ range: Range<Int>) -> Problem {
    Problem(
      range: range,
      message: "the inverse of a managed property is written as a key path, such as '\\Folder.notes'")
  }

  static func hasArgumentsInExtension(_ range: Range<Int>) -> Problem {
    Problem(
      range: range,
      message:
        "'@Managed' takes arguments in a class, where a model that is made of classes can find them: move the "
        + "property into the class, or remove the arguments")
  }
}
