// Entities: what kinds of object a model has, with their properties and their place in a hierarchy.

public import Foundation

/// A kind of object: its properties, its class, its parent.
///
/// Sendable: as `NSPropertyDescription`.
open class NSEntityDescription: NSObject, @unchecked Sendable {
  final var isFrozen = false
  final weak var model: NSManagedObjectModel?
  /// Its place in the compiled schema; written once, when the model is compiled.
  final var compiledIndex = -1
  /// A class given as a type instead of a name.
  final var givenClass: NSManagedObject.Type?

  public final var name: String? { willSet { requireMutable() } }

  /// `Module.Class`, the bare name of a top-level class, or "NSManagedObject".
  public final var managedObjectClassName: String! = "NSManagedObject" { willSet { requireMutable() } }
  public final var isAbstract = false { willSet { requireMutable() } }

  /// Each constraint as the attributes, or their names, whose values together are unique.
  public final var uniquenessConstraints: [[Any]] = [] { willSet { requireMutable() } }
  public final var versionHashModifier: String? { willSet { requireMutable() } }
  public final var userInfo: [AnyHashable: Any]? = [:] { willSet { requireMutable() } }

  public final var indexes: [NSFetchIndexDescription] = [] {
    willSet { requireMutable() }
    didSet { for index in indexes { index.entity = self } }
  }

  /// The entity that this one inherits from: the one whose `subentities` list it.
  public internal(set) final weak var superentity: NSEntityDescription?

  /// Direct children.
  public final var subentities: [NSEntityDescription] = [] {
    willSet { requireMutable() }
    didSet {
      for child in oldValue where child.superentity === self { child.superentity = nil }
      for child in subentities { child.superentity = self }
    }
  }

  /// The properties declared here, without inherited ones.
  final var ownProperties: [NSPropertyDescription] = []
  private final var givenRenamingIdentifier: String?

  public override init() {}

  // MARK: Properties

  /// Inherited properties first, then those declared here. Setting it declares properties.
  public final var properties: [NSPropertyDescription] {
    get { (superentity?.properties ?? []) + ownProperties }
    set {
      requireMutable()
      for property in ownProperties { property.owner = nil }
      ownProperties = newValue
      for property in newValue { property.owner = self }
    }
  }

  public final var propertiesByName: [String: NSPropertyDescription] {
    Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  public final var attributesByName: [String: NSAttributeDescription] {
    propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
  }

  public final var relationshipsByName: [String: NSRelationshipDescription] {
    propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
  }

  /// The relationships whose declared destination is exactly `entity`.
  public final func relationships(
    forDestination entity: NSEntityDescription
  ) -> [NSRelationshipDescription] {
    properties.compactMap { $0 as? NSRelationshipDescription }.filter { $0.destinationEntity === entity }
  }

  // MARK: Hierarchy and model

  public final var subentitiesByName: [String: NSEntityDescription] {
    Dictionary(subentities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether this is `entity` or inherits from it.
  public final func isKindOf(entity: NSEntityDescription) -> Bool {
    var current: NSEntityDescription? = self
    while let candidate = current {
      if candidate === entity { return true }
      current = candidate.superentity
    }
    return false
  }

  /// The model whose `entities` list this one. A programmer error before it is in one.
  public final var managedObjectModel: NSManagedObjectModel {
    guard let model else { fatalError("the entity \"\(name ?? "")\" isn't in any model") }
    return model
  }

  /// The name that the entity had in an earlier version of the model; its present name unless set.
  public final var renamingIdentifier: String? {
    get { givenRenamingIdentifier ?? name }
    set {
      requireMutable()
      givenRenamingIdentifier = newValue
    }
  }

  /// Cairn's own: names the class by the type itself, which also works for nested and private classes, whose
  /// names Foundation can't look up.
  public final func setManagedObjectClass(_ type: NSManagedObject.Type) {
    managedObjectClassName = String(reflecting: type)
    givenClass = type
  }

  private final func requireMutable() {
    if isFrozen { fatalError("Can't modify an immutable model.") }
  }

  /// Makes every setter of the entity and its properties trap from now on.
  final func freeze() {
    isFrozen = true
    for property in ownProperties { property.freeze() }
    for index in indexes { index.freeze() }
  }
}

extension NSEntityDescription {
  /// The entity of that name in the model of the context's coordinator, or nil if it has none.
  public class func entity(
    forEntityName entityName: String, in context: NSManagedObjectContext
  ) -> NSEntityDescription? {
    context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[entityName]
  }

  /// A new object of that entity, inserted. An unknown name is a programmer error.
  public class func insertNewObject(
    forEntityName entityName: String, into context: NSManagedObjectContext
  ) -> NSManagedObject {
    guard let entity = entity(forEntityName: entityName, in: context) else {
      let known = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName.keys.sorted() ?? []
      fatalError(
        "could not locate an entity named \"\(entityName)\" in this model; its entities are: "
          + known.joined(separator: ", "))
    }
    return context.objectClass(of: entity).init(entity: entity, insertInto: context)
  }
}
