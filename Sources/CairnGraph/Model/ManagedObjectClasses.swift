// Which class the objects of an entity have: from the names in a model to types.

import CairnModel
import Foundation

extension NSManagedObjectModel {
  /// Cairn's own: makes classes known under their full and their bare names, for models that name classes which
  /// can't be found by name: nested and private ones, and those of a module that isn't the model's. Of two classes
  /// with one bare name, the one that was registered last has it.
  public static func registerManagedObjectClasses(_ types: NSManagedObject.Type...) {
    ManagedObjectClasses.register(types)
  }
}

/// The classes of one model's entities. A class is looked for, in this order: as the one that was given as a type or
/// that was used for the entity; among the registered ones; by its full name; in the module of the file that made or
/// read the model; in the main module.
final class ManagedObjectClasses: Sendable {
  private static let registered = Lock<[String: NSManagedObject.Type]>([:])

  /// The classes' names as the model has them, by entity.
  private let names: [String]
  /// The module that made or read the model.
  private let module: String
  private let known: Lock<[Int: NSManagedObject.Type]>

  init(_ entities: [NSEntityDescription], fileID: String) {
    module = fileID.split(separator: "/").first.map(String.init) ?? ""
    names = entities.map { $0.managedObjectClassName ?? "NSManagedObject" }
    var given: [Int: NSManagedObject.Type] = [:]
    for (index, entity) in entities.enumerated() { given[index] = entity.givenClass }
    known = Lock(given)
  }

  static func register(_ types: [NSManagedObject.Type]) {
    registered.withLock { table in
      for type in types {
        table[String(reflecting: type)] = type
        table[String(describing: type)] = type
      }
    }
  }

  func objectClass(ofEntity index: Int) -> NSManagedObject.Type {
    if let found = known.withLock({ $0[index] }) { return found }
    guard let found = lookUp(names[index]) else {
      return NSManagedObject.self  // not kept: a class may be used or registered later
    }
    known.withLock { $0[index] = found }
    return found
  }

  private func lookUp(_ name: String) -> NSManagedObject.Type? {
    if name == "NSManagedObject" { return NSManagedObject.self }
    let bare = name.hasPrefix(".") ? String(name.dropFirst()) : name
    if let found = Self.registered.withLock({ $0[bare] }) { return found }
    let candidates =
      name.contains(".") && name == bare ? [name] : [module + "." + bare, Self.mainModule + "." + bare]
    for candidate in candidates {
      if let found = NSClassFromString(candidate) as? NSManagedObject.Type { return found }
    }
    return nil
  }

  /// By the name of the executable, whose module has it too, with underscores for what a name can't have.
  private static let mainModule = String(
    (ProcessInfo.processInfo.processName).map { $0.isLetter || $0.isNumber ? $0 : "_" })

  /// The one entity whose objects are of `type`; nil when there isn't exactly one. A class that is used so is known
  /// from then on.
  func entity(for type: NSManagedObject.Type) -> Int? {
    let known = known.withLock { table in table.filter { $0.value == type }.map(\.key) }
    if known.count == 1 { return known[0] }
    if type == NSManagedObject.self { return nil }
    let full = String(reflecting: type)
    let bare = String(describing: type)
    let matches = names.indices.filter {
      names[$0] == full || names[$0] == bare || names[$0] == "." + bare
    }
    guard matches.count == 1, let match = matches.first else { return nil }
    self.known.withLock { $0[match] = type }
    return match
  }
}
