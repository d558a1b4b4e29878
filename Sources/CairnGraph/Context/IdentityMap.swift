// The saved objects of one hierarchy that a context knows, by key.
//
// Always holds: an object is in the map of its context under its own positive key, and no other object is. The
// map holds objects strongly, and lets go of those that nobody else holds when `collect` comes by: so objects
// die on their own queue, and a look-up is an array access.

import Foundation

/// Objects by key: pages of an array where keys are dense, a dictionary beyond.
///
/// Confined to its context's queue. An object that is let go of may end and call into its context: so that only
/// happens after the map is whole again, by those who are given the object.
final class IdentityMap {
  private typealias Page = UnsafeMutablePointer<NSManagedObject?>

  static let pageSize = 512
  /// Keys beyond take a dictionary, so that one stray key doesn't cost an array of its size.
  private static let denseLimit: Int64 = 1 << 28

  // Unchecked exclusivity, since every look-up of an object comes here: no access to these calls out.
  /// Each of `pageSize` objects, or nil where none was ever needed. Memory of its own, since an array's buffer would
  /// be retained for each look-up.
  @exclusivity(unchecked) private var pages: UnsafeMutablePointer<Page?>
  @exclusivity(unchecked) private(set) var pageCount = 0
  private var pageCapacity = 0
  @exclusivity(unchecked) private var sparse: [Int64: NSManagedObject] = [:]
  /// Where `collect` goes on: an index over all places of all pages.
  @exclusivity(unchecked) private var nextPlace = 0
  @exclusivity(unchecked) private(set) var count = 0

  init() { pages = .allocate(capacity: 0) }

  deinit { IdentityMap.free(pages, pageCount) }

  private static func free(_ pages: UnsafeMutablePointer<Page?>, _ count: Int) {
    for index in 0..<count {
      guard let page = pages[index] else { continue }
      page.deinitialize(count: pageSize)
      page.deallocate()
    }
    pages.deallocate()
  }

  @inline(__always)
  func object(_ key: Int64) -> NSManagedObject? {
    // Negative keys, which have no place here, are large unsigned ones.
    let page = Int(truncatingIfNeeded: UInt64(bitPattern: key) / UInt64(IdentityMap.pageSize))
    guard page < pageCount else { return sparse.isEmpty ? nil : sparse[key] }
    return pages[page]?[Int(truncatingIfNeeded: key) % IdentityMap.pageSize]
  }

  /// The same without counting a reference.
  @inline(__always)
  func quickObject(_ key: Int64) -> Unmanaged<NSManagedObject>? {
    let page = Int(truncatingIfNeeded: UInt64(bitPattern: key) / UInt64(IdentityMap.pageSize))
    guard page < pageCount else { return sparse.isEmpty ? nil : sparse[key].map { .passUnretained($0) } }
    guard let objects = pages[page] else { return nil }
    let place = objects + Int(truncatingIfNeeded: key) % IdentityMap.pageSize
    // An optional reference lies in memory as an unmanaged one does.
    return UnsafeRawPointer(place).load(as: Unmanaged<NSManagedObject>?.self)
  }

  /// Adds an object under a key that has none.
  func insert(_ object: NSManagedObject, _ key: Int64) {
    count += 1
    guard key < IdentityMap.denseLimit else {
      sparse[key] = object
      return
    }
    let index = Int(key) / IdentityMap.pageSize
    let page = index < pageCount ? pages[index] ?? makePage(index) : makePage(index)
    page[Int(key) % IdentityMap.pageSize] = object
  }

  @inline(never)
  private func makePage(_ index: Int) -> Page {
    if pageCount <= index {
      reservePages(index + 1)
      (pages + pageCount).initialize(repeating: nil, count: index + 1 - pageCount)
      pageCount = index + 1
    }
    let page = Page.allocate(capacity: IdentityMap.pageSize)
    page.initialize(repeating: nil, count: IdentityMap.pageSize)
    pages[index] = page
    return page
  }

  private func reservePages(_ count: Int) {
    if count <= pageCapacity { return }
    pageCapacity = max(count, 2 * pageCapacity)
    let grown = UnsafeMutablePointer<Page?>.allocate(capacity: pageCapacity)
    grown.moveInitialize(from: pages, count: pageCount)
    pages.deallocate()
    pages = grown
  }

  /// Takes the object out that is under the key, if one is, and returns it.
  @discardableResult
  func remove(_ key: Int64) -> NSManagedObject? {
    guard key < IdentityMap.denseLimit else {
      let removed = sparse.removeValue(forKey: key)
      if removed != nil { count -= 1 }
      return removed
    }
    let index = Int(key) / IdentityMap.pageSize
    guard key >= 0, index < pageCount, let page = pages[index] else { return nil }
    let removed = (page + Int(key) % IdentityMap.pageSize).move()
    (page + Int(key) % IdentityMap.pageSize).initialize(to: nil)
    if removed != nil { count -= 1 }
    return removed
  }

  /// Takes all objects out.
  func removeAll() {
    let old = (pages, pageCount, sparse)
    (pages, pageCount, pageCapacity, sparse) = (.allocate(capacity: 0), 0, 0, [:])
    (count, nextPlace) = (0, 0)
    IdentityMap.free(old.0, old.1)
  }

  var all: [NSManagedObject] {
    var result: [NSManagedObject] = []
    for index in 0..<pageCount {
      guard let page = pages[index] else { continue }
      result += UnsafeBufferPointer(start: page, count: IdentityMap.pageSize).lazy.compactMap(\.self)
    }
    return result + sparse.values
  }

  /// Takes out the unchanged objects that only the map holds, looking at `count` places from where it left off, each
  /// once at most, and returns them.
  func collect(places count: Int) -> [NSManagedObject] {
    var freed: [NSManagedObject] = []
    var left = min(count, pageCount * IdentityMap.pageSize)
    while left > 0 {
      if nextPlace >= pageCount * IdentityMap.pageSize { nextPlace = 0 }
      let (page, place) = nextPlace.quotientAndRemainder(dividingBy: IdentityMap.pageSize)
      let end = min(IdentityMap.pageSize, place + left)
      if let objects = pages[page] { collect(objects, place..<end, into: &freed) }
      left -= end - place
      nextPlace += end - place
    }
    for key in sparse.keys where isKnownUniquelyReferenced(&sparse[key]) && sparse[key]?.hasChanges == false {
      freed.append(sparse.removeValue(forKey: key)!)
    }
    self.count -= freed.count
    return freed
  }

  private func collect(_ objects: Page, _ places: Range<Int>, into freed: inout [NSManagedObject]) {
    for place in places
    where isKnownUniquelyReferenced(&objects[place]) && objects[place]?.hasChanges == false {
      freed.append(objects[place].unsafelyUnwrapped)
      objects[place] = nil
    }
  }
}
