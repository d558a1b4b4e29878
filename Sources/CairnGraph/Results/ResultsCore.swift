// What a results controller is, whatever the type of its results: the fetch, the list, and whether changes
// are followed.

import CairnModel
import Foundation

/// Confined to its context's queue, and holds the context; the context knows it weakly.
final class ResultsCore {
  let context: NSManagedObjectContext
  /// An `NSFetchRequest` of the controller's result type.
  let request: NSPersistentStoreRequest
  let sectionNameKeyPath: String?
  let cacheName: String?
  /// The program's own face, whose section titles may be overridden.
  weak var titles: (any ResultsFace)?
  private weak var knownErased: NSFetchedResultsController<NSFetchRequestResult>?
  private let fetch: () throws -> FetchedResults

  /// What the results are now; nil before `performFetch()`.
  var list: ResultsList?
  /// What decides who is a result and where; with `list`.
  private(set) var rules: ResultsRules?
  /// Counts `performFetch()`: a delegate that calls it isn't told the rest of what was before.
  private(set) var fetchCount = 0

  // MARK: Following changes

  private(set) weak var delegate: (any NSFetchedResultsControllerDelegate)?
  /// The methods that the delegate has turned out not to have.
  var absent: AbsentMethods = []
  var form = DelegateForm.unknown
  private var readers: [AsyncStream<NSFetchedResultsChange>.Continuation] = []
  /// Objects whose rows or changes were dropped since the last event, and those changed in it, with their
  /// sort keys before.
  private var noted = ResultsBatch()
  /// Whether a batch is being told, or a fetch runs: what comes meanwhile waits.
  private var isBusy = false
  private var backlog: [ResultsBatch] = []
  private var isRegistered = false
  private var isInvalid = false

  init<T>(
    _ request: NSFetchRequest<T>, _ context: NSManagedObjectContext, sectionNameKeyPath: String?,
    cacheName: String?
  ) {
    self.context = context
    self.request = request
    self.sectionNameKeyPath = sectionNameKeyPath
    self.cacheName = cacheName
    fetch = { try FetchedResults(request, context, wantsState: cacheName != nil) }
  }

  deinit {
    for reader in readers { reader.finish() }
  }

  /// The face that delegates get.
  var erased: NSFetchedResultsController<NSFetchRequestResult> {
    if let own = titles as? NSFetchedResultsController<NSFetchRequestResult> { return own }
    if let knownErased { return knownErased }
    let made = NSFetchedResultsController<NSFetchRequestResult>(sharing: self)
    knownErased = made
    return made
  }

  // MARK: The fetch

  func performFetch() throws {
    let wasBusy = isBusy
    isBusy = true
    defer {
      isBusy = wasBusy
      if !wasBusy { work() }
    }
    let fetched = try fetch()
    let rules = try ResultsRules(fetched, sectionNameKeyPath, context)
    let cache = ResultsCache(self, fetched, rules.names)
    let runs = try cache?.runs ?? rules.names?.runs(in: fetched.objects)
    if let runs { cache?.write(runs) }
    list = ResultsList(fetched.objects, runs: runs, self)
    self.rules = rules
    fetchCount += 1
    isInvalid = false
    noted = ResultsBatch()
    backlog = []
    if !isRegistered {
      isRegistered = true
      context.register(self)
    }
    tellInitialSnapshot()
  }

  func object(at indexPath: IndexPath) -> NSManagedObject {
    guard let list else {
      fatalError("A fetched results controller has no objects before performFetch(): call it first")
    }
    guard indexPath.count == 2 else {
      fatalError("The index path \(indexPath) has \(indexPath.count) indexes: section and item make two")
    }
    guard list.sections.indices.contains(indexPath[0]) else {
      fatalError("no section at index \(indexPath[0])")
    }
    let section = list.sections[indexPath[0]]
    guard (0..<section.count).contains(indexPath[1]) else {
      fatalError("no object at index \(indexPath[1]) in section at index \(indexPath[0])")
    }
    return section.object(at: indexPath[1])
  }

  // MARK: Whether anybody follows

  func setDelegate(_ delegate: (any NSFetchedResultsControllerDelegate)?) {
    if delegate === self.delegate { return }
    self.delegate = delegate
    absent = []
    form = .unknown
  }

  var isFollowed: Bool {
    list != nil && !isInvalid && (!readers.isEmpty || form != .none && delegate != nil)
  }

  var hasReaders: Bool { !readers.isEmpty }

  func changeSequence() -> AsyncStream<NSFetchedResultsChange> {
    let (stream, continuation) = AsyncStream.makeStream(of: NSFetchedResultsChange.self)
    readers.append(continuation)
    return stream
  }

  func tellReaders(_ report: ResultsReport) {
    if readers.isEmpty { return }
    let change = report.value
    readers.removeAll { reader in
      if case .terminated = reader.yield(change) { true } else { false }
    }
  }

  /// The context has forgotten its objects: the results stay as they are until the next fetch.
  func invalidate() {
    isInvalid = true
    noted = ResultsBatch()
    backlog = []
  }

  // MARK: What the context says, in this order, for each event

  /// To be called before an object loses its row or its changes, and for one that a merge has made known.
  func note(_ object: NSManagedObject) {
    guard let rules, rules.includes(object.table.entity.id) else { return }
    noted.note(object) { rules.probe.valuesBeforeEvent(of: object) }
  }

  var hasNoted: Bool { !noted.before.isEmpty }

  /// The event that ends now: an object's former values are there for the last time.
  func prepare(_ event: ContextEvent) {
    for object in event.updated where object.flags.contains(.inEvent) { note(object) }
  }

  /// The event has ended.
  func take(_ userInfo: [AnyHashable: Any]) {
    var batch = noted
    noted = ResultsBatch()
    batch.add(userInfo)
    backlog.append(batch)
    if !isBusy { work() }
  }

  private func work() {
    isBusy = true
    defer { isBusy = false }
    while !backlog.isEmpty { process(backlog.removeFirst()) }
  }
}

/// What a fetch has found, and what of its request is needed to go on.
struct FetchedResults {
  let objects: [NSManagedObject]
  let entity: CompiledEntity
  let includesSubentities: Bool
  let affectedStores: [NSPersistentStore]?
  let predicate: PredicateTree?
  let keys: [SortKey]
  /// The fetch's limit and offset.
  let window: [Int]
  /// What the stores were at; nil if nobody asks, or if one got a commit meanwhile.
  let storeState: String?

  /// Whether the fetch took only some of the objects that match.
  var isWindow: Bool { window != [0, 0] }

  init<T>(_ fetch: NSFetchRequest<T>, _ context: NSManagedObjectContext, wantsState: Bool) throws {
    guard fetch.sortDescriptors?.isEmpty == false else {
      fatalError(
        "An instance of NSFetchedResultsController requires a fetch request with sort descriptors")
    }
    guard fetch.resultType == .managedObjectResultType else {
      throw StoreError(
        .unsupportedRequest, "a results controller follows objects, not results of another type",
        remedy: "leave the request's resultType at managedObjectResultType")
    }
    let before = wantsState ? context.storeState : nil
    // `fetch` has seen that the results are objects of T.
    objects = try unsafeBitCast(context.fetch(fetch), to: [NSManagedObject].self)
    storeState = before == nil || before != context.storeState ? nil : before
    entity = try fetch.entity(in: context.compiledModel)
    predicate = fetch.predicateTree
    keys = try fetch.sortKeys()
    includesSubentities = fetch.includesSubentities
    affectedStores = fetch.affectedStores
    window = [max(fetch.fetchLimit, 0), max(fetch.fetchOffset, 0)]
  }
}

/// Who is a result, and where it stands.
struct ResultsRules {
  let order: ObjectOrder
  let probe: SortProbe
  let names: SectionNames?
  /// Whether the fetch took only some of the objects that match.
  let isWindow: Bool
  private let condition: FetchCondition
  private let affectedStores: [NSPersistentStore]?
  private let family: [Bool]

  init(
    _ fetched: FetchedResults, _ sectionNameKeyPath: String?, _ context: NSManagedObjectContext
  ) throws {
    let entity = fetched.entity
    let model = context.compiledModel
    order = try ObjectOrder(fetched.keys, of: entity.id, in: model.schema)
    probe = SortProbe(order, model)
    names = sectionNameKeyPath.map {
      SectionNames($0, of: entity.id, in: model.schema, sort: fetched.keys)
    }
    condition = try FetchCondition(fetched.predicate, of: entity.id, in: model.schema, context)
    affectedStores = fetched.affectedStores
    isWindow = fetched.isWindow
    let members = Set(fetched.includesSubentities ? entity.schema.concreteFamily : [entity.id])
    family = model.entities.map { members.contains($0.id) }
  }

  func includes(_ entity: EntityID) -> Bool { family[entity.index] }

  /// Whether an object of the family belongs to the results as it is now. Reads the row of a fault. Where the
  /// predicate can't be asked of the object, it doesn't, and the context's next fetch or save throws why.
  func admit(_ object: NSManagedObject, _ context: NSManagedObjectContext) -> Bool {
    if !object.flags.isDisjoint(with: [.isDeleted, .isDead]) { return false }
    if object.chunk == nil, !object.flags.contains(.isDraft) { object.loadRow() }
    if object.flags.contains(.isInaccessible) { return false }
    if let affectedStores, !affectedStores.contains(where: { $0 === object.table.scope?.store }) {
      return false
    }
    do {
      return try condition.holds(object)
    } catch {
      context.deferredError = context.deferredError ?? error
      return false
    }
  }
}
