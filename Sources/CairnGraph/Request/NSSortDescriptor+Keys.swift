// Sort descriptors by key, back on Foundation's class: there they are marked unavailable on Linux.
//
// An initialiser of a protocol extension assigns `self` a subclass that knows the key. An own class of the same
// name would be ambiguous for whoever imports Foundation too.

import CairnModel
public import Foundation

/// What gives `NSSortDescriptor` its initialisers by key, and its coding, which it lacks on Linux too.
public protocol NSSortDescriptorKeyInitializable: Codable, NSSecureCoding {}

extension NSSortDescriptor: NSSortDescriptorKeyInitializable, @retroactive Decodable, @retroactive Encodable,
  @retroactive NSCoding, @retroactive NSSecureCoding
{}

extension NSSortDescriptorKeyInitializable where Self: NSSortDescriptor {
  /// Sorts by an attribute, or by a path over to-one relationships to one; by the objects themselves for nil and
  /// `"self"`. nil comes first when ascending.
  public init(key: String?, ascending: Bool) {
    self.init(KeySortDescriptor(key, ascending, .selector(nil)))
  }

  /// Strings are compared as `selector` says: one of those that `Selector` names. A fetch refuses others; in
  /// memory they are looked for in the objects' `keyedMembers`.
  public init(key: String?, ascending: Bool, selector: Selector?) {
    self.init(KeySortDescriptor(key, ascending, .selector(selector)))
  }

  /// `cmptr` is given the values of the key. Only for sorting in memory: a fetch refuses it.
  public init(key: String?, ascending: Bool, comparator cmptr: @escaping Comparator) {
    self.init(KeySortDescriptor(key, ascending, .comparator(cmptr)))
  }

  /// For key paths whose values Foundation's own initialiser can't compare, as optional ones. The key path has to
  /// lead from an object class through properties that are declared with `@Managed`.
  public init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self.init(key: KeyPathNames.requireName(of: keyPath), ascending: ascending)
  }

  /// Foundation's typed descriptor as one by key; nil where its key path has no name.
  /// Strings compare as plainly as the typed descriptor compares them on Linux.
  public init?<Compared>(_ sortDescriptor: SortDescriptor<Compared>) {
    guard let path = sortDescriptor.keyPath, let key = path.propertyNames else { return nil }
    self.init(key: key, ascending: sortDescriptor.order == .forward)
  }

  private init(_ descriptor: KeySortDescriptor) {
    guard let typed = descriptor as? Self else {
      fatalError("NSSortDescriptor(key:ascending:) makes plain sort descriptors, not a \(Self.self)")
    }
    self = typed
  }
}

extension NSSortDescriptor {
  /// The key that it was made with, or the name of its key path; nil where there is none.
  public final var key: String? { (self as? KeySortDescriptor)?.sortKey ?? keyPath.propertyNames }

  /// nil for one made with a comparator.
  public final var selector: Selector? {
    guard let descriptor = self as? KeySortDescriptor else { return .compare }
    if case .selector(let selector) = descriptor.rule { return selector ?? .compare }
    return nil
  }

  /// Does nothing: decoding a sort descriptor makes nothing that would have to be allowed.
  public final func allowEvaluation() {}
}

/// A sort descriptor that knows its key's name. Immutable.
final class KeySortDescriptor: NSSortDescriptor {
  enum Rule {
    case selector(Selector?)
    case comparator(Comparator)
  }

  let sortKey: String?
  let rule: Rule
  private let path: [String]

  /// Foundation's initialiser wants a key path of some class; it is never followed.
  private final class Unused { let value = 0 }

  init(_ key: String?, _ ascending: Bool, _ rule: Rule) {
    sortKey = key
    self.rule = rule
    path = KeySortDescriptor.path(key)
    super.init(keyPath: \Unused.value, ascending: ascending)
  }

  /// nil and `self` are the objects themselves.
  private static func path(_ key: String?) -> [String] {
    guard let key, key != "self", case .keyPath(let names) = ExpressionTree(keyPath: key) else { return [] }
    return names
  }

  // MARK: Comparing

  /// Compares two objects by the key. Traps for values that the selector can't compare and for unknown keys, as
  /// Core Data raises an exception.
  override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    do {
      let walker = KeyPathWalker()
      let a = try walker.value(of: Operand(object1), at: path)
      let b = try walker.value(of: Operand(object2), at: path)
      let order = try compare(a, b)
      return order == 0 ? .orderedSame : (order < 0) == ascending ? .orderedAscending : .orderedDescending
    } catch {
      fatalError("\(error)")
    }
  }

  private func compare(_ a: Operand, _ b: Operand) throws -> Int {
    // nil is less than anything else, whatever the rule.
    switch (a.isMissing, b.isMissing) {
    case (true, true): return 0
    case (true, false): return -1
    case (false, true): return 1
    case (false, false): break
    }
    switch rule {
    case .comparator(let comparator):
      guard let x = a.any, let y = b.any else { return 0 }
      return comparator(x, y).rawValue
    case .selector(let selector):
      if case .value(let x) = a, case .value(let y) = b, let collation = SortCollation(selector) {
        return collation.compare(x, y)
      }
      return try call(selector ?? .compare, a, b)
    }
  }

  /// By a function of the values' own class, which returns a ComparisonResult or a number.
  private func call(_ selector: Selector, _ a: Operand, _ b: Operand) throws -> Int {
    guard let x = a.any, let y = b.any, let function = KeyedMembers.of(x)?.function(selector.name) else {
      throw PredicateEvaluationError(
        .unknownFunction,
        "\(a.kind) has no \(selector) that a sort descriptor could compare it by: a class declares it in its "
          + "keyedMembers")
    }
    let result = try function(x, [y])
    if let result = result as? ComparisonResult { return result.rawValue }
    return (result as? NSNumber)?.intValue ?? 0
  }

  override var comparator: Comparator { { [self] in compare($0, to: $1) } }

  override var reversedSortDescriptor: Any { KeySortDescriptor(sortKey, !ascending, rule) }

  // MARK: NSObject

  override func copy(with zone: NSZone? = nil) -> Any { self }

  /// Those with comparators are only equal to themselves.
  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KeySortDescriptor else { return false }
    if other === self { return true }
    guard case .selector = rule, case .selector = other.rule else { return false }
    return path == other.path && ascending == other.ascending && selector == other.selector
  }

  override var hash: Int {
    var hasher = Hasher()
    hasher.combine(path)
    hasher.combine(ascending)
    return hasher.finalize()
  }

  override var description: String {
    let order = ascending ? "ascending" : "descending"
    return "(\(sortKey ?? "self"), \(order), \(selector?.name ?? "by a comparator"))"
  }
}

// MARK: Coding

/// What is written of a sort descriptor.
private struct SortDescriptorArchive: Codable {
  var key: String?
  var ascending: Bool
  var selector: String?

  init(key: String?, ascending: Bool, selector: String?) {
    self.key = key
    self.ascending = ascending
    self.selector = selector
  }

  /// Throws `EncodingError` for one with a comparator, or with a key path that has no name.
  init(_ descriptor: NSSortDescriptor) throws {
    guard let selector = descriptor.selector, descriptor is KeySortDescriptor || descriptor.key != nil else {
      throw EncodingError.invalidValue(
        descriptor,
        .init(
          codingPath: [],
          debugDescription: "a sort descriptor with a comparator, or without a name, can't be written"))
    }
    self.init(key: descriptor.key, ascending: descriptor.ascending, selector: selector.name)
  }
}

extension NSSortDescriptorKeyInitializable where Self: NSSortDescriptor {
  public init(from decoder: any Decoder) throws {
    let archive = try decoder.singleValueContainer().decode(SortDescriptorArchive.self)
    self.init(key: archive.key, ascending: archive.ascending, selector: archive.selector.map { Selector($0) })
  }

  /// Throws `EncodingError` for one with a comparator, or with a key path that has no name.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(SortDescriptorArchive(self))
  }

  public static var supportsSecureCoding: Bool { true }

  /// Fails the coder for what `encode(to:)` throws for.
  public func encode(with coder: NSCoder) {
    do {
      let archive = try SortDescriptorArchive(self)
      coder.encode(archive.key as NSString?, forKey: "key")
      coder.encode(archive.ascending, forKey: "ascending")
      coder.encode(archive.selector as NSString?, forKey: "selector")
    } catch {
      coder.failWithError(error)
    }
  }

  public init?(coder: NSCoder) {
    let key = coder.decodeObject(of: NSString.self, forKey: "key") as String?
    let selector = coder.decodeObject(of: NSString.self, forKey: "selector") as String?
    self.init(
      key: key, ascending: coder.decodeBool(forKey: "ascending"), selector: selector.map { Selector($0) })
  }
}

// MARK: Requests

/// A sort key as a fetch needs it: what a store is told, and the order of strings that it isn't told.
struct SortKey {
  let term: SortTerm
  let collation: SortCollation

  /// Throws `unsupportedRequest` for what a store has no order for.
  init(_ descriptor: NSSortDescriptor) throws {
    guard let selector = descriptor.selector else {
      throw StoreError(
        .unsupportedRequest, "unsupported NSSortDescriptor (comparator blocks are not supported)",
        remedy: "sort the fetched objects, or name a selector")
    }
    guard let collation = SortCollation(selector) else {
      throw StoreError(
        .unsupportedRequest, "unsupported NSSortDescriptor selector: \(selector)",
        remedy: "use one of those that Selector names, or sort the fetched objects")
    }
    guard let key = descriptor.key else {
      throw StoreError(
        .unsupportedRequest, "a sort descriptor without a key has no name that a store knows",
        remedy: "make it with NSSortDescriptor(key:ascending:)")
    }
    term = SortTerm(key, ascending: descriptor.ascending)
    self.collation = collation
  }
}
