// What a results controller tells of each kind of change: one scenario a row, over every store.

import Cairn
import Testing

@testable import CairnGraph

/// A change to a stack of items, and the calls that have to come of it between "will" and "did".
struct ResultsScenario: Sendable, CustomTestStringConvertible {
  let name: String
  var items: [String] = ["A", "B", "C", "D"]
  var sort = ["name"]
  var sections: String?
  var predicate: PredicateTree?
  var prepare: @Sendable (EntryStack) throws -> Void = { _ in }
  let change: @Sendable (EntryStack) throws -> Void
  /// Empty: nobody is called.
  let expected: [String]
  var accepted: [String]?

  var testDescription: String { name }

  static let plain: [ResultsScenario] = [
    ResultsScenario(name: "1 an insertion", change: { $0.add("BB") }, expected: ["ins(0,2)"]),
    ResultsScenario(
      name: "2 two insertions",
      change: {
        $0.add("Z")
        $0.add("0")
      }, expected: ["ins(0,0)", "ins(0,5)"]),
    ResultsScenario(
      name: "3 a deletion", change: { try $0.context.delete($0.item("B")) }, expected: ["del(0,1)"]),
    ResultsScenario(
      name: "4 two deletions, both in old places",
      change: {
        let (a, c) = try ($0.item("A"), $0.item("C"))
        $0.context.delete(c)
        $0.context.delete(a)
      }, expected: ["del(0,0)", "del(0,2)"]),
    ResultsScenario(
      name: "5 another attribute", change: { try $0.item("B").other = 5 }, expected: ["upd(0,1→0,1)"]),
    ResultsScenario(
      name: "6 a sort key, far", change: { try $0.item("B").name = "Z" }, expected: ["mov(0,1→0,3)"]),
    ResultsScenario(
      name: "7 a sort key, same place", change: { try $0.item("B").name = "BX" }, expected: ["mov(0,1→0,1)"]),
    ResultsScenario(
      name: "8 a deletion and an edit",
      change: {
        let (a, c) = try ($0.item("A"), $0.item("C"))
        $0.context.delete(a)
        c.other = 1
      }, expected: ["del(0,0)", "upd(0,2→0,1)"]),
    ResultsScenario(
      name: "9 an insertion and an edit",
      change: {
        let a = try $0.item("A")
        $0.add("0")
        a.other = 1
      }, expected: ["ins(0,0)", "upd(0,0→0,1)"]),
    ResultsScenario(
      name: "10 two change places", sort: ["pos"],
      prepare: { stack in
        for (index, name) in ["A", "B", "C", "D"].enumerated() { try stack.item(name).pos = Int32(index) }
      },
      change: {
        let (a, b) = try ($0.item("A"), $0.item("B"))
        (a.pos, b.pos) = (b.pos, a.pos)
      }, expected: ["mov(0,0→0,1)", "mov(0,1→0,0)"]),
    ResultsScenario(
      name: "11 leaves the predicate", predicate: .compare("name", .notEqual, "X"),
      change: { try $0.item("B").name = "X" }, expected: ["del(0,1)"]),
    ResultsScenario(
      name: "12 comes into the predicate", items: ["A", "B", "C", "D", "BE"],
      predicate: .compare("flag", .equal, true), prepare: { try $0.item("BE").flag = false },
      change: { try $0.item("BE").flag = true }, expected: ["ins(0,2)"]),
    ResultsScenario(
      name: "13 inserted and deleted", change: { $0.context.delete($0.add("BB")) }, expected: []),
    ResultsScenario(
      name: "14 another entity", change: { Team(context: $0.context).name = "x" }, expected: []),
    ResultsScenario(
      name: "15 an equal value", change: { try $0.item("B").name = "B" }, expected: ["upd(0,1→0,1)"],
      accepted: ["mov(0,1→0,1)"]),
    ResultsScenario(name: "17 a reset", change: { $0.context.reset() }, expected: []),
    ResultsScenario(
      name: "18 a refresh of all",
      prepare: { try $0.add("X").context().save() },
      change: { stack in
        for object in stack.context.registeredObjects { _ = (object as? Entry)?.name }
        stack.context.refreshAllObjects()
      },
      expected: (0..<5).map { "upd(0,\($0)→0,\($0))" }),
    ResultsScenario(
      name: "19 an edit elsewhere",
      change: { stack in
        _ = try stack.item("C").name
        try stack.elsewhere { try stack.item("C", in: $0).other = 7 }
      }, expected: ["upd(0,2→0,2)"]),
    ResultsScenario(
      name: "19b an edit elsewhere of the sort key of a fault",
      change: { stack in try stack.elsewhere { try stack.item("C", in: $0).name = "AA" } },
      expected: ["mov(0,2→0,1)"]),
    ResultsScenario(
      name: "20 an insertion elsewhere",
      change: { stack in try stack.elsewhere { stack.add("BB", in: $0) } }, expected: ["ins(0,2)"]),
    ResultsScenario(
      name: "21 a deletion elsewhere",
      change: { stack in try stack.elsewhere { $0.delete(try stack.item("D", in: $0)) } },
      expected: ["del(0,3)"]),
    ResultsScenario(
      name: "21b what others have brought into the predicate", items: ["A", "B", "x"],
      predicate: .compare("flag", .equal, true), prepare: { try $0.item("x").flag = false },
      change: { stack in try stack.elsewhere { try stack.item("x", in: $0).flag = true } },
      expected: ["ins(0,2)"]),
    ResultsScenario(
      name: "22 a merge of IDs that no context has saved",
      change: { stack in
        let other = stack.otherContext()
        let new = stack.add("BB", in: other)
        try other.save()
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSInsertedObjectsKey: [new.objectID]], into: [stack.context])
      }, expected: ["ins(0,2)"]),
    ResultsScenario(
      name: "30 all at once", items: ["A", "B", "C", "D", "E"],
      change: { stack in
        let items = try ["A", "B", "C", "E"].map { try stack.item($0) }
        stack.context.delete(items[0])
        items[1].other = 1
        items[2].other = 1
        items[3].name = "0"
        stack.add("BB")
        stack.add("CC")
      },
      expected: ["del(0,0)", "ins(0,2)", "ins(0,4)", "mov(0,4→0,0)", "upd(0,1→0,1)", "upd(0,2→0,3)"]),
    ResultsScenario(
      name: "34 a save after an insertion",
      change: {
        $0.add("BB")
        $0.context.processPendingChanges()
        try $0.context.save()
      }, expected: ["ins(0,2)"]),
    ResultsScenario(
      name: "a rollback",
      change: { stack in
        let (b, c) = try (stack.item("B"), stack.item("C"))
        b.name = "Z"
        stack.context.delete(c)
        stack.add("0")
        stack.context.rollback()
      },
      expected: [
        "del(0,2)", "ins(0,0)", "mov(0,1→0,3)", "did", "will", "del(0,0)", "ins(0,2)", "mov(0,3→0,1)",
      ]),
    ResultsScenario(
      name: "refreshing one without its changes",
      change: { stack in
        let b = try stack.item("B")
        b.name = "Z"
        stack.context.processPendingChanges()
        stack.context.refresh(b, mergeChanges: false)
      }, expected: ["mov(0,1→0,3)", "did", "will", "mov(0,3→0,1)"]),
  ]

  private static func grouped(
    _ name: String, items: [String] = ["g1:A", "g1:B", "g2:C"], _ expected: [String],
    _ change: @escaping @Sendable (EntryStack) throws -> Void
  ) -> ResultsScenario {
    ResultsScenario(
      name: name, items: items, sort: ["g", "name"], sections: "g", change: change, expected: expected)
  }

  static let sectioned: [ResultsScenario] = [
    grouped("23 a new section", ["secins(2)", "ins(2,0)"]) { $0.add("g3:X") },
    grouped("24 a section's last object", ["secdel(1)", "del(1,0)"]) { $0.context.delete(try $0.item("C")) },
    grouped("25 into another section", ["secdel(1)", "mov(1,0→0,2)"]) { try $0.item("C").g = "g1" },
    grouped("26 into a new first section", ["secins(0)", "mov(0,0→0,0)"]) { try $0.item("A").g = "g0" },
    grouped("27 a section goes behind", ["secdel(0)", "secins(1)", "mov(0,0→1,0)", "mov(0,1→1,1)"]) {
      let (a, b) = try ($0.item("A"), $0.item("B"))
      (a.g, b.g) = ("g9", "g9")
    },
    grouped("28 a section of one is renamed", ["secdel(1)", "secins(1)", "mov(1,0→1,0)"]) {
      try $0.item("C").g = "g5"
    },
    grouped(
      "29 two sections become one", items: ["a:A", "b:B"],
      ["secdel(0)", "secdel(1)", "secins(0)", "mov(0,0→0,0)", "mov(1,0→0,1)"]
    ) {
      let (a, b) = try ($0.item("A"), $0.item("B"))
      (a.g, b.g) = ("z", "z")
    },
    grouped("a section of one whose object moves inside of it", ["mov(1,0→1,0)"]) {
      try $0.item("C").name = "X"
    },
    grouped("a section is emptied and filled by others", ["del(1,0)", "ins(1,0)"]) {
      $0.context.delete(try $0.item("C"))
      $0.add("g2:D")
    },
  ]
}

extension Entry {
  fileprivate func context() throws -> NSManagedObjectContext { try #require(managedObjectContext) }
}

@Suite struct ResultsScenarioTests {
  private func run(_ scenario: ResultsScenario, _ store: StoreUnderTest, batchSize: Int = 0) throws {
    let stack = try EntryStack(store, scenario.items)
    try scenario.prepare(stack)
    try stack.context.save()
    let controller = stack.controller(
      sort: scenario.sort, sections: scenario.sections, where: scenario.predicate)
    controller.fetchRequest.fetchBatchSize = batchSize
    let recorder = CallRecorder()
    controller.delegate = recorder
    try controller.performFetch()
    try scenario.change(stack)
    stack.context.processPendingChanges()
    let calls = recorder.take()
    let expected = scenario.expected.isEmpty ? [] : ["will"] + scenario.expected + ["did"]
    #expect(calls == expected || scenario.accepted.map { ["will"] + $0 + ["did"] } == calls, "\(calls)")
  }

  @Test(
    "A delegate is told each change in Core Data's places and order", arguments: StoreUnderTest.allCases,
    ResultsScenario.plain)
  func plain(_ store: StoreUnderTest, _ scenario: ResultsScenario) throws { try run(scenario, store) }

  @Test(
    "Sections come and go with their objects", arguments: StoreUnderTest.allCases,
    ResultsScenario.sectioned)
  func sectioned(_ store: StoreUnderTest, _ scenario: ResultsScenario) throws { try run(scenario, store) }

  @Test(
    "32: Fetched in batches of two, the same is told", arguments: StoreUnderTest.allCases,
    ResultsScenario.plain + ResultsScenario.sectioned)
  func inBatches(_ store: StoreUnderTest, _ scenario: ResultsScenario) throws {
    try run(scenario, store, batchSize: 2)
  }

  @Test("16: Without a delegate the results stay until the next fetch", arguments: StoreUnderTest.allCases)
  func noDelegate(_ store: StoreUnderTest) throws {
    let stack = try EntryStack(store, ["A", "B"])
    let controller = stack.controller()
    try controller.performFetch()
    stack.add("C")
    stack.context.processPendingChanges()
    #expect(shown(controller) == [":A,B"])
    try controller.performFetch()
    #expect(shown(controller) == [":A,B,C"])
  }

  @Test("17: After a reset the results stay and nothing is told until the next fetch")
  func reset() throws {
    let stack = try EntryStack(.memory, ["A", "B"])
    let controller = stack.controller()
    let recorder = CallRecorder()
    controller.delegate = recorder
    try controller.performFetch()
    stack.context.reset()
    stack.add("C")
    stack.context.processPendingChanges()
    #expect(recorder.take() == [])
    #expect(controller.fetchedObjects?.count == 2)
    try controller.performFetch()
    stack.add("D")
    stack.context.processPendingChanges()
    #expect(recorder.take() == ["will", "ins(0,3)", "did"])
  }

  @Test("31: A section name that comes again fails the fetch with 134060")
  func wrongOrder() throws {
    let stack = try EntryStack(.memory, ["g1:A", "g2:B", "g1:C"])
    let error = try #require(thrown { try stack.controller(sections: "g").performFetch() })
    #expect(error.domain == NSCocoaErrorDomain && error.code == 134_060)
    #expect(
      error.userInfo["reason"] as? String
        == "The fetched object at index 2 has an out of order section name 'g1. Objects must be sorted by "
        + "section name'")
  }

  @Test("33: A change is told when it is processed, not before")
  func processing() throws {
    let stack = try EntryStack(.memory, ["A", "B"])
    let controller = stack.controller()
    let recorder = CallRecorder()
    controller.delegate = recorder
    try controller.performFetch()
    stack.context.performAndWait { _ = stack.add("C") }
    #expect(recorder.take() == [])
    #expect(controller.fetchedObjects?.count == 2)
    try stack.context.save()
    #expect(recorder.take() == ["will", "ins(0,2)", "did"])
  }

  @Test("A limit counts for the fetch; what comes later is added")
  func limit() throws {
    let stack = try EntryStack(.memory, ["A", "B", "C", "D"])
    let controller = stack.controller { $0.fetchLimit = 2 }
    let recorder = CallRecorder()
    controller.delegate = recorder
    try controller.performFetch()
    #expect(shown(controller) == [":A,B"])
    stack.add("AA")
    for object in stack.context.registeredObjects { _ = (object as? Entry)?.name }
    stack.context.processPendingChanges()
    #expect(recorder.take() == ["will", "ins(0,1)", "did"])
    stack.context.refreshAllObjects()
    #expect(!recorder.take().contains { $0.hasPrefix("ins") })
    #expect(shown(controller) == [":A,AA,B"])
  }

  @Test("29: Section infos of deleted sections are empty, of inserted ones are filled")
  func sectionInfos() throws {
    let stack = try EntryStack(.memory, ["a:A", "b:B"])
    let controller = stack.controller(sort: ["g", "name"], sections: "g")
    let recorder = CallRecorder()
    controller.delegate = recorder
    try controller.performFetch()
    for object in try #require(controller.fetchedObjects) { object.g = "z" }
    stack.context.processPendingChanges()
    #expect(recorder.sectionCounts == [0, 0, 2])
  }
}
