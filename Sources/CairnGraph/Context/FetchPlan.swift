// One fetch: what the stores are asked, and how their answers become results.
//
// In two steps, so that the first can run elsewhere: `answers` asks the stores and touches no object; `results`
// puts their rows together with the unsaved changes, on the context's queue. The stores are asked for as many
// more rows as there are changed objects, since each of those can take the place of one row at most.

import CairnModel
import Foundation

/// One fetch of one context.
struct FetchPlan {
  let context: NSManagedObjectContext
  /// One a store that has objects of the entity.
  let sources: [FetchSource]
  let entity: CompiledEntity
  let condition: FetchCondition
  let order: ObjectOrder
  /// Without a window; asks for what columns can answer.
  private let request: StoreRequest
  private let options: Options
  let offset: Int
  let limit: Int?
  private let dictionaries: DictionaryFetch?
  /// Objects of the entity's family whose rows don't count as they are: changed and deleted ones.
  private var stale: [NSManagedObject] = []
  /// Where their rows are, which stay theirs when they have been deleted and forgotten.
  private var staleKeys: [(scope: StoreScope, key: RowKey)] = []
  /// Those of them that may match as they are now, and new ones.
  private var changed: [NSManagedObject] = []

  private struct Options {
    let resultType: NSFetchRequestResultType
    let firesFaults: Bool
    let refreshes: Bool
    let prefetches: [String]
    let batchSize: Int
  }

  init<T>(
    _ fetch: NSFetchRequest<T>, in context: NSManagedObjectContext, tracer: FetchTracer? = nil
  ) throws {
    try context.throwDeferredError()
    context.processPendingChanges()
    self.context = context
    let scopes = try context.requireStores()
    let model = context.compiledModel
    let entity = try fetch.entity(in: model)
    self.entity = entity
    condition = try FetchCondition(fetch.predicateTree, of: entity.id, in: model.schema, context)
    let keys = try fetch.sortKeys()
    let isGrouped = fetch.resultType == .dictionaryResultType && !(fetch.propertiesToGroupBy ?? []).isEmpty
    order = try ObjectOrder(isGrouped ? [] : keys, of: entity.id, in: model.schema)
    request = StoreRequest(
      entity: entity.id, includesSubentities: fetch.includesSubentities, predicate: condition.columns,
      sort: order.isPlain ? keys.map(\.term) : [])
    offset = max(fetch.fetchOffset, 0)
    limit = fetch.fetchLimit > 0 ? fetch.fetchLimit : nil
    options = Options(
      resultType: fetch.resultType, firesFaults: !fetch.returnsObjectsAsFaults,
      refreshes: fetch.shouldRefreshRefetchedObjects,
      prefetches: fetch.relationshipKeyPathsForPrefetching ?? [], batchSize: max(fetch.fetchBatchSize, 0))
    let family = Set(fetch.includesSubentities ? entity.schema.concreteFamily : [entity.id])
    let affected = fetch.affectedStores
    sources = try scopes.compactMap { scope in
      guard let store = scope.store else { return nil }
      if let affected, !affected.contains(where: { $0 === store }) { return nil }
      let isServing = scopes.count == 1 || family.contains { context.serves(scope, $0) }
      return isServing
        ? FetchSource(
          scope: scope, store: store.store, snapshot: try store.store.snapshot(), tracer: tracer) : nil
    }
    if fetch.resultType == .dictionaryResultType {
      guard condition.rest == nil, order.isPlain else {
        throw StoreError(
          .unsupportedRequest,
          "dictionaries are made without objects, so their predicate and order have to be such as columns can answer",
          entity: entity.name,
          remedy: "fetch objects, or do without \(condition.rest?.canonicalFormat ?? "the selector")")
      }
      dictionaries = try DictionaryFetch(fetch, context, sources, entity, request)
      return
    }
    dictionaries = nil
    guard fetch.includesPendingChanges, context.hasChanges else { return }
    let updated = context.updated.filter { family.contains($0.table.entity.id) }
    stale = updated + context.deleted.filter { family.contains($0.table.entity.id) }
    changed =
      updated.filter { !$0.flags.contains(.isInaccessible) }
      + context.inserted.compactMap { object in
        object.flatMap { family.contains($0.table.entity.id) ? $0 : nil }
      }
    staleKeys = stale.compactMap { object in object.table.scope.map { ($0, object.rowKey) } }
    if let affected {
      let isAffected = { (object: NSManagedObject) in affected.contains { $0 === object.table.scope?.store } }
      stale = stale.filter(isAffected)
      changed = changed.filter(isAffected)
    }
  }

  /// How many unsaved objects have a say in the results.
  var pendingCount: Int { Set((stale + changed).map(ObjectIdentifier.init)).count }

  // MARK: Asking

  /// A question to one store. Sendable: a store may be used from any thread, and a snapshot never changes.
  struct Question: @unchecked Sendable {
    fileprivate let source: FetchSource
    fileprivate let request: StoreRequest

    func run() throws -> RowBatch { try source.fetch(request) }
    func cancelled() throws -> RowBatch { throw CocoaError(.userCancelled) }
  }

  /// What `results` needs the answers of.
  var storeQuestions: [Question] {
    if dictionaries != nil || options.resultType == .countResultType { return [] }
    var request = request
    if isAnsweredByStore {
      request.offset = offset
      request.limit = limit
    } else if condition.rest == nil, order.isPlain {
      request.limit = limit.map { sum(sum($0, offset), stale.count) }
    }
    return sources.map { Question(source: $0, request: request) }
  }

  func answers() throws -> [RowBatch] { try storeQuestions.map { try $0.run() } }

  /// Whether the rows of one store, in its order and window, are the result.
  private var isAnsweredByStore: Bool {
    stale.isEmpty && changed.isEmpty && sources.count == 1 && condition.rest == nil && order.isPlain
  }

  // MARK: Results

  /// `answers` are those of `storeQuestions`.
  func results(_ answers: [RowBatch]) throws -> [AnyObject] {
    switch options.resultType {
    case .dictionaryResultType:
      let rows = try dictionaries.map { try $0.results() } ?? []
      try context.throwDeferredError()
      return rows
    case .countResultType: return [NSNumber(value: try count())]
    case .managedObjectIDResultType: return try ids(answers)
    default: return try objects(answers)
    }
  }

  /// The results as an array of `T`. Looks at each class once, not at each result.
  func typedResults<T: NSFetchRequestResult>(_ answers: [RowBatch]) throws -> [T] {
    if options.resultType == .managedObjectResultType {
      let objects = try objects(answers)
      if !isAnsweredByStore || !classesAre(T.self, answers[0]) { check(objects, T.self) }
      // T is a class that all of them are of, or a marker over AnyObject: one reference either way.
      return unsafeBitCast(objects, to: [T].self)
    }
    if options.resultType == .managedObjectIDResultType {
      let ids = try ids(answers)
      // All are of one class.
      check(Array(ids.prefix(1)), T.self)
      return unsafeBitCast(ids, to: [T].self)
    }
    let results = try results(answers)
    check(results, T.self)
    // As above.
    return unsafeBitCast(results, to: [T].self)
  }

  /// Whether what was fetched is of classes that are `T`.
  private func classesAre<T: NSFetchRequestResult>(_ wanted: T.Type, _ answer: RowBatch) -> Bool {
    answer.chunks.allSatisfy { sources[0].scope.table($0.entity).objectClass is T.Type }
  }

  private func check<T: NSFetchRequestResult>(_ results: [some AnyObject], _ wanted: T.Type) {
    if ObjectIdentifier(T.self) != ObjectIdentifier((any NSFetchRequestResult).self) {
      var seen: ObjectIdentifier?
      for result in results where ObjectIdentifier(type(of: result)) != seen {
        guard result is T else { trapType(result, T.self) }
        seen = ObjectIdentifier(type(of: result))
      }
    }
  }

  private func trapType<T>(_ result: AnyObject, _ type: T.Type) -> Never {
    let remedy =
      (result as? NSManagedObject).map { NSManagedObjectContext.classRemedy($0.table.entity) }
      ?? "its resultType is \(options.resultType)"
    fatalError("the request's results are \(Swift.type(of: result)), not \(T.self): \(remedy)")
  }

  func objects(_ answers: [RowBatch]) throws -> [NSManagedObject] {
    let result = try matching(answers)
    if options.refreshes {
      for object in result where !object.isFault && object.flags.isDisjoint(with: [.isDraft, .isDeleted]) {
        context.refreshObject(object, mergeChanges: true)
      }
    }
    if !options.prefetches.isEmpty { try context.prefetch(options.prefetches, for: result, of: entity) }
    if options.firesFaults { for object in result { object.fire() } }
    return result
  }

  private func matching(_ answers: [RowBatch]) throws -> [NSManagedObject] {
    if isAnsweredByStore {
      return sources[0].scope.register(try context.checked(answers[0], in: sources[0].scope))
    }
    var result = try matchingChanges()
    for (index, source) in sources.enumerated() {
      let rows = source.scope.register(try context.checked(answers[index], in: source.scope))
      // By key: while the stores were asked, the context may have saved, and forgotten that these had changed.
      let outdated = Set(staleKeys.lazy.filter { $0.scope === source.scope }.map(\.key))
      let fresh = outdated.isEmpty ? rows : rows.filter { !outdated.contains($0.rowKey) }
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

  /// Without making objects where no unsaved change has a say.
  private func ids(_ answers: [RowBatch]) throws -> [NSManagedObjectID] {
    guard isAnsweredByStore else { return try matching(answers).map(\.objectID) }
    let batch = try context.checked(answers[0], in: sources[0].scope)
    // Of no rows, the standard library would write a count of 0 into the one empty array that all threads share.
    if batch.count == 0 { return [] }
    let spaces = batch.chunks.map { sources[0].scope.table($0.entity).idSpace(isPermanent: true) }
    return [NSManagedObjectID](unsafeUninitializedCapacity: batch.count) { ids, filled in
      batch.forEachKey { chunk, key in
        ids.initializeElement(at: filled, to: NSManagedObjectID(key, in: spaces[chunk]))
        filled += 1
      }
    }
  }

  func lazyResults() throws -> LazyResults {
    let size = options.batchSize > 0 ? options.batchSize : 100
    let scopes = sources.map(\.scope)
    var places: [LazyResults.Place] = []
    var kept: [NSManagedObject] = []
    if isAnsweredByStore {
      let batch = try context.checked(answers()[0], in: scopes[0])
      places = batch.places.map { place in
        let chunk = batch.chunks[Int(place.chunk)]
        return LazyResults.Place(key: chunk.key(Int(place.row)), entity: chunk.entity, scope: 0)
      }
    } else {
      let found = try matching(answers())
      kept = found.filter(\.isInserted)
      places = found.map { object in
        let scope = scopes.firstIndex { $0 === object.table.scope } ?? 0
        return LazyResults.Place(key: object.key, entity: object.table.entity.id, scope: UInt16(scope))
      }
    }
    return LazyResults(context, scopes, places, kept: kept, batchSize: size, firesFaults: options.firesFaults)
  }

  func count() throws -> Int {
    if let dictionaries { return try dictionaries.results().count }
    if condition.rest != nil { return try matching(storeQuestions.map { try $0.run() }).count }
    var total = try matchingChanges().count
    for source in sources {
      total += try source.count(request)
      let here = stale.filter { $0.table.scope === source.scope }
      if here.isEmpty { continue }
      var outdated = request
      let keys = ExpressionTree.list(here.map { .constant(.key($0.key)) })
      let isOutdated = PredicateTree.comparison(.init(.evaluatedObject, .isIn, keys))
      outdated.predicate = request.predicate.map { .and([isOutdated, $0]) } ?? isOutdated
      total -= try source.count(outdated)
    }
    return min(max(total - offset, 0), limit ?? Int.max)
  }

  private func matchingChanges() throws -> [NSManagedObject] {
    // A result that comes later mustn't have what was deleted meanwhile.
    try condition.holding(changed.filter { $0.flags.isDisjoint(with: [.isDeleted, .isDead]) })
  }

  private func sum(_ a: Int, _ b: Int) -> Int {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? Int.max : sum
  }
}
