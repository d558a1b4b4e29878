// The results of a fetch as a collection that holds keys and loads objects when they are looked at. Beside the
// fetch that returns an array, which can't be lazy.

import CairnModel
import Foundation

/// Objects of a fetch, loaded some at a time.
///
/// Holds a key for each result, and the objects of the batches that were looked at last: a million results take
/// some megabytes. Order and membership are those of the moment of the fetch; a row that was deleted since shows as
/// an object without values. Belongs to the context's queue.
public struct NSFetchedObjects<Element: NSFetchRequestResult>: RandomAccessCollection {
  private let results: LazyResults

  init(_ results: LazyResults) { self.results = results }

  public var startIndex: Int { 0 }
  public var endIndex: Int { results.count }

  /// Loads the batch that the place is in, unless it is there. An error of the store is thrown by the context's
  /// next fetch or save.
  public subscript(position: Int) -> Element {
    precondition(
      position >= 0 && position < results.count, "there is no result \(position) of \(results.count)")
    guard let object = results.object(position) as? Element else {
      fatalError("the request's results aren't of the type \(Element.self)")
    }
    return object
  }
}

/// Confined to the context's queue.
final class LazyResults {
  private let context: NSManagedObjectContext
  private let scopes: [StoreScope]
  private let places: [Place]
  private let batchSize: Int
  private let firesFaults: Bool
  /// New objects among the results: a save may end their key.
  private let kept: [Int64: NSManagedObject]
  /// The batches that were used last, the newest at the end.
  private var batches: [(index: Int, objects: [NSManagedObject])] = []

  struct Place {
    let key: Int64
    let entity: EntityID
    let scope: UInt16
  }

  static let keptBatches = 4

  init(
    _ context: NSManagedObjectContext, _ scopes: [StoreScope], _ places: [Place], kept: [NSManagedObject],
    batchSize: Int, firesFaults: Bool
  ) {
    self.kept = Dictionary(kept.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
    self.context = context
    self.scopes = scopes
    self.places = places
    self.batchSize = batchSize
    self.firesFaults = firesFaults
  }

  var count: Int { places.count }

  func object(_ position: Int) -> NSManagedObject {
    let index = position / batchSize
    if let last = batches.last, last.index == index { return last.objects[position % batchSize] }
    if let found = batches.firstIndex(where: { $0.index == index }) {
      batches.append(batches.remove(at: found))
    } else {
      batches.append((index, load(index)))
      if batches.count > LazyResults.keptBatches { batches.removeFirst() }
    }
    return batches[batches.count - 1].objects[position % batchSize]
  }

  private func load(_ index: Int) -> [NSManagedObject] {
    let range = index * batchSize..<min((index + 1) * batchSize, places.count)
    let objects = places[range].map { place in
      if place.key < 0, let object = kept[place.key] { return object }
      let scope = scopes[Int(place.scope)]
      let root = context.compiledModel[place.entity].schema.root
      return scope.knownObject(place.key, root: root)
        ?? scope.register(FetchedRow(table: scope.table(place.entity), chunk: nil, row: 0, key: place.key))
    }
    for scope in scopes { scope.load(objects.filter { $0.table.scope === scope }) }
    if firesFaults { for object in objects { object.fire() } }
    return objects
  }
}
