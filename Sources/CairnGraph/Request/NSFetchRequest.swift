// What a context can be asked for.

public import CairnModel
public import Foundation

/// What a fetch can return. A marker protocol, because `NSFetchRequest<NSFetchRequestResult>` has to compile, and
/// an ordinary protocol doesn't conform to itself.
@_marker public protocol NSFetchRequestResult: AnyObject {}

/// A request for the objects of an entity that satisfy a predicate, in an order.
///
/// Not Sendable: make one where it is used.
open class NSFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest {
  /// The entity by name, looked up in the model of the context that runs the request.
  public private(set) final var entityName: String?
  /// The entity itself, where it was set.
  public final var entity: NSEntityDescription? {
    didSet { entityName = entity?.name }
  }

  /// The condition. nil selects every object.
  ///
  ///     request.predicate = NSPredicate(format: "depDelay > %d AND airline.carrier == %@", 60, "UA")
  public final var predicate: NSPredicate?

  /// Cairn's own: the same condition as a tree of values.
  ///
  ///     request.predicateTree = .and([
  ///       .compare("depDelay", .greater, 60), .compare("airline.carrier", .equal, "UA"),
  ///     ])
  public final var predicateTree: PredicateTree? {
    get { predicate?.tree }
    set { predicate = newValue.map { NSPredicate($0) } }
  }

  /// Keys in order of weight, made by `NSSortDescriptor(key:ascending:)`. nil, as an empty list, leaves the
  /// order to the store.
  public final var sortDescriptors: [NSSortDescriptor]?

  /// The greatest number of results; 0 for all.
  public final var fetchLimit = 0
  /// How many results to leave out at the beginning, in order.
  public final var fetchOffset = 0
  /// Whether objects of entities that inherit from the request's are results too.
  public final var includesSubentities = true
  /// Whether the context's unsaved changes count. Without, the request sees saved rows alone, as dictionaries
  /// always do.
  public final var includesPendingChanges = true
  /// Whether the results are objects, their IDs, dictionaries or their number.
  public final var resultType = NSFetchRequestResultType.managedObjectResultType
  /// How many objects `fetchLazily` loads at a time; 0 for its own choice. An array-returning fetch has all of
  /// its objects at once: those are faults that share the store's rows, so that there is nothing to load.
  public final var fetchBatchSize = 0
  /// Kept for programs that set it: objects always share the store's rows, so nothing would be saved.
  public final var includesPropertyValues = true
  /// If false, objects aren't faults when they are returned.
  public final var returnsObjectsAsFaults = true
  /// Whether objects that the context has read already are refreshed, with their unsaved changes on top, as
  /// Core Data documents it.
  public final var shouldRefreshRefetchedObjects = false
  /// Relationships, by paths, whose destinations are loaded along with the results: one question to the store for
  /// each step.
  public final var relationshipKeyPathsForPrefetching: [String]?
  /// The columns of dictionaries: names, paths over to-one relationships, property descriptions and expression
  /// descriptions. nil for all attributes and to-one relationships. Other results don't need it.
  public final var propertiesToFetch: [Any]?
  /// What the rows of dictionaries are grouped by: as `propertiesToFetch`.
  public final var propertiesToGroupBy: [Any]?
  /// Which groups are results. It names the columns, or figures over the group's rows.
  public final var havingPredicate: NSPredicate?
  /// Whether equal dictionaries are one result.
  public final var returnsDistinctResults = false

  public override init() {}

  public convenience init(entityName: String) {
    self.init()
    self.entityName = entityName
  }

  open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  /// A request that asks the same.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = emptyCopy()
    copy.entity = entity
    copy.entityName = entityName
    copyContents(to: copy)
    return copy
  }

  func emptyCopy() -> NSFetchRequest<ResultType> { NSFetchRequest<ResultType>() }

  /// Everything but the entity.
  final func copyContents(to copy: NSFetchRequest<ResultType>) {
    copy.affectedStores = affectedStores
    copy.predicate = predicate
    copy.sortDescriptors = sortDescriptors
    copy.fetchLimit = fetchLimit
    copy.fetchOffset = fetchOffset
    copy.includesSubentities = includesSubentities
    copy.includesPendingChanges = includesPendingChanges
    copy.resultType = resultType
    copy.fetchBatchSize = fetchBatchSize
    copy.includesPropertyValues = includesPropertyValues
    copy.returnsObjectsAsFaults = returnsObjectsAsFaults
    copy.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
    copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
    copy.propertiesToFetch = propertiesToFetch
    copy.propertiesToGroupBy = propertiesToGroupBy
    copy.havingPredicate = havingPredicate
    copy.returnsDistinctResults = returnsDistinctResults
  }

  /// Runs the request in the context whose `perform` or `performAndWait` the caller is in. Outside of one it is a
  /// programmer error.
  public final func execute() throws -> [ResultType] {
    guard let context = NSManagedObjectContext.current else {
      fatalError("NSFetchRequest.execute() has to be called within a context's perform or performAndWait")
    }
    return try context.fetch(self)
  }
}

/// What gives each object class its own `fetchRequest()`.
public protocol NSManagedObjectFetching: NSManagedObject {}

extension NSManagedObject: NSManagedObjectFetching {}

extension NSManagedObjectFetching {
  /// A request for the entity of this class, which the context that runs it finds.
  public static func fetchRequest() -> NSFetchRequest<Self> { ClassFetchRequest<Self>(self) }
}

/// A request whose entity is found by its objects' class.
final class ClassFetchRequest<ResultType: NSFetchRequestResult>: NSFetchRequest<ResultType> {
  fileprivate let objectClass: NSManagedObject.Type

  init(_ objectClass: NSManagedObject.Type) {
    self.objectClass = objectClass
    super.init()
  }

  override func emptyCopy() -> NSFetchRequest<ResultType> { ClassFetchRequest<ResultType>(objectClass) }
}

extension NSFetchRequest {
  /// The entity in a model. Throws `unknownEntity`; a request without an entity is a programmer error.
  final func entity(in model: CompiledModel) throws -> CompiledEntity {
    if let type = ResultType.self as? NSManagedObject.Type { _ = model.entity(for: type) }
    if let entityName { return model[try model.schema.requireEntity(named: entityName).id] }
    guard let request = self as? ClassFetchRequest<ResultType> else {
      fatalError("executeFetchRequest:error: A fetch request must have an entity.")
    }
    guard let entity = model.entity(for: request.objectClass) else {
      throw StoreError(
        .unknownEntity, "\(request.objectClass) isn't the class of exactly one entity of the model",
        remedy: "use NSFetchRequest(entityName:)")
    }
    return entity
  }

  /// The order, as far as a store and a sort in memory need it. Throws `unsupportedRequest`.
  final func sortKeys() throws -> [SortKey] { try (sortDescriptors ?? []).map { try SortKey($0) } }
}

extension NSFetchRequest: CountableRequest {
  final func count(in context: NSManagedObjectContext) throws -> Int { try context.count(for: self) }
  final func results(in context: NSManagedObjectContext) throws -> [Any] { try context.fetch(self) }
}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}
