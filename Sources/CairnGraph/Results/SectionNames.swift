// From objects to the names of their sections, and from fetched objects to runs of equal names.

import CairnModel
import Foundation

/// Neighbouring objects of one section.
struct SectionRun {
  let name: String
  var range: Range<Int>
}

/// What a controller's `sectionNameKeyPath` says of objects of its entity.
struct SectionNames {
  let keyPath: String
  private let keys: [String]
  /// The way to a stored value, which is read without firing faults.
  private let path: BoundPath?
  /// Whether the objects are in the order of the values that name their sections.
  private let followOrder: Bool

  init(_ keyPath: String, of entity: EntityID, in schema: Schema, sort: [SortKey]) {
    self.keyPath = keyPath
    keys = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let bound = try? BoundPath(keys, from: entity, in: schema)
    path = bound.flatMap { $0.type == .key || $0.type == .transformable ? nil : $0 }
    let first = sort.first.flatMap { $0.collation == .plain ? $0.term : nil }
    followOrder = path != nil && first?.path == keys
  }

  /// The name of the object's section; nil where the value is.
  func name(of object: NSManagedObject) -> String? {
    if let path {
      let value = object.value(at: path)
      switch value {
      case .string(let name): return name
      case .bool(let flag): return flag ? "1" : "0"
      default: break
      }
      return SectionNames.name(value.keyValueForm)
    }
    var current: Any? = object
    for key in keys {
      guard let object = current as? NSManagedObject else { return nil }
      let computed = KeyedMembers.of(object)?.reader(key)
      current = computed.map { $0(object) } ?? object.value(forKey: key)
    }
    return SectionNames.name(current)
  }

  /// As Core Data describes values: truth values are numbers there.
  private static func name(_ value: Any?) -> String? {
    guard let value, !(value is NSNull) else { return nil }
    if let name = value as? String { return name }
    if type(of: value) == Bool.self, let flag = value as? Bool { return flag ? "1" : "0" }
    return "\(value)"
  }

  /// The sections of fetched objects. Costs a few looks a section where the objects are sorted by the same
  /// key path, else one an object.
  ///
  /// Throws 134060 when a name appears again after another one.
  func runs(in objects: [NSManagedObject]) throws -> [SectionRun] {
    var runs: [SectionRun] = []
    var names: Set<String> = []
    var start = 0
    var hasWarned = false
    while start < objects.count {
      let name = name(of: objects[start])
      let end = followOrder ? self.end(of: name, from: start, in: objects) : nextOther(name, start, objects)
      if name == nil, !hasWarned {
        hasWarned = true
        warnOfNil()
      }
      let shown = name ?? ""
      if let last = runs.last, last.name == shown {
        runs[runs.count - 1].range = last.range.lowerBound..<end
      } else if names.insert(shown).inserted {
        runs.append(SectionRun(name: shown, range: start..<end))
      } else {
        throw outOfOrder(start, shown)
      }
      start = end
    }
    return runs
  }

  private func nextOther(_ name: String?, _ start: Int, _ objects: [NSManagedObject]) -> Int {
    var end = start + 1
    while end < objects.count, self.name(of: objects[end]) == name { end += 1 }
    return end
  }

  /// The end of a run of sorted objects: steps that double, then halves.
  private func end(of name: String?, from start: Int, in objects: [NSManagedObject]) -> Int {
    var low = start
    var step = 1
    while low + step < objects.count, self.name(of: objects[low + step]) == name {
      low += step
      step *= 2
    }
    return (low + 1..<min(low + step, objects.count)).firstIndex(fromWhichOn: {
      self.name(of: objects[$0]) != name
    })
  }

  private func outOfOrder(_ index: Int, _ name: String) -> NSError {
    let reason =
      "The fetched object at index \(index) has an out of order section name '\(name). "
      + "Objects must be sorted by section name'"
    return NSError.coreData(NSCoreDataError, reason, ["reason": reason])
  }

  private func warnOfNil() {
    ResultsLog.warn(
      "A section returned nil value for section name key path '\(keyPath)'. Objects will be placed in unnamed "
        + "section")
  }

  func warnOfDisorder() {
    ResultsLog.warn(
      "Objects have an out of order section name for section name key path '\(keyPath)'. Objects must be sorted "
        + "by section name")
  }
}

enum ResultsLog {
  static func warn(_ message: String) {
    FileHandle.standardError.write(Data("CoreData: error: (NSFetchedResultsController) \(message)\n".utf8))
  }
}
