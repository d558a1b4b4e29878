// Predicates and expressions as bytes: canonical text, and beside it the constants that text can't hold exactly.
//
// Such a constant stands in the text as a variable, so that reading is parsing and substituting. Both the form
// for `Codable` and the one for `NSCoder` are this one.

import CairnModel
import Foundation

/// What is written of a predicate.
struct PredicateArchive: Codable {
  /// A number that means "this form", to be raised when it changes.
  var version = 1
  var format: String
  /// By the name of the variable that stands for it.
  var constants: [String: ArchivedConstant]

  /// Throws `EncodingError` for a block, for a constant that is an object, and for a name that text can't hold.
  init(_ tree: PredicateTree) throws {
    var collector = ConstantCollector(variables: tree.variables)
    format = try tree.rewritten { try collector.variable(for: $0) }.canonicalFormat
    constants = collector.constants
  }

  init(_ tree: ExpressionTree) throws {
    var collector = ConstantCollector(variables: tree.variables)
    format = try tree.rewritten { try collector.variable(for: $0) }.canonicalFormat
    constants = collector.constants
  }

  /// Throws `PredicateFormatError` for text that is none, and `DecodingError` for a constant that isn't one.
  func predicate() throws -> PredicateTree {
    let substitutes = try substitutes()
    return try PredicateFormat.parse(format, arguments: []).substituting(variables: substitutes)
  }

  func expression() throws -> ExpressionTree {
    let substitutes = try substitutes()
    return try PredicateFormat.parseExpression(format, arguments: []).substituting(variables: substitutes)
  }

  private func substitutes() throws -> [String: ExpressionTree] {
    guard version == 1 else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "a predicate of form \(version); this version reads form 1"))
    }
    return try constants.mapValues { try $0.expression() }
  }

  // MARK: NSCoder

  static func encode(_ coder: NSCoder, _ make: () throws -> PredicateArchive) {
    do {
      let archive = try make()
      coder.encode(archive.version, forKey: "version")
      coder.encode(archive.format as NSString, forKey: "format")
      coder.encode(try JSONEncoder().encode(archive.constants) as NSData, forKey: "constants")
    } catch {
      coder.failWithError(error)
    }
  }

  /// nil, with the coder failed, for what isn't an archive.
  static func decode<T>(_ coder: NSCoder, _ read: (PredicateArchive) throws -> T) -> T? {
    guard let format = coder.decodeObject(of: NSString.self, forKey: "format") as String?,
      let constants = coder.decodeObject(of: NSData.self, forKey: "constants") as Data?
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    do {
      let table = try JSONDecoder().decode([String: ArchivedConstant].self, from: constants)
      // The first ones said no version.
      let version = coder.containsValue(forKey: "version") ? coder.decodeInteger(forKey: "version") : 1
      return try read(PredicateArchive(version: version, format: format, constants: table))
    } catch {
      coder.failWithError(error)
      return nil
    }
  }

  private init(version: Int, format: String, constants: [String: ArchivedConstant]) {
    self.version = version
    self.format = format
    self.constants = constants
  }
}

/// A constant as type and text.
struct ArchivedConstant: Codable {
  var type: String
  var value: String

  init(type: String, value: String) {
    self.type = type
    self.value = value
  }

  /// nil for a value that has no such form.
  init?(_ value: Value) {
    switch value {
    case .int(let x): self.init(type: "integer", value: String(x))
    case .double(let x): self.init(type: "double", value: String(x))
    case .float(let x): self.init(type: "float", value: String(x))
    case .decimal(let x): self.init(type: "decimal", value: x.description)
    case .bool(let x): self.init(type: "boolean", value: String(x))
    case .string(let x): self.init(type: "string", value: x)
    case .date(let x): self.init(type: "date", value: String(x.timeIntervalSinceReferenceDate))
    case .data(let x): self.init(type: "data", value: x.base64EncodedString())
    case .uuid(let x): self.init(type: "uuid", value: x.uuidString)
    case .uri(let x): self.init(type: "uri", value: x)
    case .null, .key, .composite: return nil
    }
  }

  /// A key path that isn't read back from its text.
  init(keyPath names: [String]) throws {
    self.init(type: "keyPath", value: String(decoding: try JSONEncoder().encode(names), as: UTF8.self))
  }

  func expression() throws -> ExpressionTree {
    if type == "null" { return .object(ConstantObject(NullConstant())) }
    if type == "keyPath", let names = try? JSONDecoder().decode([String].self, from: Data(value.utf8)) {
      return .keyPath(names)
    }
    guard let value = parsed else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "\"\(value)\" is no \(type) of a predicate"))
    }
    return .constant(value)
  }

  private var parsed: Value? {
    switch type {
    case "integer": Int64(value).map { .int($0) }
    case "double": Double(value).map { .double($0) }
    case "float": Float(value).map { .float($0) }
    case "decimal": value == "NaN" ? .decimal(.nan) : Decimal(string: value).map { .decimal($0) }
    case "boolean": Bool(value).map { .bool($0) }
    case "string": .string(value)
    case "date": Double(value).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case "data": Data(base64Encoded: value).map { .data($0) }
    case "uuid": UUID(uuidString: value).map { .uuid($0) }
    case "uri": .uri(value)
    default: nil
    }
  }
}

/// Puts variables in the places of constants.
private struct ConstantCollector {
  private let prefix: String
  private(set) var constants: [String: ArchivedConstant] = [:]

  /// `variables` are the names that are taken.
  init(variables: Set<String>) {
    var prefix = "constant"
    while variables.contains(where: { $0.hasPrefix(prefix) }) { prefix += "_" }
    self.prefix = prefix
  }

  /// The variable that stands for an expression; nil where the text says it exactly.
  mutating func variable(for expression: ExpressionTree) throws -> ExpressionTree? {
    switch expression {
    case .constant(.null), .constant(.string), .constant(.int(0...)): return nil
    case .constant(let value):
      guard let archived = ArchivedConstant(value) else { throw refusal(expression) }
      return add(archived)
    case .object(let constant):
      guard constant.object is NullConstant else { throw refusal(expression) }
      return add(ArchivedConstant(type: "null", value: ""))
    case .opaque: throw refusal(expression)
    case .subquery(_, _, let condition) where condition.hasBlock,
      .conditional(let condition, _, _) where condition.hasBlock:
      throw refusal(expression)
    case .keyPath(let names):
      if ConstantCollector.isReadBack(expression) { return nil }
      return add(try ArchivedConstant(keyPath: names))
    case .keyPathOf(_, let names): try check(.keyPathOf(.variable("x"), names))
    case .variable(let name), .assignment(let name, _), .subquery(_, let name, _): try check(.variable(name))
    case .call(_, let selector, _): try check(.call(.evaluatedObject, selector: selector, []))
    case .function(let name, let arguments):
      try check(.function(name, arguments.map { _ in .variable("x") }))
    default: break
    }
    return nil
  }

  /// Throws for a name that its text wouldn't be read as: the predicate would come back as another one.
  private func check(_ expression: ExpressionTree) throws {
    if ConstantCollector.isReadBack(expression) { return }
    throw EncodingError.invalidValue(
      expression,
      .init(
        codingPath: [],
        debugDescription: "\(expression.canonicalFormat) has a name that can't be written with a predicate"))
  }

  private static func isReadBack(_ expression: ExpressionTree) -> Bool {
    (try? PredicateFormat.parseExpression(expression.canonicalFormat)) == expression
  }

  private mutating func add(_ constant: ArchivedConstant) -> ExpressionTree {
    let name = "\(prefix)\(constants.count)"
    constants[name] = constant
    return .variable(name)
  }

  private func refusal(_ expression: ExpressionTree) -> EncodingError {
    .invalidValue(
      expression,
      .init(
        codingPath: [],
        debugDescription:
          "\(expression.canonicalFormat) is an object or a block, and can't be written with a predicate: "
          + "put a variable in its place, and give it its value after decoding"))
  }
}

// MARK: Predicates

extension NSPredicateFormatInitializable where Self: NSPredicate {
  /// Throws `DecodingError` for what isn't an encoded predicate.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let archive = try container.decode(PredicateArchive.self)
    do {
      self.init(try archive.predicate())
    } catch let error as DecodingError {
      throw error
    } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
    }
  }

  /// Throws `EncodingError` for a block, and for a predicate with a constant that is an object or a name that
  /// the format language can't say.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(PredicateArchive(encodableTree()))
  }

  public static var supportsSecureCoding: Bool { true }

  /// As the text of the predicate with its constants beside it. A block, a constant that is an object, and a name
  /// that the format language can't say can't be written, and fail the coder.
  public func encode(with coder: NSCoder) {
    PredicateArchive.encode(coder) { try PredicateArchive(encodableTree()) }
  }

  public init?(coder: NSCoder) {
    guard let tree = PredicateArchive.decode(coder, { try $0.predicate() }) else { return nil }
    self.init(tree)
  }

  private func encodableTree() throws -> PredicateTree {
    let tree = self.tree
    if tree.hasBlock {
      throw EncodingError.invalidValue(
        self, .init(codingPath: [], debugDescription: "a block can't be written"))
    }
    return tree
  }
}
