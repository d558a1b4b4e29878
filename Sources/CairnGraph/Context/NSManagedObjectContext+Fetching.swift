// Fetches: what the store says, put right by what this context has changed since.
//
// A fetch returns what evaluating its predicate, order and window over the saved rows and the unsaved changes
// together would. The store is asked for as many more rows as there are changed objects, since each of those can
// take the place of one row at most; then the changed ones are judged anew, in memory.

public import CairnModel
import Foundation

extension NSManagedObjectContext {
  /// What the request asks for: objects in order, by `resultType` their IDs, dictionaries, or one number. The same
  /// row is the same instance within the context, and an object that is known already keeps the values it has,
  /// unless it is a fault.
  ///
  /// Throws 134070 without a store, `StoreError` for names that the model doesn't have, for types that can't
  /// be compared, for combinations that make no sense, and for what the store reports, and
  /// `PredicateEvaluationError` for what only an object showed to be impossible. A `ResultType` that the results
  /// aren't of is a programmer error.
  public final func fetch<T: NSFetchRequestResult>(_ request: NSFetchRequest<T>) throws -> [T] {
    let plan = try FetchPlan(request, in: self)
    return try plan.typedResults(plan.answers())
  }

  /// As `fetch`, for whoever doesn't know the type of the results.
  @_disfavoredOverload
  public final func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    let plan = try FetchPlan(request, in: self)
    return try plan.results(plan.answers())
  }

  /// The objects that satisfy the request, as a collection that loads them when they are looked at,
  /// `fetchBatchSize` at a time (100 where that is 0): a million results take some megabytes. Unsaved changes
  /// count as in `fetch`. Cairn's own, since an array can't be lazy. Throws as `fetch`.
  public final func fetchLazily<T: NSFetchRequestResult>(_ request: NSFetchRequest<T>) throws
    -> NSFetchedObjects<T>
  {
    NSFetchedObjects(try FetchPlan(request, in: self).lazyResults())
  }

  /// How many results `fetch` would return for objects. Costs no objects, unless the predicate asks what columns
  /// can't answer. Throws as `fetch`.
  public final func count<T: NSFetchRequestResult>(for request: NSFetchRequest<T>) throws -> Int {
    try FetchPlan(request, in: self).count()
  }

  /// Runs any request. An `NSAsynchronousFetchRequest` returns at once, and calls its block on the context's queue
  /// later. Throws 134091 for a kind of request that a context doesn't know.
  @discardableResult
  public final func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    guard let request = request as? any RunsAsynchronously else {
      throw NSError.coreData(
        NSPersistentStoreUnsupportedRequestTypeError,
        "a context can't execute a \(type(of: request)): use fetch(_:) for a fetch request")
    }
    return try request.start(in: self)
  }

  /// Cairn's own: figures over groups of saved rows, ordered by group, worked out on columns without making
  /// objects. Unsaved changes don't count. Throws as `fetch`.
  ///
  ///     try context.aggregate(
  ///       "Flight", groupBy: ["airline.name"], [.init(.average, "arrDelay"), .init(.count, nil)])
  public final func aggregate(
    _ entityName: String, where predicate: PredicateTree? = nil, groupBy: [String] = [],
    _ terms: [AggregateRequest.Term]
  ) throws -> [AggregateRow] {
    try throwDeferredError()
    let scopes = try requireStores()
    let entity = try compiledModel.schema.requireEntity(named: entityName)
    guard let store = (scopes.count == 1 ? scopes[0] : scope(serving: entity.id)).store?.store else {
      return []
    }
    return try store.aggregate(
      AggregateRequest(entity: entity.id, predicate: predicate, groupBy: groupBy, terms: terms),
      in: store.snapshot())
  }

  /// What to do when an entity's objects aren't of the expected class.
  static func classRemedy(_ entity: CompiledEntity) -> String {
    "the entity \"\(entity.name)\" names the class \"\(entity.description.managedObjectClassName ?? "")\"; "
      + "set its managedObjectClassName to String(reflecting:) of the class"
  }
}
