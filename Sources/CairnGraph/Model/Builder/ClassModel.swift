// Models made of classes: an entity a class, a property for each `@Managed` variable.

import CairnModel
import Foundation

extension NSManagedObjectModel {
  /// A model with an entity for each class, named as the class, and the properties that the classes declare with
  /// `@Managed`. No other list of them is needed.
  ///
  ///     final class Folder: NSManagedObject {
  ///       @Managed(.unique) var name: String
  ///       @Managed(deleteRule: .cascade) var notes: Set<Note>
  ///     }
  ///     final class Note: NSManagedObject {
  ///       @Managed var text: String?
  ///       @Managed var folder: Folder?
  ///     }
  ///     let model = NSManagedObjectModel(for: Folder.self, Note.self)
  ///
  /// - The type of a variable says the type of the attribute (an enumeration's raw type), whether it is optional,
  ///   and the destination of a relationship; an `Array` of objects is ordered. A number or Boolean that isn't
  ///   optional has the default value 0 or false, unless `@Managed(default:)` says another.
  /// - A class whose superclass is in the list inherits from its entity; the properties of other superclasses
  ///   become its own.
  /// - Two relationships are inverses if one names the other (`@Managed(inverse:)`), or if they are the only ones
  ///   between their two entities and neither names one.
  ///
  /// Variables in extensions of a class aren't found: an extension can keep nothing for them. What the classes
  /// don't say well is a fault of the model, found when it is used or validated.
  public convenience init(for types: NSManagedObject.Type..., fileID: String = #fileID) {
    self.init(fileID: fileID)
    let list = ClassModel(types)
    assemble(types.map { list.entity($0) })
    ClassModel.pairLonelyRelationships(of: self)
  }
}

/// Reads classes.
struct ClassModel {
  private let types: [NSManagedObject.Type]

  init(_ types: [NSManagedObject.Type]) {
    self.types = types
  }

  func entity(_ type: NSManagedObject.Type) -> NSEntityDescription {
    let mirrors = mirrors(of: type)
    let fields = mirrors.own.reversed().flatMap { mirror in
      mirror.children.compactMap { child -> NSPropertyDescription? in
        guard let label = child.label, label.hasPrefix("_managed_"),
          let field = child.value as? any AnyManagedField
        else { return nil }
        return property(String(label.dropFirst("_managed_".count)), Swift.type(of: field))
      }
    }
    return NSEntityDescription(
      Self.name(type), type, parent: mirrors.parent.map { Self.name($0) }
    ) { fields }
  }

  private static func name(_ type: NSManagedObject.Type) -> String { String(describing: type) }

  /// The mirrors of the class and its superclasses, up to the first that is in the list, which is the parent.
  ///
  /// They need an instance; it is one that answers to every key, as for finding the names of key paths.
  private func mirrors(
    of type: NSManagedObject.Type
  ) -> (own: [Mirror], parent: NSManagedObject.Type?) {
    let probe = KeyRecorder().makeProbe(type, variant: 0)
    var own = [Mirror(reflecting: probe)]
    while let next = own[own.count - 1].superclassMirror, next.subjectType != NSManagedObject.self {
      if let parent = next.subjectType as? NSManagedObject.Type, types.contains(where: { $0 == parent }) {
        return (own, parent)
      }
      own.append(next)
    }
    return (own, nil)
  }

  private func property(_ name: String, _ field: any AnyManagedField.Type) -> NSPropertyDescription {
    let options = field.options
    switch ManagedFieldType(field.valueType) {
    case .toOne(let type, let isOptional):
      return NSRelationshipDescription(
        name, to: destination(type), inverse: options.inverse, optional: isOptional,
        deleteRule: options.deleteRule, transient: options.traits.contains(.transient),
        originalName: options.originalName)
    case .toMany(let type, let isOrdered):
      return NSRelationshipDescription(
        name, toMany: destination(type), inverse: options.inverse, ordered: isOrdered,
        deleteRule: options.deleteRule, transient: options.traits.contains(.transient),
        originalName: options.originalName)
    case .attribute(let type, let isOptional, let valueForNil):
      let isTransient = options.traits.contains(.transient)
      let made = NSAttributeDescription(
        name, options.type ?? type ?? .undefined, optional: isOptional,
        default: Self.plain(options.defaultValue) ?? (isTransient ? nil : valueForNil),
        unique: options.traits.contains(.unique), indexed: options.traits.contains(.indexed),
        transient: isTransient, originalName: options.originalName)
      made.allowsExternalBinaryDataStorage = options.traits.contains(.externalStorage)
      made.preservesValueInHistoryOnDeletion = options.traits.contains(.preservedInHistory)
      return made
    }
  }

  /// The name of a class's entity. Of a class that isn't in the list it leads nowhere, which is a fault of the model.
  private func destination(_ type: NSManagedObject.Type) -> String {
    Self.name(type)
  }

  /// An enumeration's raw value; other values as they are.
  private static func plain(_ value: Any?) -> Any? {
    func raw<T: RawRepresentable>(_ value: T) -> Any { value.rawValue }
    guard let value else { return nil }
    if value is any ManagedAttribute, let enumeration = value as? any RawRepresentable {
      return raw(enumeration)
    }
    return value
  }

  /// Makes inverses of two relationships that are the only ones between their entities and have none.
  static func pairLonelyRelationships(of model: NSManagedObjectModel) {
    let all = model.entities.flatMap { $0.ownProperties.compactMap { $0 as? NSRelationshipDescription } }
    let lonely = all.filter { $0.currentInverseName == nil }
    for relationship in lonely where relationship.inverseRelationship == nil {
      guard let owner = relationship.owner, let destination = relationship.destinationEntity,
        owner !== destination
      else { continue }
      let back = lonely.filter { $0.owner === destination && $0.destinationEntity === owner }
      let same = lonely.filter { $0.owner === owner && $0.destinationEntity === destination }
      guard back.count == 1, same.count == 1 else { continue }
      relationship.inverseRelationship = back[0]
      back[0].inverseRelationship = relationship
    }
  }
}
