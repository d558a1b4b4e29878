// The names of the properties that a Swift key path leads through, which it doesn't know itself off Apple's
// platforms.
//
// They are found by reading the key path from a probe: an instance of the class whose properties note that they
// were read. It is read twice, and gives other values the second time; a key path that gives anything but the
// value of the property that was read last leads through a computed property.

import CairnModel
import Foundation

extension AnyKeyPath {
  /// The dotted names of the modelled properties that the key path leads through, `"self"` for none; nil where
  /// it starts from anything but an object class, or leads through anything but modelled properties.
  ///
  ///     (\Flight.airline?.carrier).propertyNames   // "airline.carrier"
  public final var propertyNames: String? { KeyPathNames.name(of: self) }
}

enum KeyPathNames {
  static func name(of path: AnyKeyPath) -> String? {
    guard let root = type(of: path).rootType as? NSManagedObject.Type else { return nil }
    let recorder = KeyRecorder()
    for variant in 0...1 {
      let probe = recorder.makeProbe(root, variant: variant)
      let result = (probe as Any)[keyPath: path].flatMap(unwrapped)
      guard recorder.isPlain(result, of: probe) else { return nil }
    }
    return recorder.names.isEmpty ? "self" : recorder.names.joined(separator: ".")
  }

  /// A key path without a name is a programmer error.
  static func requireName(of path: AnyKeyPath) -> String {
    guard let name = name(of: path) else {
      fatalError(
        "the key path from \(type(of: path).rootType) to \(type(of: path).valueType) has no name: it has to lead "
          + "from an object class through properties that are declared with @Managed; give the key as a string"
      )
    }
    return name
  }
}

/// Notes which properties are read of a probe, and gives them values. Used by one thread, for one key path.
final class KeyRecorder {
  private(set) var names: [String] = []
  /// The object whose property is read next, if the path is plain.
  private var tip: NSManagedObject?
  private var last: Any?
  private var isCollection = false
  private var isChain = true
  private var variant = 0

  /// An instance without properties of its own, whose reads come here.
  func makeProbe<T: NSManagedObject>(_ type: T.Type, variant: Int) -> T {
    self.variant = variant
    names = []
    isChain = true
    last = nil
    isCollection = false
    let probe = probe(type)
    tip = probe
    return probe
  }

  private func probe<T: NSManagedObject>(_ type: T.Type) -> T {
    let probe = type.init(entity: KeyRecorder.probing.entity, insertInto: nil)
    probe.table.recorder = self
    return probe
  }

  /// Whether `result` is what the reads that were noted lead to.
  func isPlain(_ result: Any?, of probe: NSManagedObject) -> Bool {
    guard isChain else { return false }
    if names.isEmpty { return (result as AnyObject) === probe }
    if isCollection { return (result as? any Collection)?.isEmpty ?? ((result as? NSSet)?.count == 0) }
    switch (result, last) {
    case (nil, nil): return true
    case (let x?, let y?): return AnyConstant.areEqual(x, y)
    // What array and dictionary properties have for nil.
    case (let x?, nil): return (x as? [Any])?.isEmpty ?? (x as? [String: Any])?.isEmpty ?? false
    default: return false
    }
  }

  private func note(_ key: String, of object: NSManagedObject) {
    if object !== tip { isChain = false }
    tip = nil
    names.append(key)
  }

  // MARK: What properties ask

  func attribute<T: ManagedAttribute>(_ key: StaticString, _ type: T.Type, of object: NSManagedObject) -> T? {
    note(key.description, of: object)
    let value = KeyRecorder.sample(type, variant)
    last = value
    return value
  }

  func destination<T: NSManagedObject>(_ key: StaticString, _ type: T.Type, of object: NSManagedObject) -> T {
    note(key.description, of: object)
    let next = probe(type)
    tip = next
    last = next
    return next
  }

  func collection(_ key: StaticString, of object: NSManagedObject) {
    note(key.description, of: object)
    isCollection = true
  }

  /// A read by name, of a property that is kept through a value transformer.
  func untyped(_ key: String, of object: NSManagedObject) -> Any? {
    note(key, of: object)
    last = nil
    return nil
  }

  // MARK: Values

  /// A value of the type, another for each variant where there are two.
  private static func sample<T: ManagedAttribute>(_ type: T.Type, _ variant: Int) -> T? {
    var found: [T] = []
    for value in samples {
      guard let value = T.read(value, ifAccepted: T.acceptedTypes) else { continue }
      found.append(value)
      if found.count > variant { return value }
    }
    return found.last ?? (T.self as? any CaseIterable.Type)?.firstCase as? T ?? zero(T.self)
  }

  private static let samples: [Value] = [
    .int(0), .int(1), .int(2), .bool(false), .double(1.5), .double(2.5), .float(1.5), .float(2.5),
    .string("a"), .string("b"), .date(Date(timeIntervalSinceReferenceDate: 0)),
    .date(Date(timeIntervalSinceReferenceDate: 1)), .data(Data()), .data(Data([1])),
    .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
    .uuid(UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))), .uri("a:"), .uri("b:"), .decimal(1),
    .decimal(2),
  ]

  /// The first case of an enumeration whose raw values none of the samples is.
  private static func zero<T>(_ type: T.Type) -> T? {
    guard _isPOD(type), MemoryLayout<T>.size > 0 else { return nil }
    return withUnsafeTemporaryAllocation(of: T.self, capacity: 1) { memory in
      UnsafeMutableRawBufferPointer(memory).initializeMemory(as: UInt8.self, repeating: 0)
      return memory[0]
    }
  }

  /// An entity without properties, and the model that owns it.
  private static let probing: (model: NSManagedObjectModel, entity: NSEntityDescription) = {
    let entity = NSEntityDescription()
    entity.name = "KeyPathProbe"
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return (model, entity)
  }()
}

extension CaseIterable {
  fileprivate static var firstCase: Any? { allCases.first }
}

extension ManagedAttribute {
  /// The value, if it is of a type that this one is read from.
  fileprivate static func read(_ value: Value, ifAccepted types: UInt32) -> Self? {
    let isAccepted = ValueType.allCases.contains { $0.bit & types != 0 && value.fits($0) }
    return isAccepted ? read(value) : nil
  }
}
