// The initialisers that Foundation marks unavailable on Linux, back on Foundation's class.
//
// An initialiser of a protocol extension assigns `self` one of Cairn's subclasses. A class of Cairn's own with
// that name would be ambiguous for whoever imports Foundation too.

public import CairnModel
public import Foundation

/// What gives `NSPredicate` its initialisers by format, and its coding, which it lacks on Linux too.
public protocol NSPredicateFormatInitializable: Codable, NSSecureCoding {}

extension NSPredicate: NSPredicateFormatInitializable, @retroactive Decodable, @retroactive Encodable,
  @retroactive NSCoding, @retroactive NSSecureCoding
{}

extension NSPredicateFormatInitializable where Self: NSPredicate {
  /// The predicate that `format` says, each `%@` replaced by a constant and each `%K` by a key path.
  ///
  ///     NSPredicate(format: "airline.carrier == %@ AND depDelay > %d", "UA", 60)
  ///
  /// Constants are nil, numbers, truth values, strings, dates, data, UUIDs, URLs, enumerations with raw values,
  /// arrays and sets of these, managed objects and their IDs, expressions, and any other object, which only an
  /// evaluation in memory can compare. A malformed format, or too few arguments, is a programmer error;
  /// `init(parsing:arguments:)` throws instead.
  public init(format predicateFormat: String, _ args: Any?...) {
    self.init(trapping: predicateFormat, args)
  }

  /// The same with the arguments in an array.
  public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
    self.init(trapping: predicateFormat, arguments ?? [])
  }

  /// Cairn's own. Throws `PredicateFormatError`, which shows the place, for a malformed format.
  public init(parsing format: String, arguments: [Any?] = []) throws {
    let tree = try PredicateFormat.parse(format, arguments: arguments.map { ExpressionTree(argument: $0) })
    self.init(tree)
  }

  /// Cairn's own: the predicate that a tree says.
  public init(_ tree: PredicateTree) {
    let predicate = NSPredicate.make(tree)
    guard let typed = predicate as? Self else {
      fatalError("\(tree.canonicalFormat) is a \(type(of: predicate)), not a \(Self.self)")
    }
    self = typed
  }

  private init(trapping format: String, _ arguments: [Any?]) {
    do {
      try self.init(parsing: format, arguments: arguments)
    } catch {
      fatalError("\(error)")
    }
  }
}

extension NSPredicate {
  fileprivate static func make(_ tree: PredicateTree) -> NSPredicate {
    switch tree {
    case .comparison(let comparison): return NSComparisonPredicate(comparison)
    case .constant: return ConstantPredicate(tree)
    case .opaque(let constant):
      return (constant.object as? PredicateBlock)?.predicate ?? ConstantPredicate(tree)
    case .and, .or, .not:
      guard let compound = CompoundPredicate(tree) else { fatalError("an AND, OR or NOT is a compound") }
      return compound
    }
  }
}

// Code written for Core Data says `id as CVarArg` in the places of arguments, which here are of any type. In a
// list for a C function these types have no place: that it is asked for is a programmer error.

extension Date: @retroactive CVarArg {
  public var _cVarArgEncoding: [Int] { refuseVariableArgument(self) }
}

extension UUID: @retroactive CVarArg {
  public var _cVarArgEncoding: [Int] { refuseVariableArgument(self) }
}

extension NSObject: @retroactive CVarArg {
  public var _cVarArgEncoding: [Int] { refuseVariableArgument(self) }
}

private func refuseVariableArgument<T>(_ argument: T) -> Never {
  fatalError("a \(T.self) is an argument of predicates, and can't be one of String(format:): interpolate it")
}
