// What `@Managed` leaves in a class for a model that is made of classes: a constant of no size for each property.

import CairnModel
import Foundation

/// Something about an attribute that a class says of itself.
public enum ManagedTrait: Sendable, Hashable {
  /// No two objects of the entity have one value.
  case unique
  /// The store keeps an index.
  case indexed
  /// Kept in memory only.
  case transient
  /// Part of the version hash; Cairn's stores keep all bytes themselves.
  case externalStorage
  /// History keeps the value of a deleted object.
  case preservedInHistory
}

/// The arguments of one `@Managed`, with names in place of key paths.
public struct ManagedPropertyOptions {
  let traits: Set<ManagedTrait>
  let inverse: String?
  let deleteRule: NSDeleteRule
  let originalName: String?
  let defaultValue: Any?
  let type: NSAttributeDescription.AttributeType?

  public init(
    _ traits: ManagedTrait..., inverse: String? = nil, deleteRule: NSDeleteRule = .nullifyDeleteRule,
    originalName: String? = nil, default defaultValue: Any? = nil,
    type: NSAttributeDescription.AttributeType? = nil
  ) {
    self.traits = Set(traits)
    self.inverse = inverse
    self.deleteRule = deleteRule
    self.originalName = originalName
    self.defaultValue = defaultValue
    self.type = type
  }
}

/// Has the arguments of one `@Managed`; made by the macro.
public protocol ManagedFieldOptions {
  static var options: ManagedPropertyOptions { get }
}

/// Tells the type of a managed property without arguments; made by the macro. Takes no memory in an object.
public struct ManagedField<Value: ManagedValue>: Sendable {
  public init() {}
}

/// Tells the type of a managed property with arguments; made by the macro. Takes no memory in an object.
public struct ManagedFieldWithOptions<Value: ManagedValue, Options: ManagedFieldOptions>: Sendable {
  public init() {}
}

/// A field of either kind.
protocol AnyManagedField {
  static var valueType: any ManagedValue.Type { get }
  static var options: ManagedPropertyOptions { get }
}

extension ManagedField: AnyManagedField {
  static var valueType: any ManagedValue.Type { Value.self }
  static var options: ManagedPropertyOptions { ManagedPropertyOptions() }
}

extension ManagedFieldWithOptions: AnyManagedField {
  static var valueType: any ManagedValue.Type { Value.self }
  static var options: ManagedPropertyOptions { Options.options }
}
