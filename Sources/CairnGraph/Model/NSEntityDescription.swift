// Entities: what kinds of object a model has, with their properties and their place in a hierarchy.

public import Foundation

/// A kind of object: its properties, its class, its parent. Going through it gives its properties.
///
/// Equal are entities that are described alike, with other entities compared by name.
///
/// Sendable: as `NSPropertyDescription`.
open class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
  private(set) final var isFrozen = false
  /// What those lead back by that this entity holds or that stand beside it.
  final let anchor = EntityAnchor()
  private final var parentLink = EntityLink(nil)
  final weak var model: NSManagedObjectModel?
  /// Its place in the compiled schema; written once, when the model is compiled.
  final var compiledIndex = -1
  /// A class given as a type instead of a name.
  final var givenClass: NSManagedObject.Type?

  public final var name: String? { willSet { requireMutable() } }

  /// `Module.Class`, `.Class` for one of the module that made or read the model, the bare name of a top-level
  /// class, or "NSManagedObject".
  public final var managedObjectClassName: String! = "NSManagedObject" {
    willSet { requireMutable() }
    didSet { givenClass = nil }
  }
  public final var isAbstract = false { willSet { requireMutable() } }

  /// Each constraint as the attributes, or their names, whose values together are unique.
  public final var uniquenessConstraints: [[Any]] = [] { willSet { requireMutable() } }
  public final var versionHashModifier: String? { willSet { requireMutable() } }
  public final var userInfo: [AnyHashable: Any]? = [:] { willSet { requireMutable() } }

  public final var indexes: [NSFetchIndexDescription] = [] {
    willSet { requireMutable() }
    didSet { for index in indexes { index.entity = self } }
  }

  /// The older way to declare indexes: each as properties or their names. The compiled model has one each, named
  /// after its properties.
  public final var compoundIndexes: [[Any]] = [] { willSet { requireMutable() } }

  /// The entity that this one inherits from: the one whose `subentities` list it.
  public internal(set) final var superentity: NSEntityDescription? {
    get { parentLink.entity }
    set { parentLink = EntityLink(newValue) }
  }

  /// Direct children.
  public final var subentities: [NSEntityDescription] = [] {
    willSet { requireMutable() }
    didSet {
      for child in oldValue where child.superentity === self { child.superentity = nil }
      for child in subentities { child.superentity = self }
    }
  }

  /// The names of the children of an entity that was copied, until its model is set.
  final var subentityNames: [String] = []
  /// The parent's name, until a model's builder finds it; a name that stays leads nowhere.
  final var superentityName: String?
  /// The configurations that a model's builder puts the entity in.
  final var configurationNames: [String] = []

  /// The properties declared here, without inherited ones.
  private(set) final var ownProperties: [NSPropertyDescription] = []
  private final var givenRenamingIdentifier: String?
  private(set) final var givenDisplayName: NSExpression?

  public required override init() {
    super.init()
    anchor.lead(to: self)
  }

  deinit { anchor.lead(to: nil) }

  // MARK: Properties

  /// Inherited properties first, then those declared here. Setting it declares properties; those of an ancestor
  /// in the list stay the ancestor's.
  public final var properties: [NSPropertyDescription] {
    get { lineage.flatMap(\.ownProperties) }
    set {
      requireMutable()
      let inherited = lineage.dropLast().flatMap(\.ownProperties)
      for property in ownProperties { property.owner = nil }
      ownProperties = newValue.filter { property in !inherited.contains { $0 === property } }
      for property in ownProperties { property.owner = self }
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
    lineage.contains { $0 === entity }
  }

  /// From the topmost ancestor down to the entity itself. Of a hierarchy in a circle, each entity once.
  final var lineage: [NSEntityDescription] {
    var chain = [self]
    while let parent = chain[chain.count - 1].superentity, !chain.contains(where: { $0 === parent }) {
      chain.append(parent)
    }
    return chain.reversed()
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

  /// Kept for whoever reads the model; Cairn has no Spotlight. An expression for nil until it is set.
  public final var coreSpotlightDisplayNameExpression: NSExpression {
    get { givenDisplayName ?? NSExpression(forConstantValue: nil) }
    set {
      requireMutable()
      givenDisplayName = newValue
    }
  }

  /// Cairn's own: names the class by the type itself, which also works for nested and private classes, whose
  /// names Foundation can't look up.
  public final func setManagedObjectClass(_ type: NSManagedObject.Type) {
    managedObjectClassName = String(reflecting: type)
    givenClass = type
  }

  /// The uniqueness constraints by names; nil for an element that is neither a name nor a property.
  final var constraintNames: [[String?]] {
    uniquenessConstraints.map { $0.map(Self.propertyName) }
  }

  static func propertyName(_ element: Any) -> String? {
    element as? String ?? (element as? NSPropertyDescription)?.name
  }

  // MARK: Freezing, copying, equality

  private final func requireMutable() {
    if isFrozen { trapImmutableModel() }
  }

  /// Makes every setter of the entity and its properties trap from now on.
  final func freeze() {
    isFrozen = true
    for property in ownProperties { property.freeze() }
    for index in indexes { index.freeze() }
  }

  /// A mutable entity that is described alike, with copies of the properties declared here, in no model.
  ///
  /// Its relationships still lead to the entities that the original's lead to, and it has no subentities: when it
  /// is set as one of the entities of a model, both become the model's entities of the same names.
  public final func copy(with zone: NSZone? = nil) -> Any {
    let copy = type(of: self).init()
    copy.name = name
    copy.managedObjectClassName = managedObjectClassName
    copy.givenClass = givenClass
    copy.isAbstract = isAbstract
    copy.properties = ownProperties.compactMap { $0.copy() as? NSPropertyDescription }
    copy.uniquenessConstraints = constraintNames.map { $0.map { $0 ?? "" } }
    copy.versionHashModifier = versionHashModifier
    copy.userInfo = userInfo
    copy.indexes = indexes.compactMap { $0.copy() as? NSFetchIndexDescription }
    copy.compoundIndexes = compoundIndexes.map { $0.map { Self.propertyName($0) ?? "" } }
    copy.givenRenamingIdentifier = givenRenamingIdentifier
    copy.givenDisplayName = givenDisplayName
    copy.subentityNames = subentityNames + subentities.compactMap(\.name)
    return copy
  }

  public final override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSEntityDescription else { return false }
    return other === self || difference(from: other) == nil
  }

  public final override var hash: Int { name.hashValue }

  /// The first thing in which two entities differ, in words; nil if they are described alike.
  final func difference(from other: NSEntityDescription) -> String? {
    if name != other.name { return "its name" }
    if managedObjectClassName != other.managedObjectClassName { return "its class" }
    if isAbstract != other.isAbstract { return "whether it is abstract" }
    if superentity?.name != other.superentity?.name { return "its superentity" }
    if Set(subentities.map(\.name)) != Set(other.subentities.map(\.name)) { return "its subentities" }
    if renamingIdentifier != other.renamingIdentifier { return "its renaming identifier" }
    if versionHashModifier != other.versionHashModifier { return "its version hash modifier" }
    if constraintNames != other.constraintNames { return "its uniqueness constraints" }
    if indexes != other.indexes { return "its indexes" }
    if givenDisplayName != other.givenDisplayName { return "its display name for Spotlight" }
    if compoundIndexes.map({ $0.map(Self.propertyName) })
      != other.compoundIndexes.map({ $0.map(Self.propertyName) })
    {
      return "its compound indexes"
    }
    if !areEqual(userInfo ?? [:], other.userInfo ?? [:]) { return "its user info" }
    let mine = Dictionary(ownProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let others = Dictionary(
      other.ownProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for name in Set(mine.keys).union(others.keys).sorted() where mine[name] != others[name] {
      return "its property \"\(name)\""
    }
    return nil
  }
}

/// Going through an entity gives its properties, inherited ones first.
extension NSEntityDescription: Sequence {
  public final func makeIterator() -> IndexingIterator<[NSPropertyDescription]> {
    properties.makeIterator()
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
