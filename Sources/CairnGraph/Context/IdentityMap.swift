// The saved objects of one hierarchy that a context knows, by key.
//
// Always holds: an object is in the map of its context under its own positive key, and no other object is. The
// map holds objects strongly, and lets go of those that nobody else holds when `collect` comes by: so objects
// die on their own queue, and a look-up is an array access.

import Foundation

/// Objects by key: pages of an array where keys are dense, a dictionary beyond.
struct IdentityMap {
  private final class Page {
    var objects = ContiguousArray<NSManagedObject?>(repeating: nil, count: IdentityMap.pageSize)
  }

  private static let pageSize = 512
  /// Keys beyond take a dictionary, so that one stray key doesn't cost an array of its size.
  private static let denseLimit: Int64 = 1 << 28

  private var pages: ContiguousArray<Page?> = []
  private var sparse: [Int64: NSManagedObject] = [:]
  private var nextPage = 0
  private(set) var count = 0

  func object(_ key: Int64) -> NSManagedObject? {
    guard key < IdentityMap.denseLimit else { return sparse[key] }
    let page = Int(key) / IdentityMap.pageSize
    guard page < pages.count else { return nil }
    return pages[page]?.objects[Int(key) % IdentityMap.pageSize]
  }

  /// Adds an object under a key that has none.
  mutating func insert(_ object: NSManagedObject, _ key: Int64) {
    count += 1
    guard key < IdentityMap.denseLimit else {
      sparse[key] = object
      return
    }
    let index = Int(key) / IdentityMap.pageSize
    while pages.count <= index { pages.append(nil) }
    if pages[index] == nil { pages[index] = Page() }
    pages[index].unsafelyUnwrapped.objects[Int(key) % IdentityMap.pageSize] = object
  }

  /// Takes the object out that is under the key, if one is.
  mutating func remove(_ key: Int64) {
    guard key < IdentityMap.denseLimit else {
      if sparse.removeValue(forKey: key) != nil { count -= 1 }
      return
    }
    let index = Int(key) / IdentityMap.pageSize
    guard index < pages.count, let page = pages[index] else { return }
    let place = Int(key) % IdentityMap.pageSize
    if page.objects[place] != nil { count -= 1 }
    page.objects[place] = nil
  }

  var all: [NSManagedObject] {
    pages.flatMap { $0.map { $0.objects.compactMap(\.self) } ?? [] } + sparse.values
  }

  /// Takes out the unchanged objects that only the map holds, looking at `pageCount` pages from where it left
  /// off, and returns them: their ends may call into the context, so they come after the map is whole again.
  mutating func collect(pageCount: Int) -> [NSManagedObject] {
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
    for place in page.objects.indices
    where isKnownUniquelyReferenced(&page.objects[place]) && page.objects[place]?.hasChanges == false {
      freed.append(page.objects[place].unsafelyUnwrapped)
      page.objects[place] = nil
    }
  }
}
