// `@Managed`, and what the types of managed properties have to be able to do.

/// Makes a variable of an `NSManagedObject` subclass a property of its entity of the same name.
///
/// The variable's type is one of `ManagedValue`'s; a property that may be nil should be declared optional.
///
///     final class Flight: NSManagedObject {
///       @Managed var number: Int32
///       @Managed var airline: Airline?
///     }
///
/// The arguments are for models that are made of classes (`NSManagedObjectModel(for:)`): traits of the attribute,
/// the property that leads back (on one side only: of two key paths that name each other the compiler says that they
/// go in a circle), what a delete does to the destination, the name in an earlier version of the model, the value of
/// new objects, and the attribute's type where the variable's doesn't say it. Any other model says all that itself.
///
///     @Managed(.unique, default: "New") var name: String
///     @Managed(inverse: \Note.folder, deleteRule: .cascade) var notes: Set<Note>
@attached(accessor)
@attached(peer, names: prefixed(_managed_), prefixed(_ManagedOptions_))
public macro Managed(
  _ traits: ManagedTrait..., inverse: AnyKeyPath? = nil, deleteRule: NSDeleteRule = .nullifyDeleteRule,
  originalName: String? = nil, default defaultValue: Any? = nil,
  type: NSAttributeDescription.AttributeType? = nil
) = #externalMacro(module: "CairnMacros", type: "ManagedMacro")

/// A type that a managed property can have: numbers, Bool, String, Date, Data, UUID, URL, Decimal; enumerations
/// with raw values of these that declare `ManagedAttribute`; object classes and optionals of all of them; for a
/// to-many relationship a `Set`, or an `Array` in order.
public protocol ManagedValue {
  static func managedGet(_ object: NSManagedObject, _ key: StaticString) -> Self
  /// nil where the property is nil.
  static func managedGetOptional(_ object: NSManagedObject, _ key: StaticString) -> Self?
  /// nil makes the property nil.
  static func managedSet(_ value: Self?, _ object: NSManagedObject, _ key: StaticString)
}

extension NSManagedObject {
  /// What `@Managed` reads with. A key that the entity doesn't have, and a type that its property can't be read
  /// as, are programmer errors.
  @inlinable @_disfavoredOverload
  public final func managedValue<T: ManagedValue>(forKey key: StaticString) -> T {
    T.managedGet(self, key)
  }

  /// What `@Managed` writes with; maintains the inverse of a relationship. Programmer errors as in
  /// `managedValue`, and a value that the attribute's type can't hold.
  @inlinable
  public final func setManagedValue<T: ManagedValue>(_ value: T, forKey key: StaticString) {
    T.managedSet(value, self, key)
  }
}

extension Optional: ManagedValue where Wrapped: ManagedValue {
  @inlinable
  public static func managedGet(_ object: NSManagedObject, _ key: StaticString) -> Wrapped? {
    Wrapped.managedGetOptional(object, key)
  }

  @inlinable
  public static func managedGetOptional(_ object: NSManagedObject, _ key: StaticString) -> Wrapped?? {
    Wrapped.managedGetOptional(object, key)
  }

  @inlinable
  public static func managedSet(_ value: Wrapped??, _ object: NSManagedObject, _ key: StaticString) {
    Wrapped.managedSet(value ?? nil, object, key)
  }
}
