// How an event changes the results: who comes, goes, moves or was changed, by the rules of Core Data.
//
// After each batch the list is what a fetch would find, as long as the changed objects were told or noted:
// every object whose place may be another is taken out before any is put in, so that the search for places
// only ever sees objects that are in order.

import CairnModel
import Foundation

/// What is to be done with the objects of a batch, in the places of the list before it.
struct ResultsPlan {
  struct Member {
    let object: NSManagedObject
    let from: IndexPath
    let section: String
    let isTold: Bool
  }

  var deleted: [(object: NSManagedObject, from: IndexPath)] = []
  var inserted: [ResultsList.Arrival] = []
  var moved: [Member] = []
  /// Members that may stand elsewhere now: whether they have moved is seen when they are in place.
  var uncertain: [Member] = []
  var updated: [(object: NSManagedObject, from: IndexPath)] = []

  var isEmpty: Bool {
    deleted.isEmpty && inserted.isEmpty && moved.isEmpty && uncertain.isEmpty && updated.isEmpty
  }

  /// Whether all that is planned is to look at objects that nobody is told of unless they stand elsewhere, and none
  /// does: each is in order between its neighbours. Costs a comparison an object.
  func movesNothing(in list: ResultsList, by order: ObjectOrder) -> Bool {
    guard deleted.isEmpty, inserted.isEmpty, moved.isEmpty, updated.isEmpty,
      uncertain.allSatisfy({ !$0.isTold })
    else { return false }
    return uncertain.allSatisfy { member in
      let next = list.neighbour(of: member.from, 1)
      let previous = list.neighbour(of: member.from, -1)
      return (previous.map { order.areInOrder($0, member.object) } ?? true)
        && (next.map { order.areInOrder(member.object, $0) } ?? true)
    }
  }

  var removed: [NSManagedObject] {
    deleted.map(\.object) + moved.map(\.object) + uncertain.map(\.object)
  }

  var arrivals: [ResultsList.Arrival] {
    inserted + (moved + uncertain).map { ResultsList.Arrival(object: $0.object, section: $0.section) }
  }
}

extension ResultsCore {
  func process(_ batch: ResultsBatch) {
    guard let list, let rules, isFollowed else { return }
    var batch = batch
    noteEdits(in: &batch, rules)
    var plan = self.plan(batch, list, rules)
    if plan.isEmpty || form == .classic && plan.movesNothing(in: list, by: rules.order) { return }
    let fetchesBefore = fetchCount
    let wasTold = tellWillChange()
    if fetchCount != fetchesBefore { return }
    if wasTold, noteEdits(in: &batch, rules) { plan = self.plan(batch, list, rules) }
    // Only a delegate whose methods aren't known yet may have to be shown the list as it was.
    let old = form == .unknown && delegate != nil ? list.copy() : nil
    let report = apply(plan, to: list, rules)
    if report.sections.areDisordered { rules.names?.warnOfDisorder() }
    tell(report, old: old, willWasTold: wasTold)
  }

  /// Notes members that were changed after the event had ended, by its observers or by the delegate: the
  /// search mustn't rely on their places. The event that tells of them is still to come. Returns whether
  /// there are any.
  @discardableResult
  private func noteEdits(in batch: inout ResultsBatch, _ rules: ResultsRules) -> Bool {
    let edited = context.event.updated.filter {
      $0.flags.contains(.inEvent) && rules.includes($0.table.entity.id)
    }
    for object in edited { batch.note(object) { nil } }
    return !edited.isEmpty
  }

  // MARK: Before

  private func plan(_ batch: ResultsBatch, _ list: ResultsList, _ rules: ResultsRules) -> ResultsPlan {
    var plan = ResultsPlan()
    var seen: Set<ObjectIdentifier> = []
    var candidates: [(object: NSManagedObject, isTold: Bool, mayEnter: Bool)] = []
    func add(_ objects: some Sequence<NSManagedObject>, isTold: Bool, mayEnter: Bool) {
      for object in objects
      where rules.includes(object.table.entity.id) && seen.insert(ObjectIdentifier(object)).inserted {
        candidates.append((object, isTold, mayEnter))
      }
    }
    add(batch.told, isTold: true, mayEnter: true)
    add(batch.refreshed, isTold: true, mayEnter: !rules.isWindow)
    add(batch.before.values.lazy.map(\.object), isTold: false, mayEnter: !rules.isWindow)
    loadRows(candidates.map(\.object))
    for (object, isTold, mayEnter) in candidates {
      let place = list.place(of: object)
      guard rules.admit(object, context) else {
        if let place { plan.deleted.append((object, place.indexPath)) }
        continue
      }
      guard place != nil || mayEnter else { continue }
      let section = rules.sectionName(of: object)
      guard let place else {
        plan.inserted.append(ResultsList.Arrival(object: object, section: section))
        continue
      }
      let member = ResultsPlan.Member(
        object: object, from: place.indexPath, section: section, isTold: isTold)
      let keys = rules.probe.compare(object, with: batch.before[ObjectIdentifier(object)]?.values)
      if section != place.section.name || keys == .changed {
        plan.moved.append(member)
      } else if keys == .unknown {
        plan.uncertain.append(member)
      } else if isTold {
        plan.updated.append((object, member.from))
      }
    }
    return plan
  }

  /// Reads the rows of faults, as many at once as there are.
  private func loadRows(_ objects: [NSManagedObject]) {
    let faults = objects.filter { $0.chunk == nil && !$0.flags.contains(.isDraft) }
    for (_, members) in Dictionary(grouping: faults, by: { $0.table.scope.map { ObjectIdentifier($0) } }) {
      members[0].table.scope?.load(members)
    }
  }

  // MARK: The change

  private func apply(_ plan: ResultsPlan, to list: ResultsList, _ rules: ResultsRules) -> ResultsReport {
    var report = ResultsReport()
    let oldStarts = plan.uncertain.isEmpty ? [] : list.sectionStarts
    let arrivals = plan.arrivals.map { (arrival: $0, keyed: rules.order.keyed($0.object)) }
      .sorted { rules.order.areInOrder($0.keyed, $1.keyed) }.map(\.arrival)
    report.sections = list.apply(removing: plan.removed, inserting: arrivals, by: rules.order)
    func place(_ object: NSManagedObject) -> IndexPath? { list.place(of: object)?.indexPath }

    report.objects.reserveCapacity(plan.deleted.count + arrivals.count + plan.updated.count)
    for (object, from) in plan.deleted {
      report.objects.append(.init(type: .delete, object: object, from: from))
    }
    for arrival in plan.inserted {
      report.objects.append(.init(type: .insert, object: arrival.object, to: place(arrival.object)))
    }
    for member in plan.moved {
      report.objects.append(
        .init(type: .move, object: member.object, from: member.from, to: place(member.object)))
    }
    let moves = plan.uncertain.isEmpty ? [] : self.moves(plan, list, oldStarts)
    for (member, hasMoved) in zip(plan.uncertain, moves) where hasMoved || member.isTold {
      report.objects.append(
        .init(
          type: hasMoved ? .move : .update, object: member.object, from: member.from,
          to: place(member.object)))
    }
    for (object, from) in plan.updated {
      report.objects.append(.init(type: .update, object: object, from: from, to: place(object)))
    }
    report.sort()
    return report
  }

  /// Which of the uncertain ones stand elsewhere among the objects that stayed, or among each other.
  private func moves(_ plan: ResultsPlan, _ list: ResultsList, _ oldStarts: [Int]) -> [Bool] {
    let newStarts = list.sectionStarts
    func old(_ path: IndexPath) -> Int { oldStarts[path[0]] + path[1] }
    func new(_ object: NSManagedObject) -> Int {
      list.place(of: object).map { newStarts[$0.section.index] + $0.section.start(of: $0.block) + $0.item }
        ?? 0
    }
    let removed =
      (plan.deleted.map { old($0.from) } + (plan.moved + plan.uncertain).map { old($0.from) }).sorted()
    let added =
      (plan.inserted.map { new($0.object) } + (plan.moved + plan.uncertain).map { new($0.object) }).sorted()
    var result = [Bool](repeating: false, count: plan.uncertain.count)
    let places = plan.uncertain.enumerated().map { index, member in
      (index: index, old: old(member.from), new: new(member.object))
    }
    var gap = -1
    var lastOld = -1
    for place in places.sorted(by: { $0.new < $1.new }) {
      // How many of those that stayed stand before it, then and now.
      let stayersBefore = place.old - removed.firstIndex(fromWhichOn: { $0 >= place.old })
      let stayersNow = place.new - added.firstIndex(fromWhichOn: { $0 >= place.new })
      if stayersNow != gap { (gap, lastOld) = (stayersNow, -1) }
      if stayersBefore != stayersNow || place.old < lastOld {
        result[place.index] = true
      } else {
        lastOld = place.old
      }
    }
    return result
  }
}

extension ResultsRules {
  func sectionName(of object: NSManagedObject) -> String {
    names?.name(of: object) ?? ""
  }
}
