// Fetches: what the store says, put right by what this context has changed since.
//
// A fetch returns what evaluating its predicate, order and window over the saved rows and the unsaved changes
// together would. The store is asked for as many more rows as there are changed objects, since each of those can
// take the place of one row at most; then the changed ones are judged anew, in memory.

public import CairnModel
import Foundation

extension NSManagedObjectContext {
  /// The objects that satisfy the request, in order; the same row is the same instance within the context.
  /// An object that is known already keeps the values it has, unless it is a fault.
  ///
  /// Throws 134070 without a store, `StoreError` for names that the model doesn't have, for types that can't
  /// be compared, and for what the store reports, and `PredicateEvaluationError` for what only an object showed
  /// to be impossible. A `ResultType` that the entity's objects aren't of is a
  /// programmer error.
  public final func fetch<T: NSFetchRequestResult>(_ request: NSFetchRequest<T>) throws -> [T] {
    let plan = try FetchPlan(request, in: self)
    return typed(try plan.objects(), as: T.self)
  }

  /// How many objects `fetch` would return. Costs no objects, unless the predicate asks what columns can't
  /// answer. Throws as `fetch`.
  public final func count<T: NSFetchRequestResult>(for request: NSFetchRequest<T>) throws -> Int {
    try FetchPlan(request, in: self).count()
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

  /// The array as one of `T`. Looks at each class once, not at each object.
  private final func typed<T: NSFetchRequestResult>(_ objects: [NSManagedObject], as type: T.Type) -> [T] {
    if ObjectIdentifier(T.self) != ObjectIdentifier((any NSFetchRequestResult).self) {
      var seen: ObjectIdentifier?
      for object in objects where ObjectIdentifier(Swift.type(of: object)) != seen {
        guard object is T else {
          fatalError(
            "the request's results are \(Swift.type(of: object)), not \(T.self): "
              + NSManagedObjectContext.classRemedy(object.table.entity))
        }
        seen = ObjectIdentifier(Swift.type(of: object))
      }
    }
    // T is a class that all of them are of, or a marker over AnyObject: one reference either way.
    return unsafeBitCast(objects, to: [T].self)
  }

  /// What to do when an entity's objects aren't of the expected class.
  static func classRemedy(_ entity: CompiledEntity) -> String {
    "the entity \"\(entity.name)\" names the class \"\(entity.description.managedObjectClassName ?? "")\"; "
      + "set its managedObjectClassName to String(reflecting:) of the class"
  }
}

/// One fetch of one context.
private struct FetchPlan {
  let context: NSManagedObjectContext
  /// One a store that has objects of the entity.
  let sources: [Source]
  let entity: CompiledEntity
  let condition: FetchCondition
  let order: ObjectOrder
  /// Without a window; asks for what columns can answer.
  let request: StoreRequest
  let offset: Int
  let limit: Int?
  /// Objects of the entity's family whose rows don't count as they are: changed and deleted ones.
  private(set) var stale: [NSManagedObject] = []
  /// Those of them that may match as they are now, and new ones.
  private(set) var changed: [NSManagedObject] = []

  struct Source {
    let scope: StoreScope
    let store: any PersistentStore
    let snapshot: any StoreSnapshot
  }

  init<T>(_ fetch: NSFetchRequest<T>, in context: NSManagedObjectContext) throws {
    try context.throwDeferredError()
    context.processPendingChanges()
    self.context = context
    let scopes = try context.requireStores()
    let model = context.compiledModel
    entity = try fetch.entity(in: model)
    condition = try FetchCondition(fetch.predicateTree, of: entity.id, in: model.schema, context)
    let keys = try fetch.sortKeys()
    order = try ObjectOrder(keys, of: entity.id, in: model.schema)
    request = StoreRequest(
      entity: entity.id, includesSubentities: fetch.includesSubentities, predicate: condition.columns,
      sort: order.isPlain ? keys.map(\.term) : [])
    offset = max(fetch.fetchOffset, 0)
    limit = fetch.fetchLimit > 0 ? fetch.fetchLimit : nil
    let family = Set(fetch.includesSubentities ? entity.schema.concreteFamily : [entity.id])
    sources = try scopes.compactMap { scope in
      guard let store = scope.store?.store else { return nil }
      let isServing = scopes.count == 1 || family.contains { context.serves(scope, $0) }
      return isServing ? Source(scope: scope, store: store, snapshot: try store.snapshot()) : nil
    }
    guard fetch.includesPendingChanges, context.hasChanges else { return }
    let updated = context.updated.filter { family.contains($0.table.entity.id) }
    stale = updated + context.deleted.filter { family.contains($0.table.entity.id) }
    changed =
      updated.filter { !$0.flags.contains(.isInaccessible) }
      + context.inserted.compactMap { object in
        object.flatMap { family.contains($0.table.entity.id) ? $0 : nil }
      }
  }

  func objects() throws -> [NSManagedObject] {
    var request = request
    if stale.isEmpty, changed.isEmpty, sources.count == 1, condition.rest == nil, order.isPlain {
      request.offset = offset
      request.limit = limit
      return try rows(request, sources[0])
    }
    if condition.rest == nil, order.isPlain {
      request.limit = limit.map { sum(sum($0, offset), stale.count) }
    }
    var result = try matchingChanges()
    for (index, source) in sources.enumerated() {
      let rows = try rows(request, source)
      let fresh = stale.isEmpty ? rows : rows.filter { $0.flags.isDisjoint(with: [.isUpdated, .isDeleted]) }
      let found = try condition.filter(fresh)
      if !order.isPlain {
        result += found
      } else {
        result = index == 0 ? order.merge(found, result) : order.merge(result, found)
      }
    }
    if !order.isPlain { result = order.sort(result) }
    return Array(result.dropFirst(offset).prefix(limit ?? result.count))
  }

  private func rows(_ request: StoreRequest, _ source: Source) throws -> [NSManagedObject] {
    let batch = try context.checked(source.store.fetch(request, in: source.snapshot), in: source.scope)
    return source.scope.register(batch)
  }

  func count() throws -> Int {
    if condition.rest != nil { return try objects().count }
    var total = try matchingChanges().count
    for source in sources {
      total += try source.store.count(request, in: source.snapshot)
      let here = stale.filter { $0.table.scope === source.scope }
      if here.isEmpty { continue }
      var outdated = request
      let keys = ExpressionTree.list(here.map { .constant(.key($0.key)) })
      let isOutdated = PredicateTree.comparison(.init(.evaluatedObject, .isIn, keys))
      outdated.predicate = request.predicate.map { .and([isOutdated, $0]) } ?? isOutdated
      total -= try source.store.count(outdated, in: source.snapshot)
    }
    return min(max(total - offset, 0), limit ?? Int.max)
  }

  private func matchingChanges() throws -> [NSManagedObject] {
    try changed.filter { try condition.holds($0) }
  }

  private func sum(_ a: Int, _ b: Int) -> Int {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? Int.max : sum
  }
}
