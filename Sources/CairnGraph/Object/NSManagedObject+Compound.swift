// Attributes that are more than one value of a slot: transformable ones, which are kept as bytes, and composite
// ones, which are several slots; and fetched properties, which aren't kept at all.

import CairnModel
import Foundation

extension NSManagedObject {
  // MARK: Transformable

  /// The value of a slot as key-value access gives it.
  final func keyValueForm(_ value: Value, _ slot: Int) -> Any? { table.keyValueForm(value, slot) }

  /// What a slot of `type` keeps of a value that a caller gave; a value that doesn't fit is a programmer error.
  final func fitting(_ any: Any?, _ type: ValueType, _ slot: Int, _ key: String) -> Value {
    guard let transformer = table.entity.transformers[slot] else {
      guard let value = Value(any, for: type) else { trapWrongType(key, any, desired: "\(type)") }
      return value
    }
    guard let any, !(any is NSNull) else { return .null }
    do {
      return .data(try transformer.data(for: any))
    } catch {
      fatalError("\(table.entity.name).\(key) can't keep \(any): \(error)")
    }
  }

  // MARK: Composite

  /// The elements by name, without those that are nil; nil when all are.
  final func compositeForm(_ composite: CompiledComposite, _ value: (Int) -> Value) -> [String: Any]? {
    composite.form(value) { keyValueForm($0, $1) }
  }

  /// Sets every element: those that aren't in the dictionary become nil. An unknown element is a programmer error.
  final func setComposite(_ any: Any?, _ composite: CompiledComposite, _ key: String) {
    let given: [String: Any]
    switch any {
    case nil, is NSNull: given = [:]
    case let dictionary as [String: Any]: given = dictionary
    default: trapWrongType(key, any, desired: "NSDictionary")
    }
    let names = composite.elements.map(\.name)
    if let unknown = given.keys.first(where: { !names.contains($0) }) {
      fatalError(
        "the composite attribute \(table.entity.name).\(key) has no element \"\(unknown)\"; its elements are: "
          + names.joined(separator: ", "))
    }
    for element in composite.elements {
      let path = "\(key).\(element.name)"
      switch element.content {
      case .slot(let slot, let type): writeSlot(slot, fitting(given[element.name], type, slot, path))
      case .composite(let inner): setComposite(given[element.name], inner, path)
      }
    }
  }

  // MARK: Fetched

  /// The result of a fetched property's request, kept until the object is refreshed or becomes a fault.
  final func fetchedObjects(_ property: NSFetchedPropertyDescription) -> NSArray {
    if let known = changes?.fetched[property.name] { return known }
    fire()
    guard let context = table.context, let request = property.fetchRequest else { return [] }
    do {
      let found = NSArray(array: try context.fetch(request.asked(of: self, property)))
      ensureChanges().fetched[property.name] = found
      return found
    } catch {
      context.keep(error)
      return []
    }
  }
}

extension NSFetchRequest {
  /// The request of a fetched property for one object: its variables replaced.
  fileprivate final func asked(
    of source: NSManagedObject, _ property: NSFetchedPropertyDescription
  ) -> NSFetchRequest<ResultType> {
    guard let request = copy() as? NSFetchRequest<ResultType> else { return self }
    request.predicate = predicate?.withSubstitutionVariables([
      "FETCH_SOURCE": source, "FETCHED_PROPERTY": property,
    ])
    return request
  }
}

extension NSManagedObjectContext {
  /// Remembers what went wrong under a getter: the next fetch or save throws it.
  final func keep(_ error: any Error) { deferredError = deferredError ?? error }
}

extension EntityTable {
  /// The value of a slot as key-value access and dictionaries give it.
  func keyValueForm(_ value: Value, _ slot: Int) -> Any? {
    guard case .data(let data) = value, let transformer = entity.transformers[slot] else {
      return value.keyValueForm
    }
    do {
      return try transformer.value(from: data)
    } catch {
      // A getter can't throw: the next fetch or save does.
      context?.keep(
        StoreError(.corrupt, "\(error)", entity: entity.name, property: entity.schema.slots[slot].name))
      return nil
    }
  }
}

extension CompiledComposite {
  /// A row's elements by name, without those that are nil; nil when all are.
  func form(_ value: (Int) -> Value, _ any: (Value, Int) -> Any? = { value, _ in value.keyValueForm })
    -> [String:
    Any]?
  {
    var result: [String: Any] = [:]
    for element in elements {
      switch element.content {
      case .slot(let slot, _): result[element.name] = any(value(slot), slot)
      case .composite(let inner): result[element.name] = inner.form(value, any)
      }
    }
    return result.isEmpty ? nil : result
  }
}
