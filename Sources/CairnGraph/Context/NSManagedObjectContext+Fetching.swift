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
  /// Throws 134070 without a store, and `StoreError` for names that the model doesn't have, for types that can't
  /// be compared, and for what the store reports. A `ResultType` that the entity's objects aren't of is a
  /// programmer error.
  public final func fetch<T: NSFetchRequestResult>(_ request: NSFetchRequest<T>) throws -> [T] {
    let plan = try FetchPlan(request, in: self)
    return typed(try plan.objects(), as: T.self)
  }

  /// How many objects `fetch` would return. Costs no objects. Throws as `fetch`.
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
    let store = try requireStore()
    let entity = try compiledModel.schema.requireEntity(named: entityName)
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
  let store: any PersistentStore
  let snapshot: any StoreSnapshot
  let entity: CompiledEntity
  let request: StoreRequest
  let offset: Int
  let limit: Int?
  /// Changed objects of the entity's family: saved ones, whose rows don't count as they are, and new ones.
  private(set) var updated: [NSManagedObject] = []
  private(set) var inserted: [NSManagedObject] = []

  init<T>(_ fetch: NSFetchRequest<T>, in context: NSManagedObjectContext) throws {
    try context.throwDeferredError()
    self.context = context
    store = try context.requireStore()
    let model = context.compiledModel
    entity = try fetch.entity(in: model)
    request = try fetch.storeRequest(for: entity.id)
    snapshot = try store.snapshot()
    offset = max(fetch.fetchOffset, 0)
    limit = fetch.fetchLimit > 0 ? fetch.fetchLimit : nil
    guard fetch.includesPendingChanges, context.hasChanges else { return }
    let family = Set(fetch.includesSubentities ? entity.schema.concreteFamily : [entity.id])
    updated = context.updated.filter { family.contains($0.table.entity.id) }
    inserted = context.inserted.filter { family.contains($0.table.entity.id) }
  }

  func objects() throws -> [NSManagedObject] {
    var request = request
    if updated.isEmpty, inserted.isEmpty {
      request.offset = offset
      request.limit = limit
      return context.register(try context.checked(store.fetch(request, in: snapshot)))
    }
    request.limit = limit.map { sum(sum($0, offset), updated.count) }
    let order = try ObjectOrder(request.sort, of: entity.id, in: context.compiledModel.schema)
    let rows = context.register(try context.checked(store.fetch(request, in: snapshot)))
    let merged = order.merge(rows.filter { !$0.isUpdated }, try matchingChanges())
    return Array(merged.dropFirst(offset).prefix(limit ?? merged.count))
  }

  func count() throws -> Int {
    var total = try store.count(request, in: snapshot)
    if !updated.isEmpty || !inserted.isEmpty {
      var stale = request
      let keys = ExpressionTree.list(updated.map { .constant(.key($0.key)) })
      let isUpdated = PredicateTree.comparison(.init(.evaluatedObject, .isIn, keys))
      stale.predicate = request.predicate.map { .and([isUpdated, $0]) } ?? isUpdated
      total += try matchingChanges().count - store.count(stale, in: snapshot)
    }
    return min(max(total - offset, 0), limit ?? Int.max)
  }

  private func matchingChanges() throws -> [NSManagedObject] {
    let changed = updated + inserted
    guard let predicate = request.predicate else { return changed.filter { !isGone($0) } }
    let interpreter = try PredicateInterpreter(predicate, to: entity.id, in: context.compiledModel.schema)
    return changed.filter { !isGone($0) && interpreter.matches($0) }
  }

  /// Whether a changed object has no row any more.
  private func isGone(_ object: NSManagedObject) -> Bool { object.flags.contains(.isInaccessible) }

  private func sum(_ a: Int, _ b: Int) -> Int {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? Int.max : sum
  }
}
