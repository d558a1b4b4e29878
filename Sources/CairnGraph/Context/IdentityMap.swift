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
  /// Each of `pageSize` objects, or nil where none was ever needed.
  @exclusivity(unchecked) private var pages: ContiguousArray<Page?> = []
  @exclusivity(unchecked) private var sparse: [Int64: NSManagedObject] = [:]
  @exclusivity(unchecked) private var nextPage = 0
  @exclusivity(unchecked) private(set) var count = 0

  deinit { IdentityMap.free(pages) }

  private static func free(_ pages: ContiguousArray<Page?>) {
    for case let page? in pages {
      page.deinitialize(count: pageSize)
      page.deallocate()
    }
  }

  @inline(__always)
  func object(_ key: Int64) -> NSManagedObject? {
    // Negative keys, which have no place here, are large unsigned ones.
    let page = Int(truncatingIfNeeded: UInt64(bitPattern: key) / UInt64(IdentityMap.pageSize))
    guard page < pages.count else { return sparse.isEmpty ? nil : sparse[key] }
    return pages[page]?[Int(truncatingIfNeeded: key) % IdentityMap.pageSize]
  }

  /// Adds an object under a key that has none.
  func insert(_ object: NSManagedObject, _ key: Int64) {
    count += 1
    guard key < IdentityMap.denseLimit else {
      sparse[key] = object
      return
    }
    let index = Int(key) / IdentityMap.pageSize
    let page = index < pages.count ? pages[index] ?? makePage(index) : makePage(index)
    page[Int(key) % IdentityMap.pageSize] = object
  }

  @inline(never)
  private func makePage(_ index: Int) -> Page {
    if pages.count <= index {
      pages.append(contentsOf: repeatElement(nil, count: index + 1 - pages.count))
    }
    let page = Page.allocate(capacity: IdentityMap.pageSize)
    page.initialize(repeating: nil, count: IdentityMap.pageSize)
    pages[index] = page
    return page
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
    guard key >= 0, index < pages.count, let page = pages[index] else { return nil }
    let removed = (page + Int(key) % IdentityMap.pageSize).move()
    (page + Int(key) % IdentityMap.pageSize).initialize(to: nil)
    if removed != nil { count -= 1 }
    return removed
  }

  /// Takes all objects out.
  func removeAll() {
    let old = (pages, sparse)
    (pages, sparse, count, nextPage) = ([], [:], 0, 0)
    IdentityMap.free(old.0)
  }

  var all: [NSManagedObject] {
    pages.flatMap { page in
      page.map { UnsafeBufferPointer(start: $0, count: IdentityMap.pageSize).compactMap(\.self) } ?? []
    } + sparse.values
  }

  /// Takes out the unchanged objects that only the map holds, looking at `pageCount` pages from where it left
  /// off, and returns them.
  func collect(pageCount: Int) -> [NSManagedObject] {
    var freed: [NSManagedObject] = []
    for _ in 0..<min(pageCount, pages.count) {
      if nextPage >= pages.count { nextPage = 0 }
      collect(page: nextPage, into: &freed)
      nextPage += 1
    }
    for key in sparse.keys where isKnownUniquelyReferenced(&sparse[key]) && sparse[key]?.hasChanges == false {
      freed.append(sparse.removeValue(forKey: key)!)
    }
    count -= freed.count
    return freed
  }

  var pageCount: Int { pages.count }

  private func collect(page index: Int, into freed: inout [NSManagedObject]) {
    guard let page = pages[index] else { return }
    for place in 0..<IdentityMap.pageSize
    where isKnownUniquelyReferenced(&page[place]) && page[place]?.hasChanges == false {
      freed.append(page[place].unsafelyUnwrapped)
      page[place] = nil
    }
  }
}
