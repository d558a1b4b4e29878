// Logs opened with a model in another order than the one that they were made with. Everything is compared by
// name with a store whose model was never in another order. (Every law, and random operations:
// StoreKind.reorderedLog.)

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct LogOrderTests {
  // MARK: Keys on the same sides

  @Test(arguments: OrderedPair.unturned)
  func `rows, commits and history are the same in any order, and the files stay in theirs`(
    _ pair: OrderedPair
  ) throws {
    var (files, oracle) = try Self.made(pair)
    let schema = try LogFiles.base(at: "/a", files).schema.json
    var step = 7
    for order in [pair.other, pair.first] {
      let store = try Self.open(files, order, source: "other")
      try oracle.expectSame(store)
      try oracle.expectSameHistory(store)
      for _ in 0..<3 {
        try oracle.commit(step, store)
        step += 1
      }
      try oracle.expectSame(store)
      try oracle.expectSame(Self.reader(files, pair.first))
      try oracle.expectSame(Self.reader(files, pair.other))
      try store.compact()
      try oracle.expectSame(Self.reader(files, pair.first))
      try oracle.expectSame(Self.reader(files, pair.other))
      try oracle.commit(step, store)
      step += 1
      try oracle.expectSameHistory(store)
      try store.close()
    }
    for order in [pair.first, pair.other] {
      let reader = try Self.reader(files, order)
      try oracle.expectSame(reader)
      try oracle.expectSameHistory(reader)
      try oracle.expectSamePast(files, order)
    }
    #expect(try LogFiles.base(at: "/a", files).schema.json == schema)
    #expect(try LogFiles.base(at: "/a", files).schema.model == "first")
    #expect(try LogVerifier.findings(at: "/a", on: files).isEmpty)
  }

  @Test(arguments: OrderedPair.unturned)
  func `a reader in one order follows a writer in another`(_ pair: OrderedPair) throws {
    for (writing, reading) in [(pair.first, pair.other), (pair.other, pair.first)] {
      var (files, oracle) = try Self.made(pair)
      let writer = try Self.open(files, writing)
      let reader = try Self.reader(files, reading)
      for step in 7..<10 {
        try oracle.commit(step, writer)
        if step == 8 { try writer.compact() }
        let told = try reader.refresh().map { $0.text(reading) }
        #expect(try told == oracle.store.history(after: Generation(Int64(step))).map { $0.text(pair.first) })
        try oracle.expectSame(reader)
      }
      // Behind a base that the reader hasn't followed to, everything comes from it.
      for step in 10..<12 {
        try oracle.commit(step, writer)
        try writer.purgeHistory(through: Generation(Int64(step) + 1))
        try writer.compact()
      }
      _ = try reader.refresh()
      try oracle.expectSame(reader)
      try writer.close()
    }
  }

  @Test(arguments: OrderedPair.unturned)
  func `keys that one order has handed out no other hands out again`(_ pair: OrderedPair) throws {
    var files = try Self.made(pair).files
    var highest: [String: Int64] = [:]
    for round in 0..<4 {
      let order = round.isMultiple(of: 2) ? pair.other : pair.first
      let store = try Self.open(files, order) { $0.keySlack = 3 }
      for root in order.entities where root.root == root.id {
        let keys = try store.reserveKeys(1 + root.name.count + round, root: root.id)
        #expect(keys.lowerBound > highest[root.name] ?? 0)
        highest[root.name] = keys.upperBound - 1
      }
      // Left as it is, closed, or with a base that says the keys.
      if round == 1 { try store.compact() }
      if round > 1 { try store.close() }
      files = files.restarted()
    }
  }

  @Test(arguments: OrderedPair.unturned)
  func `a writer in another order promises keys ahead as one in the log's own`(_ pair: OrderedPair) throws {
    let kinds = try [pair.first, pair.other].map { order in
      let files = try Self.made(pair).files
      let store = try Self.open(files, order) { $0.keySlack = 40 }
      for step in 7..<12 { try NamedChanges.commit(step, store) }
      try store.close()
      let segment = try #require(try files.list("/a").filter { $0.hasPrefix("log") }.max())
      return try LogSample.frames(LogSample.bytes(segment, files)).map(\.kind)
    }
    // A transaction promises what runs short; else there are frames for that alone.
    #expect(kinds[0] == kinds[1])
  }

  // MARK: Keys on other sides

  @Test(arguments: OrderedPair.turned)
  func `a log with the keys of pairs on the other side is read in any order, and is written for that`(
    _ pair: OrderedPair
  ) throws {
    var (files, oracle) = try Self.made(pair)
    let before = try LogSample.contents(files)
    let reader = try Self.reader(files, pair.other)
    try oracle.expectSame(reader)
    try oracle.expectSamePast(files, pair.other)
    // History tells of the side that has the key in the files, by name.
    try oracle.expectSameHistory(reader)
    #expect(throws: StoreError(.unsupportedRequest, "")) { _ = try reader.commit(ChangeSet()) }
    #expect(try LogSample.contents(files) == before)
    let metadata = try LogFiles.metadata(at: "/a", files)

    let store = try Self.open(files, pair.other, source: "other")
    try oracle.expectSame(store)
    #expect(try LogFiles.base(at: "/a", files).schema.model == "other")
    #expect(try LogFiles.schema(at: "/a", on: files).isStoredAs(pair.other))
    #expect(try LogFiles.metadata(at: "/a", files).uuid == metadata.uuid)
    for step in 7..<10 {
      try oracle.commit(step, store)
      try oracle.expectSame(store, versions: false)
    }
    try store.compact()
    try oracle.commit(10, store)
    try store.close()
    for order in [pair.other, pair.first] {
      try oracle.expectSame(Self.reader(files, order), versions: false)
    }
    let again = try Self.open(files, pair.first)
    try oracle.expectSame(again, versions: false)
    try oracle.commit(11, again)
    try oracle.expectSame(again, versions: false)
    try again.close()
    try oracle.expectSame(Self.reader(files, pair.other), versions: false)
    #expect(try LogVerifier.findings(at: "/a", on: files).isEmpty)
  }

  @Test(arguments: OrderedPair.turned)
  func `a reader follows a log whose pairs have their keys on the other side, also when it is written anew`(
    _ pair: OrderedPair
  ) throws {
    var (files, oracle) = try Self.made(pair)
    let readers = try [pair.first, pair.other].map { try Self.reader(files, $0) }
    var step = 7
    for order in [pair.first, pair.other, pair.first] {
      let writer = try Self.open(files, order)
      for _ in 0..<4 {
        for reader in readers {
          let before = try reader.snapshot().generation.number
          let told = try reader.refresh().map(\.generation.number)
          let now = try reader.snapshot().generation.number
          #expect(told.isEmpty || told == (before..<now).map { $0 + 1 })
          try oracle.expectSame(reader, versions: false)
        }
        try oracle.commit(step, writer)
        if step.isMultiple(of: 3) { try writer.compact() }
        step += 1
      }
      try writer.close()
      // Up to the end, so that what is written anew begins just where the reader stands.
      for reader in readers { _ = try reader.refresh() }
    }
    for reader in readers {
      try oracle.expectSame(reader, versions: false)
      #expect(try reader.history(after: reader.snapshot().generation).isEmpty)
    }
  }

  private static let turned = OrderedPair(.oneToOne, .both)
  private static let small = OrderedPair(.pairOfOne, .both)

  @Test func `history ends where a log is written anew, and goes on behind it`() throws {
    var (files, oracle) = try Self.made(Self.turned)
    let old = try Self.reader(files, Self.turned.first)
    let store = try Self.open(files, Self.turned.other)
    #expect(throws: StoreError(.historyPurged, "")) { try store.history(after: Generation(6)) }
    #expect(try store.history(after: Generation(7)).isEmpty)
    try oracle.commit(7, store)
    try oracle.commit(8, store)
    #expect(try store.history(after: Generation(7)).map(\.author) == ["step 7", "step 8"])
    #expect(throws: StoreError(.historyPurged, "")) {
      _ = try Self.reader(files, Self.turned.other, upTo: 6)
    }
    let past = try NamedFacts(Self.reader(files, Self.turned.other, upTo: 7))
    #expect(past.difference(oracle.facts[7]) == nil)
    // Who had the old files open goes on with the new base, and isn't told what came since.
    #expect(try old.refresh().isEmpty)
    try oracle.expectSame(old, versions: false)
    #expect(try files.list("/a").filter { $0.hasPrefix("base") || $0.hasPrefix("log") }.count == 2)
  }

  @Test func `a crash or a fault while a log is written anew leaves the old one or the new one`() throws {
    let pair = Self.small
    let (start, oracle) = try Self.made(pair, steps: 5)
    let expected = try NamedFacts(oracle.store)
    // Not closed, and with a tail that nobody has acknowledged.
    let torn = try #require(try LogSample.contents(start).keys.filter { $0.hasPrefix("log") }.max())
    let file = try start.open("/a/\(torn)", .readWrite)
    try file.write([7, 7, 7], at: try file.information().size)
    try file.sync()
    try file.close()
    var plan = FaultEnumeration(seed: 9)
    plan.statesPerCrash = 3
    plan.statesPerFault = 1
    // What is there then is what was there before, or opens as every log.
    plan.crashedRecoveries = 0
    plan.faults = [.error(EIO), .partial(ENOSPC)]
    let seen = Lock<Set<Bool>>([])
    let report = try plan.run(
      from: start, record: false,
      work: { files, isDone in
        try Self.open(files, pair.other).close()
        isDone = true
      },
      check: { files, isDone, _ in
        let isNew = try LogFiles.schema(at: "/a", on: files).isStoredAs(pair.other)
        seen.withLock { _ = $0.insert(isNew) }
        if isDone, !isNew { throw Wrong(description: "it isn't written anew") }
        if let difference = try NamedFacts(Self.reader(files, pair.first)).difference(expected) {
          throw Wrong(description: difference)
        }
        let store = try Self.open(files, pair.other)
        if let difference = try NamedFacts(store).difference(expected) {
          throw Wrong(description: difference)
        }
        try NamedChanges.commit(5, store)
        try store.close()
        if let finding = try LogVerifier.findings(at: "/a", on: files).first { throw finding }
        // The base and the segment, and nothing that was left on the way.
        let names = try files.list("/a").filter { !LogNames.isTorn($0) }.count
        if names != 4 { throw Wrong(description: "\(try files.list("/a"))") }
      })
    #expect(seen.withLock { $0 } == [false, true])
    // What is cut off is kept beside, as at every opening.
    try Self.open(start, pair.other).close()
    #expect(try start.list("/a").contains(where: LogNames.isTorn))
    #expect(report.crashCount > 20 && report.faultCount > 30, "\(report)")
  }

  @Test func `a log that can't be read as a whole isn't written anew, nor copied by a checkpoint`() throws {
    for pair in [Self.turned, OrderedPair(.manyToMany, .both)] {
      // Nothing follows the base that would have to be read to be changed.
      let files = try Self.made(pair, steps: 4).files
      var contents = try LogSample.contents(files)
      let base = try #require(contents.keys.filter { $0.hasPrefix("base") }.max())
      let index = try LogFiles.base(at: "/a", files).index
      // Of an attribute, which opening doesn't read.
      let table = try #require(pair.first.entity(named: pair.isTurned ? "Country" : "Group")).id.index
      let block = try #require(index.tables[table][0].columns[0]?.block)
      contents[base]![Int(block.offset) + block.length - 1] ^= 1
      let broken = try LogSample.files(contents)
      if pair.isTurned {
        #expect(throws: StoreError(.corrupt, "")) { try Self.open(broken, pair.other).close() }
      } else {
        let store = try Self.open(broken, pair.other)
        #expect(throws: StoreError(.corrupt, "")) { try store.compact() }
      }
      let manifest = try LogDirectory(fileSystem: broken, path: "/a").manifest()
      #expect(LogNames.base(manifest.newestBase.number) == base)
      #expect(try Self.bases(broken) == Self.bases(files))
    }
  }

  private static func bases(_ files: SimulatedFileSystem) throws -> [String] {
    try files.list("/a").filter { $0.hasPrefix("base") }.sorted()
  }

  @Test func `tables that differ in more than order are refused`() throws {
    let (files, _) = try Self.made(Self.turned)
    var other = OrderChange.both.of(OrderedModel.oneToOne.description)
    other.entities[0].attributes.append(.init("more", .string))
    let schema = try Schema(other)
    for isReadOnly in [false, true] {
      #expect(throws: StoreError(.incompatibleSchema, "")) {
        _ = try Self.open(files, schema) { $0.isReadOnly = isReadOnly }
      }
    }
    // A list that has another name can't be found in what links say.
    var renamed = OrderedModel.orderedToMany.description
    let list = try #require(renamed.entities[0].relationships.firstIndex { $0.name == "items" })
    renamed.entities[0].relationships[list].name = "elements"
    renamed.entities[1].relationships[0].inverse = "elements"
    let lists = try Self.made(OrderedPair(.orderedToMany, .both)).files
    #expect(throws: StoreError(.incompatibleSchema, "")) { _ = try Self.open(lists, try Schema(renamed)) }
  }
}
