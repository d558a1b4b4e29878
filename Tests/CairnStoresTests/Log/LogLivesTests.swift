// Random lives of logs: writers with models in two orders that take turns, are killed, lose power, run out of room or get
// errors, make checkpoints and cut history, while readers open and follow at any moment.

import CairnModel
import CairnTesting
import Foundation
import Testing

@testable import CairnStores

@Suite struct LogLivesTests {
  private static let isDeep = ProcessInfo.processInfo.environment["CAIRN_DEEP_FAULTS"] != nil

  /// With CAIRN_SEED set only that one is run.
  private static let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["CAIRN_SEED"].flatMap { UInt64($0) }.map { [$0] }
    ?? Array(1...(isDeep ? 400 : 3))

  @Test(arguments: seeds)
  func
    `whatever happens to a log, everybody sees the state after some commit, with all that was acknowledged`(
      _ seed: UInt64
    ) throws
  {
    var life = Life(seed)
    do {
      for _ in 0..<90 { try life.step() }
      try life.end()
    } catch {
      Issue.record("seed \(seed), \(life.pair): \(error)\n\(life.story.suffix(25).joined(separator: "\n"))")
    }
  }

  private struct Life {
    let pair: OrderedPair
    let policy: HistoryPolicy
    private var random: SplitMix64
    private var files = SimulatedFileSystem()
    private var writer: LogStore?
    private var followers: [(store: LogStore, generation: Int64)] = []
    /// What each commit left, and told of itself, as far as anybody has seen.
    private var facts: [Int64: NamedFacts] = [:]
    private var texts: [Int64: String] = [:]
    /// Commits that a power cut may not take, those that a crash may not take, and those that may be there.
    private var promised: Int64 = -1
    private var returned: Int64 = -1
    private var written: Int64 = 0
    private var steps = 0
    var story: [String] = []

    init(_ seed: UInt64) {
      var random = SplitMix64(seed: seed)
      pair = OrderedPair.all.randomElement(using: &random)!
      policy = [HistoryPolicy.all, .none, .newest(4)].randomElement(using: &random)!
      self.random = random
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    private mutating func order() -> Schema { Bool.random(using: &random) ? pair.first : pair.other }

    private static func options(_ policy: HistoryPolicy) -> LogStore.Options {
      var options = LogSample.options
      options.history = policy
      options.keySlack = 6
      return options
    }

    private func open(_ files: SimulatedFileSystem, _ schema: Schema, upTo: Int64? = nil) throws -> LogStore {
      var options = Life.options(.all)
      options.isReadOnly = true
      options.upTo = upTo
      return try LogStore(at: "/a", model: .init(schema: schema), options: options, fileSystem: files)
    }

    /// Compares what a store shows with what others have seen of that commit.
    private mutating func see(_ store: LogStore, _ who: String) throws -> Int64 {
      let found = try NamedFacts(store, versions: !pair.isTurned)
      if let known = facts[found.generation] {
        if let difference = known.difference(found) {
          throw Wrong(description: "\(who) at \(found.generation): \(difference)")
        }
      } else {
        facts[found.generation] = found
      }
      return found.generation
    }

    private mutating func note(_ commit: Commit, _ schema: Schema, _ who: String) throws {
      if pair.isTurned { return }
      let text = commit.text(schema)
      if let known = texts[commit.generation.number], known != text {
        throw Wrong(description: "\(who) tells \(text) instead of \(known)")
      }
      texts[commit.generation.number] = text
    }

    /// What somebody sees who opens the store now, at `least` this commit.
    @discardableResult
    private mutating func look(_ files: SimulatedFileSystem, least: Int64, _ who: String) throws -> Int64 {
      if try files.information("/a/MANIFEST") == nil {
        if least >= 0 { throw Wrong(description: "\(who): the store is gone") }
        return -1
      }
      let schema = order()
      let store = try open(files, schema)
      defer { try? store.close() }
      let seen = try see(store, who)
      guard seen >= least, seen <= written else {
        throw Wrong(description: "\(who) sees \(seen), and \(least) are there, \(written) were tried")
      }
      do {
        let after = Int64.random(in: 0...seen, using: &random)
        let told = try store.history(after: Generation(after))
        guard told.map(\.generation.number) == Array(after..<seen).map({ $0 + 1 }) else {
          throw Wrong(
            description: "\(who) is told \(told.map(\.generation.number)) of \(seen) after \(after)")
        }
        for commit in told { try note(commit, schema, who) }
        let past = try open(files, order(), upTo: after)
        _ = try see(past, "\(who), in the past")
        try past.close()
      } catch let error as StoreError where error.code == .historyPurged {}
      return seen
    }

    /// What is there isn't what it was: what comes after it never happened.
    private mutating func goOn(_ seen: Int64) {
      facts = facts.filter { $0.key <= seen }
      texts = texts.filter { $0.key <= seen }
      (returned, written) = (seen, max(seen, 0))
      promised = min(promised, seen)
    }

    // MARK: What happens

    mutating func step() throws {
      steps += 1
      files.injectFaults(nil)
      var isTroubled = false
      if chance(6) {
        story.append("trouble")
        isTroubled = true
        let fault = [SimulatedFault.error(EIO), .partial(ENOSPC), .error(ENOSPC), .crash, .crash]
          .randomElement(using: &random)!
        files.fail(at: files.operationCount + Int.random(in: 0...60, using: &random), with: fault)
      }
      if chance(4) {
        let isFull = files.quota == nil
        files.quota = isFull ? used() + Int.random(in: 0...6_000, using: &random) : nil
        story.append(isFull ? "hardly any room" : "room again")
      }
      do {
        try write()
      } catch is SimulatedCrash {
        return try die()
      } catch let error as StoreError where isTroubled || error.code != .corrupt {
        // What couldn't be read for a fault is called damaged.
        story.append("  \(error)")
        files.injectFaults(nil)
        if error.code == .outcomeUnknown { writer = nil }
      }
      if files.hasCrashed { return try die() }
      files.injectFaults(nil)
      if chance(7) {
        story.append("kill")
        writer = nil
      }
      if chance(4) { return try losePower() }
      try read()
    }

    private func used() -> Int {
      ((try? files.list("/a")) ?? []).reduce(0) { sum, name in
        let size = (try? files.information("/a/\(name)"))?.map { Int($0.size) } ?? 0
        return sum + (size + 511) / 512 * 512
      }
    }

    private mutating func write() throws {
      guard let store = writer else {
        var options = Life.options(policy)
        options.durability = LogStore.Durability.allCases.randomElement(using: &random)!
        options.preallocation = [0, 700, 6_000].randomElement(using: &random)!
        let schema = order()
        story.append("open \(options.durability), \(schema === pair.first ? "first" : "other") order")
        let store = try LogStore(at: "/a", model: .init(schema: schema), options: options, fileSystem: files)
        let seen = try see(store, "the writer")
        guard seen >= returned, seen <= written else {
          throw Wrong(description: "a writer opens \(seen), and \(returned) are there, \(written) were tried")
        }
        // Made and opened, it is durable with its base; what was read of frames isn't, whatever happens.
        if promised < 0 { promised = 0 }
        goOn(seen)
        writer = store
        return
      }
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<62:
        let before = try store.snapshot().generation.number
        story.append("commit \(before + 1)")
        written = before + 1
        facts[before + 1] = nil
        texts[before + 1] = nil
        do {
          let commit = try NamedChanges.commit(steps, store)
          guard commit.generation.number == before + 1 else { throw Wrong(description: "another number") }
          returned = before + 1
          if store.options.durability == .full { promised = returned }
          try note(commit, store.schema, "the writer")
          _ = try see(store, "the writer")
        } catch let error as StoreError where error.code != .outcomeUnknown {
          guard try returned == before + 1 || store.snapshot().generation.number == before else {
            throw Wrong(description: "a commit that failed is there: \(error)")
          }
          written = max(returned, before)
          throw error
        }
      case 62..<74:
        story.append("compact")
        try store.compact()
        promised = returned
      case 74..<80:
        let through = Int64.random(in: 0...max(returned, 0), using: &random)
        story.append("purge \(through)")
        try store.purgeHistory(through: Generation(through))
      case 80..<84:
        story.append("metadata")
        store.metadata.userEntries = ["step": .int(Int64(steps))]
      default:
        story.append("close")
        writer = nil
        try store.close()
        promised = returned
      }
    }

    /// Of the process: a fault said so in the middle of something.
    private mutating func die() throws {
      (writer, followers) = (nil, [])
      if chance(50) { return try losePower() }
      story.append("the program dies")
      files = files.restarted()
      goOn(try look(files, least: returned, "who opens it then"))
    }

    private mutating func losePower() throws {
      story.append("power cut")
      (writer, followers) = (nil, [])
      files.injectFaults(nil)
      let states = Array(files.crashStates(limit: 6, seed: random.next()))
      for (number, state) in states.enumerated() {
        try look(
          state.fileSystem.restarted(), least: number == 0 ? returned : promised, state.description)
        // Recovery comes to the same, and leaves a whole log.
        let recovered = state.fileSystem.restarted()
        recovered.quota = nil
        let seen = try look(recovered, least: promised, "who only reads")
        if seen < 0 { continue }
        let store = try LogStore(
          at: "/a", model: .init(schema: order()), options: Life.options(.all), fileSystem: recovered)
        guard try see(store, "recovery") == seen else {
          throw Wrong(description: "recovery changes something")
        }
        try store.close()
        if let finding = try LogVerifier.findings(at: "/a", on: recovered).first { throw finding }
        // What nobody was promised may be another commit in another state.
        facts = facts.filter { $0.key <= written }
      }
      let state = states.randomElement(using: &random)!
      story.append("  \(state.description)")
      files = state.fileSystem.restarted()
      goOn(try look(files, least: promised, "who goes on"))
    }

    private mutating func read() throws {
      if try files.information("/a/MANIFEST") == nil { return }
      if chance(12) {
        let store = try open(files, order())
        followers.append((store, try see(store, "a new reader")))
        if followers.count > 3 { followers.removeFirst() }
      }
      for place in followers.indices where chance(35) {
        let (store, before) = followers[place]
        let told = try store.refresh()
        let now = try see(store, "a follower")
        for commit in told { try note(commit, store.schema, "a follower") }
        let numbers = told.map(\.generation.number)
        guard now >= before, numbers == Array(before..<before + Int64(numbers.count)).map({ $0 + 1 }),
          now >= returned
        else {
          throw Wrong(
            description: "a follower goes from \(before) to \(now) by \(numbers); \(returned) are there")
        }
        followers[place].generation = now
      }
      if chance(15) { try look(files, least: returned, "a reader") }
    }

    mutating func end() throws {
      files.injectFaults(nil)
      files.quota = nil
      try? writer?.close()
      writer = nil
      let store = try LogStore(
        at: "/a", model: .init(schema: order()), options: Life.options(policy), fileSystem: files)
      goOn(try see(store, "the last writer"))
      written += 1
      _ = try NamedChanges.commit(steps + 1, store)
      try store.close()
      try look(files, least: written, "the last reader")
      if let finding = try LogVerifier.findings(at: "/a", on: files).first { throw finding }
    }
  }
}
