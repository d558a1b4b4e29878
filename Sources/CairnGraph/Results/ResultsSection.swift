// One section of a results list: its objects in order, in blocks.
//
// Always holds outside of `ResultsList.apply`: no block is empty, `counts[i]` is the number of objects in
// `blocks[i]`, whose `index` is i, and `count` is their sum.

import CairnModel
import Foundation

/// Some neighbouring objects of a section.
final class ResultsBlock {
  static let capacity = 512
  /// How full blocks are at first, so that the first insertion doesn't split them.
  static let fill = 384

  /// The number under which `PlaceTable` knows the block.
  let number: Int
  unowned var section: ResultsSection
  var index = 0
  var objects: ContiguousArray<NSManagedObject>

  init(_ number: Int, _ section: ResultsSection, _ objects: ContiguousArray<NSManagedObject>) {
    self.number = number
    self.section = section
    self.objects = objects
  }

  func firstIndex(of object: NSManagedObject) -> Int? {
    objects.withUnsafeBufferPointer { objects in
      var index = 0
      while index < objects.count {
        if objects[index] === object { return index }
        index += 1
      }
      return nil
    }
  }
}

final class ResultsSection: NSFetchedResultsSectionInfo {
  let name: String
  var index = 0
  private(set) var count = 0
  private(set) var blocks: [ResultsBlock] = []
  private var counts: [Int32] = []
  /// `objects`, once it was asked for.
  private var known: [Any]?
  weak var core: ResultsCore?

  init(_ name: String, _ core: ResultsCore?) {
    self.name = name
    self.core = core
  }

  // MARK: What a program sees

  var numberOfObjects: Int { count }

  var indexTitle: String? { core?.indexTitle(ofSection: name) }

  var objects: [Any]? {
    if let known { return known }
    var result: [Any] = []
    result.reserveCapacity(count)
    for block in blocks { for object in block.objects { result.append(object) } }
    known = result
    return result
  }

  // MARK: Places

  /// How many objects of the section stand before the block.
  func start(of block: ResultsBlock) -> Int {
    counts.withUnsafeBufferPointer { counts in
      var sum: Int64 = 0
      for index in 0..<block.index { sum += Int64(counts[index]) }
      return Int(sum)
    }
  }

  func object(at item: Int) -> NSManagedObject {
    var rest = item
    var index = 0
    while rest >= Int(counts[index]) {
      rest -= Int(counts[index])
      index += 1
    }
    return blocks[index].objects[rest]
  }

  var first: NSManagedObject? { blocks.first?.objects.first }
  var last: NSManagedObject? { blocks.last?.objects.last }

  // MARK: Changes

  /// Adds a block behind the others.
  func append(_ block: ResultsBlock) {
    insert(block, at: blocks.count)
    count += block.objects.count
    known = nil
  }

  private func insert(_ block: ResultsBlock, at index: Int) {
    blocks.insert(block, at: index)
    counts.insert(Int32(block.objects.count), at: index)
    for following in index..<blocks.count { blocks[following].index = following }
  }

  /// May leave the block empty, until `compact`.
  func remove(at item: Int, of block: ResultsBlock) {
    block.objects.remove(at: item)
    counts[block.index] -= 1
    count -= 1
    known = nil
  }

  /// Takes empty blocks out, and returns them.
  func compact() -> [ResultsBlock] {
    let empty = blocks.filter(\.objects.isEmpty)
    if empty.isEmpty { return [] }
    blocks.removeAll(where: \.objects.isEmpty)
    counts.removeAll { $0 == 0 }
    for index in blocks.indices { blocks[index].index = index }
    return empty
  }

  /// Puts an object behind those that aren't after it. `makeBlock` is asked for a block where one gets too
  /// full. Returns the object's block, and a new one that has taken over some of its objects.
  func insert(
    _ object: NSManagedObject, by order: ObjectOrder,
    _ makeBlock: (ContiguousArray<NSManagedObject>) -> ResultsBlock
  ) -> (block: ResultsBlock, split: ResultsBlock?) {
    count += 1
    known = nil
    guard !blocks.isEmpty else {
      let block = makeBlock([object])
      insert(block, at: 0)
      return (block, nil)
    }
    let keyed = order.keyed(object)
    let block = blocks[
      max(blocks.firstIndex(fromWhichOn: { !order.areInOrder($0.objects[0], keyed) }) - 1, 0)]
    let item = block.objects.firstIndex(fromWhichOn: { !order.areInOrder($0, keyed) })
    if item == ResultsBlock.capacity, block.index == blocks.count - 1 {
      // Appending one by one fills blocks instead of halving them.
      let next = makeBlock([object])
      insert(next, at: blocks.count)
      return (next, nil)
    }
    block.objects.insert(object, at: item)
    counts[block.index] += 1
    guard block.objects.count > ResultsBlock.capacity else { return (block, nil) }
    let middle = block.objects.count / 2
    let split = makeBlock(ContiguousArray(block.objects[middle...]))
    block.objects.removeSubrange(middle...)
    counts[block.index] = Int32(middle)
    insert(split, at: block.index + 1)
    return (block, split)
  }
}

extension RandomAccessCollection where Index == Int {
  /// The first index from which on `isAfter` holds; it has to hold for all elements after one for which it
  /// does.
  func firstIndex(fromWhichOn isAfter: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = (low + high) / 2
      if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
