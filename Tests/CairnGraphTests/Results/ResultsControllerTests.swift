// What a results controller shows and answers, and to whom it talks.

import Cairn
import Testing

@testable import CairnGraph

/// Implements only a title.
private final class TitleDelegate: NSFetchedResultsControllerDelegate {
  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? { "<\(sectionName)>" }
}

/// Implements only the end of a change.
private final class EndDelegate: NSFetchedResultsControllerDelegate {
  var controllers: [NSFetchedResultsController<NSFetchRequestResult>] = []

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    controllers.append(controller)
  }
}

@Suite struct ResultsControllerTests {
  @Test("Before the fetch there are no results", arguments: StoreUnderTest.allCases)
  func beforeFetch(_ store: StoreUnderTest) throws {
    let stack = try EntryStack(store, ["A"])
    let controller = stack.controller()
    #expect(controller.fetchedObjects == nil)
    #expect(controller.sections == nil)
    #expect(controller.indexPath(forObject: try stack.item("A")) == nil)
  }

  @Test("Without a section key path there is one section, also of nothing; with one there is none of nothing")
  func emptyResults() throws {
    let stack = try EntryStack()
    let (plain, sectioned) = (stack.controller(), stack.controller(sort: ["g"], sections: "g"))
    for controller in [plain, sectioned] { try controller.performFetch() }
    #expect(shown(plain) == [":"])
    #expect(shown(sectioned) == [])
  }

  @Test("The request is kept, not copied")
  func request() throws {
    let stack = try EntryStack()
    let fetch = CairnGraphTests.request(Entry.self, sort: ["name"])
    let controller = NSFetchedResultsController(
      fetchRequest: fetch, managedObjectContext: stack.context, sectionNameKeyPath: "g", cacheName: "c")
    #expect(controller.fetchRequest === fetch)
    #expect(controller.core.erased.fetchRequest === fetch)
    #expect(controller.managedObjectContext === stack.context)
    #expect(controller.sectionNameKeyPath == "g" && controller.cacheName == "c")
  }

  @Test(
    "Sections are named by attributes, to-one paths, transient and computed properties",
    arguments: StoreUnderTest.allCases)
  func sectionKeys(_ store: StoreUnderTest) throws {
    let stack = try EntryStack(store, ["x:Ada", "x:Alan", "y:Bob"])
    let team = Team(context: stack.context)
    team.name = "red"
    for (index, name) in ["Ada", "Alan", "Bob"].enumerated() {
      let item = try stack.item(name)
      item.pos = Int32(index / 2)
      item.team = index < 2 ? team : nil
    }
    try stack.context.save()
    for name in ["Ada", "Alan", "Bob"] { try stack.item(name).kind = name == "Bob" ? "late" : "early" }
    func sections(_ key: String, _ sort: [String], ascending: Bool = true) throws -> [String] {
      let controller = stack.controller(sort: sort, ascending: ascending, sections: key)
      try controller.performFetch()
      return shown(controller)
    }
    #expect(try sections("g", ["g", "name"]) == ["x:Ada,Alan", "y:Bob"])
    #expect(try sections("g", ["g", "name"], ascending: false) == ["y:Bob", "x:Alan,Ada"])
    #expect(try sections("pos", ["pos", "name"]) == ["0:Ada,Alan", "1:Bob"])
    #expect(try sections("flag", ["flag", "name"]) == ["1:Ada,Alan,Bob"])
    #expect(try sections("team.name", ["team.name", "name"]) == [":Bob", "red:Ada,Alan"])
    #expect(try sections("initial", ["name"]) == ["A:Ada,Alan", "B:Bob"])
    #expect(try sections("kind", ["name"]) == ["early:Ada,Alan", "late:Bob"])
  }

  @Test("Sections are found among many objects, in blocks and runs of every length")
  func manySections() throws {
    let stack = try EntryStack()
    var expected: [String] = []
    for (section, count) in [1, 2, 383, 384, 385, 1, 1_500, 7].enumerated() {
      for _ in 0..<count { stack.add("\(section):n").pos = Int32(section) }
      expected.append("\(section):\(count)")
    }
    try stack.context.save()
    let controller = stack.controller(sort: ["pos"], sections: "pos")
    try controller.performFetch()
    let sections = try #require(controller.sections)
    #expect(sections.map { "\($0.name):\($0.numberOfObjects)" } == expected)
    #expect(sections.allSatisfy { $0.objects?.count == $0.numberOfObjects })
    for path: IndexPath in [[0, 0], [2, 382], [4, 384], [6, 1_499], [7, 6]] {
      #expect(controller.indexPath(forObject: controller.object(at: path)) == path)
    }
  }

  @Test("A delegate's controller equals the program's, and shows the same")
  func faces() throws {
    let stack = try EntryStack(.memory, ["A"])
    let controller = stack.controller()
    let delegate = EndDelegate()
    controller.delegate = delegate
    try controller.performFetch()
    let new = stack.add("B")
    stack.context.processPendingChanges()
    let seen = try #require(delegate.controllers.first)
    #expect(controller.isEqual(seen) && seen.isEqual(controller) && seen.hash == controller.hash)
    #expect(!controller.isEqual(stack.controller()))
    #expect(seen.object(at: [0, 1]) === new)
    #expect(seen.indexPath(forObject: new) == [0, 1])
    #expect(seen.fetchedObjects?.count == 2)
    #expect(seen.delegate === delegate)
  }

  @Test("A delegate that only has an end of changes is told of it; one that only has titles follows nothing")
  func partialDelegates() throws {
    let stack = try EntryStack(.memory, ["A"])
    let (followed, still) = (stack.controller(), stack.controller())
    let (end, titles) = (EndDelegate(), TitleDelegate())
    (followed.delegate, still.delegate) = (end, titles)
    for controller in [followed, still] { try controller.performFetch() }
    for name in ["B", "C"] {
      stack.add(name)
      stack.context.processPendingChanges()
    }
    #expect(end.controllers.count == 2)
    #expect(shown(followed) == [":A,B,C"])
    #expect(shown(still) == [":A"])
  }

  @Test("In controllerWillChangeContent the results are as before, from the first change on")
  func willChange() throws {
    let stack = try EntryStack(.memory, ["A"])
    let controller = stack.controller()
    let recorder = CallRecorder()
    var counts: [Int] = []
    recorder.onWillChange = { counts.append($0.fetchedObjects?.count ?? -1) }
    recorder.onDidChange = { counts.append($0.fetchedObjects?.count ?? -1) }
    controller.delegate = recorder
    try controller.performFetch()
    for name in ["B", "C"] {
      stack.add(name)
      stack.context.processPendingChanges()
    }
    #expect(counts == [1, 2, 2, 3])
  }

  @Test("A save elsewhere that moves no result and changes none that was read isn't told")
  func untoldMerge() throws {
    let names = ["A", "B", "C", "D", "E", "F", "G", "H"]
    let stack = try EntryStack(.memory, names)
    let team = Team(context: stack.context)
    team.name = "red"
    for name in names { try stack.item(name).team = team }
    try stack.context.save()
    // Merges tell of objects that were read.
    stack.context.refreshAllObjects()
    stack.context.processPendingChanges()
    let controller = stack.controller(sort: ["team.name", "name"])
    let recorder = CallRecorder()
    controller.delegate = recorder
    try controller.performFetch()
    try stack.item("A").other = 1
    stack.context.processPendingChanges()
    #expect(recorder.take() == ["will", "upd(0,0→0,0)", "did"])
    try stack.elsewhere { try stack.item("G", in: $0).other = 2 }
    #expect(recorder.take() == [])
    try stack.elsewhere { try stack.item("D", in: $0).name = "Z" }
    #expect(recorder.take() == ["will", "mov(0,3→0,7)", "did"])
    #expect(shown(controller) == [":A,B,C,E,F,G,H,Z"])
  }

  @Test("A delegate may change objects: that is told afterwards")
  func reentrance() throws {
    let stack = try EntryStack(.memory, ["A", "B", "C"])
    let controller = stack.controller()
    let recorder = CallRecorder()
    controller.delegate = recorder
    try controller.performFetch()
    let c = try stack.item("C")
    var isFirst = true
    recorder.onWillChange = { _ in
      if isFirst { c.name = "0" }
      isFirst = false
    }
    recorder.onDidChange = { $0.managedObjectContext.processPendingChanges() }
    stack.add("D")
    stack.context.processPendingChanges()
    #expect(shown(controller) == [":0,A,B,D"])
    #expect(recorder.take().count { $0 == "did" } == 2)
  }

  @Test("Index titles are first letters, each once in a row, or the delegate's")
  func indexTitles() throws {
    let stack = try EntryStack(.memory, ["apple:1", "avocado:2", "banana:3", "4"])
    let controller = stack.controller(sort: ["g"], sections: "g")
    try controller.performFetch()
    #expect(controller.sections?.map(\.indexTitle) == [nil, "A", "A", "B"])
    #expect(controller.sectionIndexTitles == ["A", "B"])
    #expect(controller.section(forSectionIndexTitle: "A", at: 0) == 1)
    #expect(controller.section(forSectionIndexTitle: "B", at: 1) == 3)
    let delegate = TitleDelegate()
    controller.delegate = delegate
    #expect(controller.sectionIndexTitles == ["<>", "<apple>", "<avocado>", "<banana>"])
  }

  @Test("A sequence of changes has the same paths as a delegate gets, and ends with the controller")
  func sequence() async throws {
    let stack = try EntryStack(.memory, ["g1:A", "g2:B"])
    var controller: NSFetchedResultsController? = stack.controller(sort: ["g", "name"], sections: "g")
    try controller?.performFetch()
    let changes = try #require(controller?.changeSequence())
    stack.add("g3:C")
    stack.context.delete(try stack.item("A"))
    stack.context.processPendingChanges()
    controller = nil
    var all: [NSFetchedResultsChange] = []
    for await change in changes { all.append(change) }
    #expect(all.count == 2)
    #expect(all.first?.insertedSections.map(\.index) == [2])
    #expect(all.last?.deletedSections.map(\.name) == ["g1"])
    #expect(all.last?.objects.map(\.indexPath) == [[0, 0]])
  }

  @Test("A cache is used for the same state only, and a damaged one is computed anew")
  func cache() throws {
    let name = "test-\(UUID().uuidString)"
    defer { NSFetchedResultsController<Entry>.deleteCache(withName: name) }
    let stack = try EntryStack(.memory, ["g1:A", "g2:B"])
    func fetch(_ sort: [String] = ["g", "name"]) throws -> [String] {
      let controller = stack.controller(sort: sort, sections: "g", cache: name)
      try controller.performFetch()
      return shown(controller)
    }
    let file = ResultsCache.file(name)
    #expect(try fetch() == ["g1:A", "g2:B"])
    let first = try Data(contentsOf: file)
    #expect(try fetch() == ["g1:A", "g2:B"])
    #expect(try Data(contentsOf: file) == first)
    stack.add("g1:C")
    try stack.context.save()
    #expect(try fetch() == ["g1:A,C", "g2:B"])
    #expect(try Data(contentsOf: file) != first)
    let good = try Data(contentsOf: file)
    for index in good.indices {
      var bad = good
      bad[index] ^= 0x55
      try bad.write(to: file)
      #expect(try fetch() == ["g1:A,C", "g2:B"])
      try good.prefix(index).write(to: file)
      #expect(try fetch() == ["g1:A,C", "g2:B"])
    }
    NSFetchedResultsController<Entry>.deleteCache(withName: name)
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test("Caches are the program's own")
  func cacheFolder() {
    let folder = ResultsCache.file("a/b").deletingLastPathComponent()
    #expect(folder.lastPathComponent == "cairn-results")
    #expect(folder.deletingLastPathComponent().lastPathComponent == ProcessInfo.processInfo.processName)
  }

  #if !canImport(UIKit) && !canImport(AppKit)
    @Test("A snapshot says what to do about an identifier that is there twice or isn't there")
    func snapshotSentences() async {
      let twice = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        var snapshot = NSDiffableDataSourceSnapshot<String, Int>()
        snapshot.appendSections(["a"])
        snapshot.appendItems([1, 2, 1])
      }
      #expect(sentence(twice).contains("are not unique: 1; pass each once"))
      let section = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = NSDiffableDataSourceSnapshot<String, Int>().itemIdentifiers(inSection: "a")
      }
      #expect(sentence(section).contains("specified by caller: a; append the section first"))
      let item = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        var snapshot = NSDiffableDataSourceSnapshot<String, Int>()
        snapshot.reloadItems([7])
      }
      #expect(sentence(item).contains("specified by caller: 7; append the item first"))
    }
  #endif

  @Test("Index paths have sections, rows and items")
  func indexPaths() {
    var path = IndexPath(row: 2, section: 1)
    #expect(path == [1, 2] && path == IndexPath(item: 2, section: 1))
    #expect(path.section == 1 && path.row == 2 && path.item == 2)
    path.row = 5
    path.section = 0
    #expect(path == [0, 5])
  }

  @Test("A request without sort descriptors traps")
  func noSort() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try EntryStack().controller(sort: [])
    }
    #expect(
      sentence(result).contains(
        "An instance of NSFetchedResultsController requires a fetch request with sort descriptors"))
  }

  @Test("Paths out of range trap")
  func outOfRange() async {
    let item = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let controller = try EntryStack(.memory, ["A"]).controller()
      try controller.performFetch()
      _ = controller.object(at: [0, 1])
    }
    #expect(sentence(item).contains("no object at index 1 in section at index 0"))
    let section = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let controller = try EntryStack(.memory, ["A"]).controller()
      try controller.performFetch()
      _ = controller.object(at: [3, 0])
    }
    #expect(sentence(section).contains("no section at index 3"))
  }
}
