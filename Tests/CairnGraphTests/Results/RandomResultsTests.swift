// Random fetches, and random batches of changes in several contexts: tables that are driven by what delegates
// are told show what a fetch finds, in all three forms. A failure prints its seed; CAIRN_SEED runs only that
// one.

import Cairn
import Testing

@testable import CairnGraph

/// The generator of one run.
private struct Dice: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(sides)) }
  mutating func pick<T>(_ choices: [T]) -> T { choices[roll(choices.count)] }
}

/// A table by the five methods.
private final class ClassicTable: NSFetchedResultsControllerDelegate {
  var table = ModelTable<NSManagedObject>([])
  private(set) var titles: [String] = []
  private(set) var mistake: String?

  func load(_ controller: NSFetchedResultsController<Entry>) {
    table = ModelTable((controller.sections ?? []).map { $0.objects as? [NSManagedObject] ?? [] })
    titles = (controller.sections ?? []).map(\.name)
  }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    if (controller.sections ?? []).map(\.numberOfObjects) != table.sections.map(\.count) {
      mistake = "the results have changed before they will"
    }
    table.beginUpdates()
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    if type == .delete { table.deleteSection(sectionIndex) } else { table.insertSection(sectionIndex) }
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    guard let object = anObject as? NSManagedObject else { return mistake = "no object" }
    switch (type, indexPath, newIndexPath) {
    case (.insert, nil, let to?): table.insertRow(object, to)
    case (.delete, let from?, nil): table.deleteRow(from)
    case (.move, let from?, let to?): table.moveRow(object, from, to)
    case (.update, let from?, let to?):
      if table.sections[from[0]][from[1]] !== object || controller.indexPath(forObject: object) != to {
        mistake = "an update at wrong places"
      }
    default: mistake = "\(type) with the wrong paths"
    }
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    do {
      try table.endUpdates(counts: (controller.sections ?? []).map(\.numberOfObjects))
    } catch {
      mistake = "\(error)"
    }
    titles = (controller.sections ?? []).map(\.name)
  }
}

private final class SnapshotTable: NSFetchedResultsControllerDelegate {
  private(set) var sections: [(name: String, objects: [NSManagedObject?])] = []

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) {
    let typed = NSDiffableDataSourceSnapshot<String, NSManagedObjectID>(snapshot)
    // By what the IDs name now: those of unsaved objects are others once they are saved.
    let context = controller.managedObjectContext
    sections = typed.sectionIdentifiers.map { section in
      (section, typed.itemIdentifiers(inSection: section).map { context.registeredObject(for: $0) })
    }
  }
}

private final class DifferenceTable: NSFetchedResultsControllerDelegate {
  var objects: [NSManagedObject?] = []

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {
    for case .remove(let offset, _, _) in diff.removals.reversed() { objects.remove(at: offset) }
    for case .insert(let offset, let id, _) in diff.insertions {
      objects.insert(controller.managedObjectContext.registeredObject(for: id), at: offset)
    }
  }
}

private final class RandomResultsRun {
  private var dice: Dice
  private let stack: EntryStack
  private let sectionKey: String?
  private let predicate: PredicateTree?
  private let sort: [NSSortDescriptor]
  private var log: [String] = []
  private let classic: NSFetchedResultsController<Entry>
  private let snapshots: NSFetchedResultsController<Entry>
  private let differences: NSFetchedResultsController<Entry>
  private let classicTable = ClassicTable()
  private let snapshotTable = SnapshotTable()
  private let differenceTable = DifferenceTable()

  init(_ seed: UInt64, _ store: StoreUnderTest) throws {
    var dice = Dice(seed)
    stack = try EntryStack(store)
    stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    sectionKey = dice.pick([nil, "g", "pos", "team.name", "initial", "flag"])
    predicate = dice.pick([
      nil, nil, .compare("flag", .equal, true), .compare("pos", .greater, 1),
      .compare("name", .notEqual, "a"),
      .compare("team.name", .equal, "red"),
      NSPredicate { object, _ in (object as? Entry).map { $0.pos != 2 } ?? false }.tree,
    ])
    var keys = [sectionKey == "initial" ? "name" : sectionKey ?? "pos"]
    keys += [["name"], ["pos", "name"], [], ["team.name"], ["g", "other"]][dice.roll(5)]
    sort = keys.enumerated().map { index, key in
      let foldsCase = key == "name" && index > 0 && dice.roll(2) > 0
      return NSSortDescriptor(
        key: key, ascending: dice.roll(3) > 0, selector: foldsCase ? .caseInsensitiveCompare : nil)
    }
    func controller(
      _ stack: EntryStack, _ sectionKey: String?, _ predicate: PredicateTree?, _ sort: [NSSortDescriptor]
    )
      -> NSFetchedResultsController<Entry>
    {
      stack.controller(sections: sectionKey, where: predicate) { $0.sortDescriptors = sort }
    }
    classic = controller(stack, sectionKey, predicate, sort)
    snapshots = controller(stack, sectionKey, predicate, sort)
    differences = controller(stack, nil, predicate, sort)
    self.dice = dice
    log.append(
      "sections \(sectionKey ?? "none") where \(predicate as Any) by \(sort.map { ($0.key!, $0.ascending) })")
    for name in ["red", "blue"] { Team(context: stack.context).name = name }
    for _ in 0..<self.dice.roll(9) { try insert(stack.context) }
    if self.dice.roll(4) > 0 { try stack.context.save() }
    classic.delegate = classicTable
    snapshots.delegate = snapshotTable
    differences.delegate = differenceTable
    for controller in [classic, snapshots, differences] { try controller.performFetch() }
    classicTable.load(classic)
    differenceTable.objects = differences.fetchedObjects ?? []
  }

  /// Returns what went wrong.
  func run(_ steps: Int) throws -> String? {
    for _ in 0..<steps {
      for _ in 0...dice.roll(4) { try change() }
      stack.context.processPendingChanges()
      if let fault = try fault() { return fault + "\n" + log.joined(separator: "\n") }
    }
    return nil
  }

  private func fault() throws -> String? {
    if let mistake = classicTable.mistake { return mistake }
    let fresh = request(Entry.self, predicate)
    fresh.sortDescriptors = sort
    let objects = try stack.context.fetch(fresh)
    var sections: [(name: String, objects: [Entry])] = sectionKey == nil ? [("", [])] : []
    for object in objects {
      let name = sectionName(object)
      if sections.last?.name != name { sections.append((name, [])) }
      sections[sections.count - 1].objects.append(object)
    }
    let names = sections.map(\.name)
    func lines(_ sections: [[NSManagedObject?]]) -> String {
      sections.map { section in
        section.map { object in (object as? Entry).map { text($0) } ?? "nil" }.joined(separator: " ")
      }.joined(separator: " | ")
    }
    let expected = sections.map { $0.objects.map { $0 as NSManagedObject? } }
    for (form, shown, titles) in [
      ("classic", classicTable.table.sections.map { $0.map { $0 as NSManagedObject? } }, classicTable.titles),
      ("snapshot", snapshotTable.sections.map(\.objects), snapshotTable.sections.map(\.name)),
      (
        "difference", [differenceTable.objects], [""]
      ),
    ] {
      let expected = form == "difference" ? [Array(expected.joined())] : expected
      let names = form == "difference" ? [""] : names
      if shown != expected || titles != names {
        return "\(form) shows \(titles) \(lines(shown))\nand not \(names) \(lines(expected))"
      }
    }
    for (section, run) in sections.enumerated() {
      for (item, object) in run.objects.enumerated()
      where classic.indexPath(forObject: object) != [section, item]
        || classic.object(at: [section, item]) !== object
      {
        return "\(text(object)) isn't found at \(section),\(item)"
      }
    }
    return nil
  }

  private func sectionName(_ item: Entry) -> String {
    switch sectionKey {
    case "g": item.g ?? ""
    case "pos": "\(item.pos)"
    case "team.name": item.team?.name ?? ""
    case "initial": item.name.map { String($0.prefix(1)) } ?? ""
    case "flag": item.flag ? "1" : "0"
    default: ""
    }
  }

  private func text(_ item: Entry) -> String {
    "\(item.objectID.key):\(item.name ?? "-")/\(item.g ?? "-")/\(item.pos)/\(item.flag ? 1 : 0)/\(item.team?.name ?? "-")"
  }

  // MARK: Changes

  private func change() throws {
    let context = stack.context
    switch dice.roll(20) {
    case 0..<11: try edit(context)
    case 11..<14:
      try stack.elsewhere { other in
        for _ in 0...dice.roll(3) { try edit(other) }
        log.append("elsewhere up to here")
      }
    case 14:
      log.append("save")
      try context.save()
    case 15:
      log.append("rollback")
      context.rollback()
    case 16:
      log.append("refresh all")
      context.refreshAllObjects()
    case 17:
      guard let item = try anyItem(context) else { return }
      let keeps = dice.roll(2) > 0
      log.append("refresh \(text(item)) \(keeps)")
      context.refresh(item, mergeChanges: keeps)
    case 18:
      log.append("process")
      context.processPendingChanges()
    default: _ = try anyItem(context)?.name
    }
  }

  private func edit(_ context: NSManagedObjectContext) throws {
    switch dice.roll(12) {
    case 0, 1: try insert(context)
    case 2:
      guard let item = try anyItem(context) else { return }
      log.append("delete \(text(item))")
      context.delete(item)
    case 3:
      // Results follow the items only, and others don't see unsaved ones: so this is done here, and saved.
      let teams = try context.fetch(request(Team.self, sort: ["name"]))
      guard !teams.isEmpty, context === stack.context else { return }
      let team = dice.pick(teams)
      let name = dice.pick(["red", "green", "blue"])
      log.append("team \(team.name ?? "-") is \(name)")
      for item in team.items { item.other += 1 }
      team.name = name
      try context.save()
    default:
      guard let item = try anyItem(context) else { return }
      let before = text(item)
      try set(item, context)
      log.append("\(before) becomes \(text(item))")
    }
  }

  private func set(_ item: Entry, _ context: NSManagedObjectContext) throws {
    switch dice.roll(7) {
    case 0: item.g = dice.pick(["x", "y", nil])
    case 1: item.pos = Int32(dice.roll(4))
    case 2: item.flag.toggle()
    case 3: item.other = Int32(dice.roll(3))
    case 4: item.team = try dice.pick(context.fetch(request(Team.self, sort: ["name"])) + [nil])
    default: item.name = dice.pick(["a", "ab", "b", "ba", "B", nil])
    }
  }

  private func insert(_ context: NSManagedObjectContext) throws {
    let item: Entry = dice.roll(4) == 0 ? SpecialEntry(context: context) : Entry(context: context)
    for _ in 0..<4 { try set(item, context) }
    log.append("insert \(text(item))")
  }

  private func anyItem(_ context: NSManagedObjectContext) throws -> Entry? {
    let items = try context.fetch(request(Entry.self, sort: ["pos"]))
    return items.isEmpty ? nil : dice.pick(items)
  }
}

@Suite struct RandomResultsTests {
  private static let seed = ProcessInfo.processInfo.environment["CAIRN_SEED"].flatMap { UInt64($0) }
  private static let batches: [ClosedRange<UInt64>] =
    seed.map { [$0...$0] } ?? (0..<20).map { $0 * 100 + 1...$0 * 100 + 100 }

  @Test(
    "Tables driven by any form of changes show what a fetch finds", arguments: StoreUnderTest.allCases,
    batches)
  func equalsFetch(_ store: StoreUnderTest, _ seeds: ClosedRange<UInt64>) throws {
    for seed in store.some(of: Array(seeds)) {
      let fault = try RandomResultsRun(seed, store).run(6)
      if let fault {
        Issue.record("CAIRN_SEED=\(seed): \(fault)")
        return
      }
    }
  }
}
