// Indexes of an entity: which properties a store keeps in order, so that it needn't look at every row.

public import Foundation

/// How an element of an index is kept. Raw values are Core Data's.
public enum NSFetchIndexElementType: UInt, Sendable {
  case binary = 0
  /// For ranges of numbers; Cairn's stores keep it as they keep the other kind.
  case rTree = 1
}

/// An index over one or more properties of an entity.
///
/// Sendable: as `NSPropertyDescription`.
public final class NSFetchIndexDescription: NSObject, NSCopying, @unchecked Sendable {
  private var isFrozen = false
  /// The entity whose `indexes` list this one.
  public internal(set) var entity: NSEntityDescription? {
    get { link.entity }
    set { link = EntityLink(newValue) }
  }
  private var link = EntityLink(nil)

  public var name: String { willSet { requireMutable() } }
  /// All of one collation type.
  public var elements: [NSFetchIndexElementDescription] {
    willSet { requireMutable() }
    didSet { claimElements() }
  }
  /// Which rows the index needs to have; nil for all. Kept for whoever reads the model: Cairn's indexes have all.
  @NSCopying public var partialIndexPredicate: NSPredicate? { willSet { requireMutable() } }

  public init(name: String, elements: [NSFetchIndexElementDescription]?) {
    self.name = name
    self.elements = elements ?? []
    super.init()
    claimElements()
  }

  private func claimElements() {
    for element in elements { element.indexDescription = self }
  }

  private func requireMutable() {
    if isFrozen { trapImmutableModel() }
  }

  func freeze() {
    isFrozen = true
    for element in elements { element.isFrozen = true }
  }

  /// A mutable index over the same properties, of no entity.
  public func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchIndexDescription(
      name: name, elements: elements.compactMap { $0.copy() as? NSFetchIndexElementDescription })
    copy.partialIndexPredicate = partialIndexPredicate
    return copy
  }

  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSFetchIndexDescription else { return false }
    return name == other.name && elements == other.elements
      && partialIndexPredicate?.tree == other.partialIndexPredicate?.tree
  }

  public override var hash: Int { name.hashValue }
}

/// One property in an index.
///
/// Sendable: as `NSPropertyDescription`.
public final class NSFetchIndexElementDescription: NSObject, NSCopying, @unchecked Sendable {
  var isFrozen = false
  public internal(set) weak var indexDescription: NSFetchIndexDescription?

  /// A property of the entity, or an `NSExpressionDescription`. In an entity that was copied it is the copy's
  /// property of the same name.
  public internal(set) var property: NSPropertyDescription?
  public var collationType: NSFetchIndexElementType { willSet { requireMutable() } }
  public var isAscending = true { willSet { requireMutable() } }

  public var propertyName: String? { property?.name }

  public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
    self.property = property
    self.collationType = collationType
  }

  private func requireMutable() {
    if isFrozen { trapImmutableModel() }
  }

  /// A mutable element of the same property, in no index.
  public func copy(with zone: NSZone? = nil) -> Any {
    guard let property else { fatalError("an element of an index has no property") }
    let copy = NSFetchIndexElementDescription(property: property, collationType: collationType)
    copy.isAscending = isAscending
    return copy
  }

  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSFetchIndexElementDescription else { return false }
    return propertyName == other.propertyName && collationType == other.collationType
      && isAscending == other.isAscending
      && (property as? NSExpressionDescription)?.expression
        == (other.property as? NSExpressionDescription)?.expression
  }

  public override var hash: Int { propertyName.hashValue }
}
