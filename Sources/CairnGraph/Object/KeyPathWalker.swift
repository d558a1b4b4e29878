// Key paths over objects, dictionaries and collections, with their collection operators: for predicates and for
// `value(forKeyPath:)`.
//
// Over an ordered collection a key gives an ordered collection, in which NSNull stands for nil; over an unordered
// one, a collection without nil and without equal elements.

import CairnModel
import Foundation

/// Follows key paths.
struct KeyPathWalker {
  /// Whether reading a property makes a fault call `awakeFromFetch`.
  var firesFaults = true
  /// For the number of results of a fetch request that stands in a key path.
  var context: NSManagedObjectContext?

  /// What the path leads to from an operand. Throws `PredicateEvaluationError` for unknown keys, and for
  /// operators over what isn't a collection.
  func value(of start: Operand, at names: some Collection<String>) throws -> Operand {
    var operand = start
    var rest = Array(names)[...]
    while let name = rest.popFirst() {
      if operand.isNone { return .none }
      if name.hasPrefix("@") {
        operand = try collect(operand, name, &rest)
      } else if case .object(let object) = operand, let composite = compositeSlot(object, name, rest) {
        operand = .value(read(object, composite))
        rest = []
      } else {
        operand = try step(operand, name)
      }
    }
    return operand
  }

  /// What one key gives.
  func step(_ operand: Operand, _ name: String) throws -> Operand {
    switch operand {
    case .null: return .null
    case .list(let elements): return .list(try elements.map { try step($0, name).asElement })
    case .set(let elements): return .distinct(try elements.map { try step($0, name) })
    case .object(let object): return try read(object, name)
    case .dictionary(let values): return name == "self" ? operand : Operand(values[name])
    case .value(let value) where value.isNull: return .none
    case .value, .id, .other: return try read(operand, name)
    }
  }

  // MARK: Objects

  private func read(_ object: NSManagedObject, _ name: String) throws -> Operand {
    switch object.table.entity.properties[name] {
    case .attribute(let slot, _): return try read(object, slot, named: name)
    case .transient: return Operand(object.transientValue(name))
    case .relationship(let relation) where !relation.isToMany:
      return object.destination(of: relation).map { .object($0) } ?? .none
    case .relationship(let relation):
      let members = object.destinations(of: relation).map { Operand.object($0) }
      return relation.isOrdered ? .list(members) : .set(members)
    case nil: break
    }
    if let composite = object.table.entity.composites[name] {
      return read(object, composite).map { .dictionary(.strings($0)) } ?? .none
    }
    if object.table.entity.fetchedProperties[name] != nil { return Operand(object.value(forKey: name)) }
    if let reader = KeyedMembers.of(object)?.reader(name) { return Operand(reader(object)) }
    switch name {
    case "self": return .object(object)
    case "objectID": return .id(object.objectID)
    default:
      throw PredicateEvaluationError(
        .unknownKey,
        "the entity \(object.table.entity.name) is not key value coding-compliant for the key \"\(name)\". "
          + "Its properties are: \(object.table.entity.properties.keys.sorted().joined(separator: ", "))")
    }
  }

  private func read(_ object: NSManagedObject, _ slot: Int) -> Value {
    firesFaults ? object.slotValue(slot) : object.peekedValue(slot)
  }

  /// An attribute as predicates see it: what a transformable one was made of.
  private func read(_ object: NSManagedObject, _ slot: Int, named name: String) throws -> Operand {
    let value = read(object, slot)
    guard let transformer = object.table.entity.transformers[slot], case .data(let data) = value else {
      return .value(value)
    }
    do {
      return Operand(try transformer.value(from: data))
    } catch {
      throw PredicateEvaluationError(.unsupportedTypes, "\(object.table.entity.name).\(name): \(error)")
    }
  }

  /// nil where all elements are.
  private func read(_ object: NSManagedObject, _ composite: CompiledComposite) -> [String: Any]? {
    var result: [String: Any] = [:]
    for element in composite.elements {
      switch element.content {
      case .slot(let slot, _): result[element.name] = read(object, slot).keyValueForm
      case .composite(let inner): result[element.name] = read(object, inner)
      }
    }
    return result.isEmpty ? nil : result
  }

  /// The slot of an element of a composite attribute, named by the whole rest of a path.
  private func compositeSlot(_ object: NSManagedObject, _ name: String, _ rest: ArraySlice<String>) -> Int? {
    if rest.isEmpty { return nil }
    if case .relationship = object.table.entity.properties[name] { return nil }
    return object.table.entity.schema.slot(named: ([name] + rest).joined(separator: "."))
  }

  private func read(_ operand: Operand, _ name: String) throws -> Operand {
    if name == "self" { return operand }
    if case .other(let any) = operand {
      if let reader = KeyedMembers.of(any)?.reader(name) { return Operand(reader(any)) }
      if let readable = any as? any KeyValueReadable {
        if readable.hasValue(forKey: name) { return Operand(readable.value(forKey: name)) }
      } else if let found = KeyPathWalker.storedProperty(name, of: any) {
        return Operand(found)
      }
    }
    if !name.contains(":"), let body = PredicateSelectors.body(of: name, for: operand) {
      return try body(operand, [])
    }
    throw PredicateEvaluationError(
      .unknownKey, "\(operand.kind) is not key value coding-compliant for the key \"\(name)\"")
  }

  /// By reflection, superclasses' too.
  private static func storedProperty(_ name: String, of any: Any) -> Any?? {
    var mirror: Mirror? = Mirror(reflecting: any)
    while let current = mirror {
      if let child = current.children.first(where: { $0.label == name }) { return unwrapped(child.value) }
      mirror = current.superclassMirror
    }
    return nil
  }
}

extension NSManagedObject {
  /// The value at the end of a dotted path, in which collection operators stand as in `kids.@sum.age`. A path
  /// through a to-many gives a collection.
  ///
  /// An unknown key, and an operator over something that is no collection, is a programmer error.
  public final func value(forKeyPath keyPath: String) -> Any? {
    guard case .keyPath(let names) = ExpressionTree(keyPath: keyPath) else { return nil }
    if names.count == 1, !names[0].hasPrefix("@") { return value(forKey: names[0]) }
    do {
      return try KeyPathWalker(context: managedObjectContext).value(of: .object(self), at: names).any
    } catch {
      fatalError("\(error)")
    }
  }
}
