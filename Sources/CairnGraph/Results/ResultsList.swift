// The objects of a results controller in their sections, and how a batch of changes goes in.
//
// Always holds: sections stand in `sections` under their `index`, have names of their own, and are not empty
// unless the list is unsectioned, when there is exactly one; each object is in the place table with its
// block.

import CairnModel
import Foundation

/// Confined to the context's queue.
final class ResultsList {
  /// Whether sections come and go with their objects.
  let isSectioned: Bool
  private(set) var sections: [ResultsSection] = []
  private(set) var count = 0
  private var sectionsByName: [String: ResultsSection] = [:]
  private var places = PlaceTable()
  private var blocks: ContiguousArray<ResultsBlock?> = []
  private var freeNumbers: [Int] = []
  private weak var core: ResultsCore?
  private var knownObjects: [NSManagedObject]?
  /// The type that `knownObjects` were seen to be of.
  private var knownType: ObjectIdentifier?
  private var knownInfos: [any NSFetchedResultsSectionInfo]?

  struct Place {
    let block: ResultsBlock
    let item: Int

    var section: ResultsSection { block.section }
    var indexPath: IndexPath { [section.index, section.start(of: block) + item] }
  }

  /// Runs with different names, which cover the objects in order. Without runs the list is unsectioned.
  init(_ objects: [NSManagedObject], runs: [SectionRun]?, _ core: ResultsCore?) {
    isSectioned = runs != nil
    self.core = core
    for run in runs ?? [SectionRun(name: "", range: 0..<objects.count)] {
      append(run.name, objects[run.range])
    }
    count = objects.count
  }

  private func append(_ name: String, _ objects: ArraySlice<NSManagedObject>) {
    let section = ResultsSection(name, core)
    section.index = sections.count
    sections.append(section)
    sectionsByName[name] = section
    var rest = objects
    while !rest.isEmpty {
      let block = makeBlock(ContiguousArray(rest.prefix(ResultsBlock.fill)), section)
      rest = rest.dropFirst(ResultsBlock.fill)
      for object in block.objects { places.enter(object, block.number) }
      section.append(block)
    }
  }

  /// A list of the same objects and sections that goes its own ways.
  func copy() -> ResultsList {
    var runs: [SectionRun] = []
    var start = 0
    for section in sections {
      runs.append(SectionRun(name: section.name, range: start..<start + section.count))
      start += section.count
    }
    return ResultsList(objects, runs: isSectioned ? runs : nil, core)
  }

  // MARK: Asking

  var objects: [NSManagedObject] {
    if let knownObjects { return knownObjects }
    var result: [NSManagedObject] = []
    result.reserveCapacity(count)
    for section in sections { for block in section.blocks { result += block.objects } }
    knownObjects = result
    return result
  }

  /// `objects` as those of `type`, which is checked once until they change.
  func objects<T: NSFetchRequestResult>(as type: T.Type) -> [T] {
    let objects = objects
    // The same array as `typed` returns: it has checked these objects.
    if knownType == ObjectIdentifier(type) { return unsafeBitCast(objects, to: [T].self) }
    knownType = ObjectIdentifier(type)
    return ResultsList.typed(objects, as: type)
  }

  /// The objects as an array of `T`. Looks at each class once, not at each object. Another type is a programmer
  /// error.
  static func typed<T: NSFetchRequestResult>(_ objects: [NSManagedObject], as type: T.Type) -> [T] {
    if ObjectIdentifier(T.self) != ObjectIdentifier((any NSFetchRequestResult).self) {
      var seen: ObjectIdentifier?
      for object in objects where ObjectIdentifier(Swift.type(of: object)) != seen {
        guard object is T else {
          fatalError(
            "the controller's results are \(Swift.type(of: object)), not \(T.self): "
              + NSManagedObjectContext.classRemedy(object.table.entity))
        }
        seen = ObjectIdentifier(Swift.type(of: object))
      }
    }
    // T is a class that all of them are of, or a marker over AnyObject: one reference either way.
    return unsafeBitCast(objects, to: [T].self)
  }

  var infos: [any NSFetchedResultsSectionInfo] {
    if let knownInfos { return knownInfos }
    knownInfos = sections
    return sections
  }

  func place(of object: NSManagedObject) -> Place? {
    guard let number = places.block(of: object), let block = blocks[number],
      let item = block.firstIndex(of: object)
    else { return nil }
    return Place(block: block, item: item)
  }

  /// The object one place before (-1) or behind (1) a place, also in another section.
  func neighbour(of path: IndexPath, _ step: Int) -> NSManagedObject? {
    let section = sections[path[0]]
    let item = path[1] + step
    if item >= 0, item < section.count { return section.object(at: item) }
    let other = path[0] + step
    guard sections.indices.contains(other) else { return nil }
    return step > 0 ? sections[other].first : sections[other].last
  }

  /// How many objects stand before each section.
  var sectionStarts: [Int] {
    var start = 0
    return sections.map { section in
      defer { start += section.count }
      return start
    }
  }

  // MARK: Changing

  /// An object that comes in, with the name of its section.
  struct Arrival {
    let object: NSManagedObject
    let section: String
  }

  /// What has become of sections.
  struct SectionChanges {
    /// With their former indexes, in order; they are empty now.
    var deleted: [(index: Int, section: ResultsSection)] = []
    /// In order.
    var inserted: [ResultsSection] = []
    /// Whether objects of a section aren't side by side in the order of all objects.
    var areDisordered = false
  }

  /// Takes out some of its objects, then puts in others, which come in their order. Costs what changes, and
  /// the number of sections where one comes or goes.
  func apply(
    removing removed: [NSManagedObject], inserting arrivals: [Arrival], by order: ObjectOrder
  ) -> SectionChanges {
    knownObjects = nil
    knownType = nil
    let emptied = remove(removed)
    let changes = insert(arrivals, by: order, emptied)
    count += arrivals.count - removed.count
    return changes
  }

  /// Returns the sections that are empty now.
  private func remove(_ removed: [NSManagedObject]) -> [ResultsSection] {
    var touched: [ResultsSection] = []
    for object in removed {
      guard let place = place(of: object) else { continue }
      places.remove(object)
      let section = place.section
      section.remove(at: place.item, of: place.block)
      if place.block.objects.isEmpty { touched.append(section) }
    }
    var emptied: [ResultsSection] = []
    for section in touched {
      let blocks = section.compact()
      for block in blocks {
        self.blocks[block.number] = nil
        freeNumbers.append(block.number)
      }
      if isSectioned, section.count == 0, !blocks.isEmpty { emptied.append(section) }
    }
    return emptied
  }

  private func insert(
    _ arrivals: [Arrival], by order: ObjectOrder, _ emptied: [ResultsSection]
  ) -> SectionChanges {
    for section in emptied { sectionsByName[section.name] = nil }
    let base = emptied.isEmpty ? sections : sections.filter { $0.count > 0 }
    var waiting = Dictionary(uniqueKeysWithValues: emptied.map { ($0.name, $0) })
    var added: [(place: Int, section: ResultsSection, isBack: Bool)] = []
    for arrival in arrivals {
      if let section = sectionsByName[arrival.section] {
        insert(arrival.object, into: section, by: order)
        continue
      }
      let place = base.firstIndex(fromWhichOn: { section in
        section.first.map { !order.areInOrder($0, arrival.object) } ?? false
      })
      // A section that has lost its objects and got others is the same as long as it kept its place.
      let back = waiting[arrival.section].flatMap { section in
        let previous = added.last { $0.isBack && $0.place == place }?.section
        let before = previous?.index ?? (place > 0 ? base[place - 1].index : -1)
        let after = place < base.count ? base[place].index : Int.max
        return before < section.index && section.index < after ? section : nil
      }
      if back != nil { waiting[arrival.section] = nil }
      let section = back ?? ResultsSection(arrival.section, core)
      sectionsByName[arrival.section] = section
      insert(arrival.object, into: section, by: order)
      added.append((place, section, back != nil))
    }
    var changes = SectionChanges()
    changes.deleted = waiting.values.sorted { $0.index < $1.index }.map { ($0.index, $0) }
    changes.inserted = added.filter { !$0.isBack }.map(\.section)
    if !emptied.isEmpty || !added.isEmpty { merge(base, added.map { ($0.place, $0.section) }) }
    changes.inserted.sort { $0.index < $1.index }
    changes.areDisordered = isSectioned && arrivals.contains { isMisplaced($0, by: order) }
    return changes
  }

  /// Puts new sections between those that stay.
  private func merge(_ base: [ResultsSection], _ added: [(place: Int, section: ResultsSection)]) {
    var result: [ResultsSection] = []
    result.reserveCapacity(base.count + added.count)
    var next = 0
    for (place, section) in added.enumerated().sorted(by: {
      ($0.element.place, $0.offset) < ($1.element.place, $1.offset)
    }).map(\.element) {
      result += base[next..<place]
      next = place
      result.append(section)
    }
    result += base[next...]
    sections = result
    for index in result.indices { result[index].index = index }
    knownInfos = nil
  }

  private func insert(_ object: NSManagedObject, into section: ResultsSection, by order: ObjectOrder) {
    let (block, split) = section.insert(object, by: order) { makeBlock($0, section) }
    places.enter(object, block.number)
    if let split { for moved in split.objects { places.move(moved, to: split.number) } }
  }

  private func makeBlock(_ objects: ContiguousArray<NSManagedObject>, _ section: ResultsSection)
    -> ResultsBlock
  {
    let number = freeNumbers.popLast() ?? blocks.count
    let block = ResultsBlock(number, section, objects)
    if number == blocks.count { blocks.append(block) } else { blocks[number] = block }
    return block
  }

  /// Whether an object at an edge of its section is on the wrong side of the neighbouring section.
  private func isMisplaced(_ arrival: Arrival, by order: ObjectOrder) -> Bool {
    guard let section = sectionsByName[arrival.section] else { return false }
    if section.first === arrival.object, section.index > 0,
      let other = sections[section.index - 1].last, !order.areInOrder(other, arrival.object)
    {
      return true
    }
    if section.last === arrival.object, section.index + 1 < sections.count,
      let other = sections[section.index + 1].first, !order.areInOrder(arrival.object, other)
    {
      return true
    }
    return false
  }
}
