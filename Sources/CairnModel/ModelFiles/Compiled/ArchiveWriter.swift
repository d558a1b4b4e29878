// Writes compiled models: keyed archives with the classes and keys that Core Data uses.

import Foundation

/// Collects the objects of a keyed archive. An object gets its number before its fields are known, so that
/// circles of references can be written.
struct ArchiveWriter {
  private enum Entry {
    /// Of the property list.
    case plain(Int)
    case object(fields: [(String, Field)], classNumber: Int)
  }

  /// What a field holds: a value in the object itself, or a reference.
  enum Field {
    case bool(Bool)
    case integer(Int)
    case real(Double)
    case data(Data)
    case reference(Int)
    case references([Int])
  }

  private var plist = BinaryPlistWriter()
  private var entries: [Entry] = []
  private var strings: [String: Int] = [:]
  private var classes: [String: Int] = [:]

  init() {
    entries.append(.plain(plist.string("$null")))
  }

  /// The number of null.
  static let null = 0

  mutating func string(_ text: String?) -> Int {
    guard let text else { return ArchiveWriter.null }
    if let number = strings[text] { return number }
    let number = plain { $0.string(text) }
    strings[text] = number
    return number
  }

  mutating func bool(_ flag: Bool) -> Int { plain { $0.bool(flag) } }
  mutating func integer(_ number: Int64) -> Int { plain { $0.integer(number) } }
  mutating func real(_ number: Double) -> Int { plain { $0.real(number) } }

  private mutating func plain(_ make: (inout BinaryPlistWriter) -> Int) -> Int {
    entries.append(.plain(make(&plist)))
    return entries.count - 1
  }

  /// Keeps a number for an object that `fill` gives fields.
  mutating func reserve() -> Int {
    entries.append(.plain(0))
    return entries.count - 1
  }

  mutating func fill(_ number: Int, _ className: String, _ fields: [(String, Field)]) {
    let classNumber = self.classNumber(className)
    entries[number] = .object(fields: fields, classNumber: classNumber)
  }

  mutating func object(_ className: String, _ fields: [(String, Field)]) -> Int {
    let number = reserve()
    fill(number, className, fields)
    return number
  }

  mutating func list(_ members: [Int], _ className: String = "NSArray") -> Int {
    object(className, [("NS.objects", .references(members))])
  }

  mutating func dictionary(
    _ members: [(key: String, value: Int)], _ className: String = "NSMutableDictionary"
  ) -> Int {
    let keys = members.map { string($0.key) }
    return object(
      className, [("NS.keys", .references(keys)), ("NS.objects", .references(members.map(\.value)))])
  }

  /// The description of a class, once.
  private mutating func classNumber(_ name: String) -> Int {
    if let number = classes[name] { return number }
    let line = [name] + (ArchiveWriter.superclasses[name] ?? ["NSObject"])
    let names = line.map { plist.string($0) }
    let list = plist.array(names)
    let description = plist.dictionary([("$classname", names[0]), ("$classes", list)])
    entries.append(.plain(description))
    classes[name] = entries.count - 1
    return entries.count - 1
  }

  private static let superclasses: [String: [String]] = {
    var result: [String: [String]] = [
      "NSMutableDictionary": ["NSDictionary", "NSObject"], "NSMutableArray": ["NSArray", "NSObject"],
      "NSMutableString": ["NSString", "NSObject"], "NSDecimalNumber": ["NSNumber", "NSValue", "NSObject"],
      "NSFetchRequest": ["NSPersistentStoreRequest", "NSObject"],
      "NSKeyPathExpression": ["NSFunctionExpression", "NSExpression", "NSObject"],
      "NSAttributeDescription": ["NSPropertyDescription", "NSObject"],
      "NSRelationshipDescription": ["NSPropertyDescription", "NSObject"],
      "NSFetchedPropertyDescription": ["NSPropertyDescription", "NSObject"],
      "NSExpressionDescription": ["NSPropertyDescription", "NSObject"],
      "NSDerivedAttributeDescription": ["NSAttributeDescription", "NSPropertyDescription", "NSObject"],
      "NSCompositeAttributeDescription": ["NSAttributeDescription", "NSPropertyDescription", "NSObject"],
    ]
    for kind in [
      "ConstantValue", "Self", "Variable", "KeyPathSpecifier", "Function", "Aggregate", "UnionSet",
      "IntersectSet", "MinusSet", "VariableAssignment", "Subquery", "Ternary", "AnyKey", "Symbolic",
    ] { result["NS\(kind)Expression"] = ["NSExpression", "NSObject"] }
    for kind in ["True", "False", "Compound", "Comparison"] {
      result["NS\(kind)Predicate"] = ["NSPredicate", "NSObject"]
    }
    for kind in ["Comparison", "Equality", "In", "Like", "Matching", "Substring", "Between"] {
      result["NS\(kind)PredicateOperator"] = ["NSPredicateOperator", "NSObject"]
    }
    return result
  }()

  /// The whole archive.
  func file(root: Int) -> Data {
    var plist = plist
    let objects = entries.map { entry in
      switch entry {
      case .plain(let number): return number
      case .object(let fields, let classNumber):
        var members = fields.map { (key: $0.0, value: field($0.1, &plist)) }
        members.append(("$class", plist.uid(classNumber)))
        return plist.dictionary(members)
      }
    }
    let list = plist.array(objects)
    let top = plist.dictionary([("root", plist.uid(root))])
    let whole = plist.dictionary([
      ("$version", plist.integer(100_000)), ("$archiver", plist.string("NSKeyedArchiver")), ("$top", top),
      ("$objects", list),
    ])
    return plist.file(top: whole)
  }

  private func field(_ field: Field, _ plist: inout BinaryPlistWriter) -> Int {
    switch field {
    case .bool(let flag): plist.bool(flag)
    case .integer(let number): plist.integer(Int64(number))
    case .real(let number): plist.real(number)
    case .data(let data): plist.data(data)
    case .reference(let number): plist.uid(number)
    case .references(let numbers): plist.array(numbers.map { plist.uid($0) })
    }
  }
}
