// What attributes and relationships have in common. Mutable until the model is first used, constant from then on.

public import Foundation

/// A property of an entity: its name, whether it may be nil, whether it is stored.
///
/// Sendable: a description is written by whoever builds the model, before the model is used by a coordinator;
/// every setter traps after that ("Can't modify an immutable model."), so that what is shared is constant.
open class NSPropertyDescription: NSObject, @unchecked Sendable {
  final var isFrozen = false
  final weak var owner: NSEntityDescription?

  /// Empty until it is set; a model with an unnamed property doesn't compile.
  public final var name = "" { willSet { requireMutable() } }
  public final var isOptional = true { willSet { requireMutable() } }
  /// Kept in memory for as long as the object lives, never stored.
  public final var isTransient = false { willSet { requireMutable() } }
  public final var versionHashModifier: String? { willSet { requireMutable() } }
  public final var userInfo: [AnyHashable: Any]? = [:] { willSet { requireMutable() } }

  private final var givenRenamingIdentifier: String?

  /// The name that the property had in an earlier version of the model; its present name unless set.
  public final var renamingIdentifier: String? {
    get { givenRenamingIdentifier ?? name }
    set {
      requireMutable()
      givenRenamingIdentifier = newValue
    }
  }

  public override init() {}

  /// The entity whose `properties` list this property. A programmer error before it is in one.
  public final var entity: NSEntityDescription {
    guard let owner else { fatalError("the property \"\(name)\" isn't in the properties of any entity") }
    return owner
  }

  final func requireMutable() {
    if isFrozen { fatalError("Can't modify an immutable model.") }
  }

  /// Makes every setter trap from now on.
  func freeze() { isFrozen = true }
}
