// What expressions give while a predicate is evaluated over objects.

import CairnModel
import Foundation

/// One result of an expression.
indirect enum Operand {
  /// A plain value; nil is `.value(.null)`.
  case value(Value)
  /// NSNull: what stands for nil among the elements of an ordered collection. Not equal to nil.
  case null
  /// An ordered collection.
  case list([Operand])
  /// An unordered collection, without nil and without equal elements.
  case set([Operand])
  case object(NSManagedObject)
  case id(NSManagedObjectID)
  case dictionary(KeyedValues)
  /// Anything else.
  case other(Any)

  static var none: Operand { .value(.null) }

  var isNone: Bool {
    if case .value(let value) = self { value.isNull } else { false }
  }

  /// Nil, or what stands for it.
  var isMissing: Bool {
    switch self {
    case .null: true
    default: isNone
    }
  }

  /// The elements of a collection, of a dictionary its values; nil of anything else.
  var elements: [Operand]? {
    switch self {
    case .list(let elements), .set(let elements): elements
    case .dictionary(let values): values.values
    default: nil
    }
  }

  /// An unordered collection of what isn't nil, each once.
  static func distinct(_ operands: some Sequence<Operand>) -> Operand {
    .set(distinctElements(operands.lazy.filter { !$0.isNone }))
  }

  static func distinctElements(_ operands: some Sequence<Operand>) -> [Operand] {
    var seen: Set<Operand> = []
    return operands.filter { seen.insert($0).inserted }
  }
}

/// A dictionary of Swift's or of Foundation's.
enum KeyedValues {
  case strings([String: Any])
  case any([AnyHashable: Any])
  case foundation(NSDictionary)

  subscript(key: String) -> Any? {
    switch self {
    case .strings(let table): table[key]
    case .any(let table): table[key]
    case .foundation(let table): table.object(forKey: key)
    }
  }

  subscript(key: AnyHashable) -> Any? {
    switch self {
    case .strings(let table): (key.base as? String).flatMap { table[$0] }
    case .any(let table): table[key]
    case .foundation(let table): table.object(forKey: key.base)
    }
  }

  var count: Int {
    switch self {
    case .strings(let table): table.count
    case .any(let table): table.count
    case .foundation(let table): table.count
    }
  }

  var any: Any {
    switch self {
    case .strings(let table): table
    case .any(let table): table
    case .foundation(let table): table
    }
  }

  /// In the order of their keys, so that what is made of them doesn't change from run to run.
  var values: [Operand] {
    let table: [AnyHashable: Any] =
      switch self {
      case .strings(let table): table
      case .any(let table): table
      case .foundation(let table): table as? [AnyHashable: Any] ?? [:]
      }
    return table.map { (key: String(describing: $0.key.base), value: $0.value) }
      .sorted { $0.key < $1.key }
      .map { Operand($0.value) }
  }
}

extension Operand {
  /// What an object, a value or a collection of Swift's or of Foundation's is.
  init(_ any: Any?) {
    guard let any = any.flatMap(unwrapped) else {
      self = .none
      return
    }
    if let value = Value(argument: any) {
      self = .value(value)
      return
    }
    switch any {
    case let object as NSManagedObject: self = .object(object)
    case let id as NSManagedObjectID: self = .id(id)
    case let table as [String: Any]: self = .dictionary(.strings(table))
    case is NSNull: self = .null
    case let table as NSDictionary: self = .dictionary(.foundation(table))
    case let table as [AnyHashable: Any]: self = .dictionary(.any(table))
    case let list as NSOrderedSet: self = .list(list.array.map { Operand($0) })
    case let set as NSSet: self = .distinct(set.allObjects.map { Operand($0) })
    case let list as NSArray: self = .list(list.map { Operand($0) })
    case let list as [Any?]: self = .list(list.map { Operand($0).asElement })
    case let set as Set<AnyHashable>: self = .distinct(set.map { Operand($0.base) })
    case let readable as any KeyValueReadable: self = .other(readable)
    case let raw as any RawRepresentable: self = Operand(raw.rawValue)
    case let collection as any Collection: self = Operand.elements(of: collection)
    default: self = .other(any)
    }
  }

  private static func elements(of collection: some Collection) -> Operand {
    .list(collection.map { Operand($0).asElement })
  }

  /// As an element of an ordered collection: NSNull for nil.
  var asElement: Operand { isNone ? .null : self }

  /// As it is given to a program's own code: numbers as NSNumber, lists as arrays, sets as NSSet.
  var any: Any? {
    switch self {
    case .value(.key(let key)): NSNumber(value: key)
    case .value(.composite(let values)): values.compactMapValues(\.keyValueForm)
    case .value(let value): value.keyValueForm
    case .null: NSNull()
    case .list(let elements): elements.map { $0.any ?? NSNull() }
    case .set(let elements): NSSet(array: elements.compactMap(\.any))
    case .object(let object): object
    case .id(let id): id
    case .dictionary(let values): values.any
    case .other(let any): any
    }
  }

  /// What it is, for an error.
  var kind: String {
    switch self {
    case .value(let value):
      switch value {
      case .null: "nil"
      case .bool: "a truth value"
      case .composite: "a composite value"
      default: value.family.map { "a \($0)" } ?? "nil"
      }
    case .null: "NSNull"
    case .list: "an ordered collection"
    case .set: "a collection"
    case .object(let object): "an object of \(object.entity.name ?? "an entity")"
    case .id: "an object ID"
    case .dictionary: "a dictionary"
    case .other(let any): "a \(type(of: any))"
    }
  }
}

// MARK: The one equality

extension Operand: Hashable {
  static func == (a: Operand, b: Operand) -> Bool {
    switch (a, b) {
    case (.value(let x), .value(let y)): x == y
    case (.null, .null): true
    case (.object(let x), .object(let y)): x === y || x.objectID == y.objectID
    case (.object(let x), .id(let y)), (.id(let y), .object(let x)): x.objectID == y
    case (.id(let x), .id(let y)): x == y
    case (.object(let x), .value(.key(let key))), (.value(.key(let key)), .object(let x)): x.key == key
    case (.id(let x), .value(.key(let key))), (.value(.key(let key)), .id(let x)): x.key == key
    case (.list(let x), .list(let y)): x == y
    case (.set(let x), .set(let y)), (.set(let x), .list(let y)), (.list(let x), .set(let y)):
      Set(x) == Set(y)
    case (.dictionary(let x), .dictionary(let y)): AnyConstant.areEqual(x.any, y.any)
    case (.other(let x), .other(let y)): AnyConstant.areEqual(x, y)
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    switch self {
    case .value(let value): hasher.combine(value)
    case .null: hasher.combine(1)
    // A list equals a set of the same elements, so order mustn't count.
    case .list(let elements), .set(let elements): hasher.combine(Set(elements))
    case .object(let object): hasher.combine(object.key)
    case .id(let id): hasher.combine(id.key)
    case .dictionary(let values): hasher.combine(values.count)
    case .other(let any): if let hashable = any as? AnyHashable { hasher.combine(hashable) }
    }
  }
}
