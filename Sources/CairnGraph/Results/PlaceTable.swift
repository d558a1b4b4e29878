// Where the objects of a results list stand: from an object to the number of its block.

import CairnModel
import Foundation

/// Block numbers by key, in pages of an array; those of unsaved objects, and of objects whose key another one
/// has (keys of two stores), by identity.
///
/// An object stays where it was entered, also when a save gives it another key. The table says where an
/// object would be: that it is there has to be seen from the block.
struct PlaceTable {
  private static let pageSize = 512
  /// Keys beyond go by identity, so that one stray key doesn't cost an array of its size.
  private static let denseLimit: Int64 = 1 << 28

  /// Block numbers plus one; 0 where there is none.
  private var pages: ContiguousArray<ContiguousArray<Int32>> = []
  private var others: [ObjectIdentifier: Int32] = [:]

  /// The number of the block that has the object, if any has.
  func block(of object: NSManagedObject) -> Int? {
    if !others.isEmpty, let other = others[ObjectIdentifier(object)] { return Int(other) }
    let found = dense(object.key)
    return found == 0 ? nil : Int(found - 1)
  }

  /// Enters an object that isn't in the table.
  mutating func enter(_ object: NSManagedObject, _ block: Int) {
    let key = object.key
    if key > 0, key < PlaceTable.denseLimit, dense(key) == 0 {
      setDense(key, Int32(block + 1))
    } else {
      others[ObjectIdentifier(object)] = Int32(block)
    }
  }

  /// Notes that an object of the table stands in another block now.
  mutating func move(_ object: NSManagedObject, to block: Int) {
    if !others.isEmpty, let place = others.index(forKey: ObjectIdentifier(object)) {
      others.values[place] = Int32(block)
    } else {
      setDense(object.key, Int32(block + 1))
    }
  }

  /// Takes out an object of the table.
  mutating func remove(_ object: NSManagedObject) {
    if !others.isEmpty, others.removeValue(forKey: ObjectIdentifier(object)) != nil { return }
    setDense(object.key, 0)
  }

  private func dense(_ key: Int64) -> Int32 {
    guard key > 0, key < PlaceTable.denseLimit else { return 0 }
    let page = Int(key) / PlaceTable.pageSize
    guard page < pages.count, !pages[page].isEmpty else { return 0 }
    return pages[page][Int(key) % PlaceTable.pageSize]
  }

  private mutating func setDense(_ key: Int64, _ value: Int32) {
    let page = Int(key) / PlaceTable.pageSize
    while pages.count <= page { pages.append([]) }
    if pages[page].isEmpty {
      pages[page] = ContiguousArray(repeating: 0, count: PlaceTable.pageSize)
    }
    pages[page][Int(key) % PlaceTable.pageSize] = value
  }
}
