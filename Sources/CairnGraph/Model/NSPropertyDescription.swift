// What all properties have in common. Mutable until the model is first used, constant from then on.

public import Foundation

/// A property of an entity: its name, whether it may be nil, whether it is stored.
///
/// Equal are properties of one kind that are described alike, with destinations, inverses and owners compared by
/// name.
///
/// Sendable: a description is written by whoever builds the model, before the model is used by a coordinator;
/// every setter traps after that ("Can't modify an immutable model."), so that what is shared is constant.
open class NSPropertyDescription: NSObject, NSCopying, @unchecked Sendable {
  private(set) final var isFrozen = false
  private final var ownerLink = EntityLink(nil)
  final var owner: NSEntityDescription? {
    get { ownerLink.entity }
    set { ownerLink = EntityLink(newValue) }
  }

  /// Empty until it is set; a model with an unnamed property doesn't compile.
  public final var name = "" { willSet { requireMutable() } }
  public final var isOptional = true { willSet { requireMutable() } }
  /// Kept in memory for as long as the object lives, never stored.
  public final var isTransient = false { willSet { requireMutable() } }
  public final var versionHashModifier: String? { willSet { requireMutable() } }
  public final var userInfo: [AnyHashable: Any]? = [:] { willSet { requireMutable() } }
  /// Kept for whoever reads the model; Cairn has no Spotlight.
  public final var isIndexedBySpotlight = false { willSet { requireMutable() } }
  /// The older way to ask for an index over this property alone: the compiled model has one named after it.
  public final var isIndexed = false { willSet { requireMutable() } }

  /// Whether the initialiser of the entity is to make a uniqueness constraint of this property alone.
  final var isMarkedUnique = false
  private final var givenRenamingIdentifier: String?
  private final var givenPredicates: [NSPredicate] = []
  private final var givenWarnings: [Any] = []

  public required override init() {}

  /// The name that the property had in an earlier version of the model; its present name unless set.
  public final var renamingIdentifier: String? {
    get { givenRenamingIdentifier ?? name }
    set {
      requireMutable()
      givenRenamingIdentifier = newValue
    }
  }

  /// The entity whose `properties` list this property. A programmer error before it is in one.
  public final var entity: NSEntityDescription {
    guard let owner else { fatalError("the property \"\(name)\" isn't in the properties of any entity") }
    return owner
  }

  // MARK: Validation

  /// What a value has to satisfy, besides being of the type: each predicate is evaluated on the value itself.
  public final var validationPredicates: [NSPredicate] { givenPredicates }

  /// What goes with each predicate: a text, or the number of the error that its failure is.
  public final var validationWarnings: [Any] { givenWarnings }

  /// Replaces the validation predicates. `validationWarnings` has one text a predicate, or is nil for none; another
  /// number of texts is a programmer error.
  public final func setValidationPredicates(
    _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
  ) {
    setValidation(validationPredicates ?? [], warnings: validationWarnings ?? [])
  }

  /// As the public one; a warning may be the `NSNumber` of an error, as model files have it.
  final func setValidation(_ predicates: [NSPredicate], warnings: [Any]) {
    requireMutable()
    guard warnings.isEmpty || warnings.count == predicates.count else {
      fatalError(
        "\(predicates.count) validation predicates need as many warnings, or none; \"\(name)\" is given "
          + "\(warnings.count)")
    }
    givenPredicates = predicates
    givenWarnings = warnings
  }

  // MARK: Freezing and copying

  final func requireMutable() {
    if isFrozen { trapImmutableModel() }
  }

  /// Makes every setter trap from now on.
  func freeze() { isFrozen = true }

  /// A mutable property that is described alike and is in no entity.
  public final func copy(with zone: NSZone? = nil) -> Any {
    let copy = type(of: self).init()
    copyContents(to: copy)
    return copy
  }

  /// Gives a new property of the same class what this one describes. Overrides call super.
  func copyContents(to copy: NSPropertyDescription) {
    copy.name = name
    copy.isOptional = isOptional
    copy.isTransient = isTransient
    copy.versionHashModifier = versionHashModifier
    copy.userInfo = userInfo
    copy.isIndexedBySpotlight = isIndexedBySpotlight
    copy.isIndexed = isIndexed
    copy.givenRenamingIdentifier = givenRenamingIdentifier
    copy.givenPredicates = givenPredicates
    copy.givenWarnings = givenWarnings
  }

  // MARK: Equality

  /// Whether both are of one class and described alike. Overrides call super.
  func isDescribedLike(_ other: NSPropertyDescription) -> Bool {
    type(of: self) == type(of: other) && name == other.name && isOptional == other.isOptional
      && isTransient == other.isTransient && versionHashModifier == other.versionHashModifier
      && renamingIdentifier == other.renamingIdentifier && isIndexed == other.isIndexed
      && isIndexedBySpotlight == other.isIndexedBySpotlight
      && areEqual(userInfo ?? [:], other.userInfo ?? [:])
      && validationPredicates.map(\.tree) == other.validationPredicates.map(\.tree)
      && areEqual(validationWarnings, other.validationWarnings)
  }

  public final override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPropertyDescription else { return false }
    return other === self || isDescribedLike(other) && owner?.name == other.owner?.name
  }

  public final override var hash: Int { name.hashValue }
}

/// What every setter of a model in use does.
func trapImmutableModel() -> Never {
  fatalError(
    "Can't modify an immutable model. A coordinator uses it: change it before that, or change a copy of it "
      + "(model.copy()) and make a coordinator with the copy")
}

/// Equality of what descriptions hold as `Any`: user infos, default values, warnings.
func areEqual(_ a: Any?, _ b: Any?) -> Bool {
  guard let a, let b else { return a == nil && b == nil }
  if let x = a as? AnyHashable, let y = b as? AnyHashable, x == y { return true }
  if let x = a as? [Any], let y = b as? [Any] {
    return x.count == y.count && zip(x, y).allSatisfy { areEqual($0, $1) }
  }
  if let x = a as? [AnyHashable: Any], let y = b as? [AnyHashable: Any] {
    return x.count == y.count && x.allSatisfy { areEqual($1, y[$0]) }
  }
  return (a as? NSObject)?.isEqual(b) ?? false
}
