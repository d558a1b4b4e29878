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
  /// Whether the context's unsaved changes count. Without, the request sees saved rows alone.
  public final var includesPendingChanges = true

  public override init() {}

  public convenience init(entityName: String) {
    self.init()
    self.entityName = entityName
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

  /// The request as a store takes it, without a window. Throws `unsupportedRequest`.
  final func storeRequest(for entity: EntityID) throws -> StoreRequest {
    StoreRequest(
      entity: entity, includesSubentities: includesSubentities, predicate: predicateTree,
      sort: try sortKeys().map(\.term))
  }
}

extension NSFetchRequest: CountableRequest {
  final func count(in context: NSManagedObjectContext) throws -> Int { try context.count(for: self) }
  final func results(in context: NSManagedObjectContext) throws -> [Any] { try context.fetch(self) }
}
