// Cairn's half of the cases about logs.
//
// Invariants: a case that changes a store gets one of its own; opening is in the timing where a case's name says so,
// closing never is.

import Cairn
import Foundation

extension LogCases {
  // MARK: Small saves

  private func empty(_ durability: String = "full") throws -> FlightsInObjects {
    try .log(files.data, files.model, at: files.folder.newPath("log"), durability: durability)
  }

  func saves(_ durability: String) throws -> Side {
    .timed(
      prepare: { try empty(durability) },
      run: { flights in
        try LogCases.save(LogCases.saveCount, in: flights.container.newBackgroundContext())
        return flights
      }, answer: airlines)
  }

  private static func save(_ count: Int, in context: NSManagedObjectContext) throws {
    for number in 0..<count {
      try context.performAndWait {
        let airline = Airline(context: context)
        airline.carrier = "\(number)"
        airline.name = "An airline that is saved alone"
        try context.save()
      }
    }
  }

  func concurrentSaves() throws -> Side {
    .timed(
      prepare: { try empty() },
      run: { flights in
        let failures = Lock<[any Error]>([])
        let done = DispatchGroup()
        for index in 0..<LogCases.threadCount {
          let context = flights.container.newBackgroundContext()
          let count = (LogCases.saveCount + index) / LogCases.threadCount
          done.enter()
          let thread = Thread {
            do {
              try LogCases.save(count, in: context)
            } catch {
              failures.withLock { $0.append(error) }
            }
            done.leave()
          }
          thread.start()
        }
        done.wait()
        if let failure = failures.withLock({ $0.first }) { throw failure }
        return flights
      }, answer: airlines)
  }

  private func airlines(_ flights: FlightsInObjects) throws -> Answer {
    let context = flights.container.newBackgroundContext()
    let count = try context.performAndWait {
      try context.count(for: NSFetchRequest<Airline>(entityName: "Airline"))
    }
    try flights.close()
    return .total(Int64(count), count: count)
  }

  // MARK: Large ones

  func insertObjects() -> Side {
    .timed(
      prepare: { try empty() },
      run: { flights in
        try flights.insertObjects(savingEvery: files.data.flights.count)
        return flights
      },
      answer: { flights in
        let answer = try Ours.contents(flights.rows())
        try flights.close()
        return answer
      })
  }

  /// Some work on a tenth of the flights, in a context that knows them all, and a save.
  func change(_ work: @escaping (Flight) -> Void) throws -> Side {
    let path = try loaded(isCheckpointed: true)
    return .timed(
      prepare: {
        let flights = try FlightsInObjects.log(
          files.data, files.model, at: files.folder.copy(path, "changed"))
        let context = flights.container.newBackgroundContext()
        let held = try context.performAndWait { try ObjectCases.all(context) }
        return (flights, context, held, try flights.ids(files.data.tenthOfFlightKeys()))
      },
      run: {
        (flights: FlightsInObjects, context: NSManagedObjectContext, held: [Flight], ids: [NSManagedObjectID])
        in
        try context.performAndWait {
          for id in ids { if let flight = context.object(with: id) as? Flight { work(flight) } }
          try context.save()
        }
        return (flights, held)
      },
      answer: { flights, _ in
        let count = try Ours.contents(flights.rows()).count
        try flights.close()
        return .total(1, count: count)
      })
  }

  func changeOne() throws -> Side {
    let flights = try FlightsInObjects.log(files.data, files.model, at: loaded(isCheckpointed: true))
    let context = flights.container.newBackgroundContext()
    let id = try flights.ids([Int32(files.data.flights.count / 2)])[0]
    guard let flight = context.performAndWait({ context.object(with: id) as? Flight }) else {
      throw BenchmarkError("no flight in the middle")
    }
    return .timed(
      run: {
        try context.performAndWait {
          flight.distance += 1
          try context.save()
        }
      }, answer: { [files] in withExtendedLifetime((files, flights)) { .total(1, count: 1) } })
  }

  // MARK: Opening

  /// A new log with all four tables: in its base, or as commits behind an empty one, all flights being one.
  private func loaded(isCheckpointed: Bool) throws -> String {
    let path = files.folder.newPath("log")
    let store = try store(at: path, .never)
    let rows = FlightsInCairn(files.data, in: store)
    try rows.loadOwners()
    try rows.loadFlights(0..<files.data.flights.count)
    if isCheckpointed { try store.compact() }
    try store.close()
    return path
  }

  private func store(
    at path: String, _ checkpoints: LogStore.Options.Checkpoints, _ durability: LogStore.Durability = .full
  ) throws -> LogStore {
    var options = LogStore.Options()
    options.checkpoints = checkpoints
    options.durability = durability
    let schema = try FlightsInObjects(files.data, files.model).rows().store.schema
    return try LogStore(at: path, model: .init(schema: schema), options: options)
  }

  func open(isCheckpointed: Bool) throws -> Side {
    let path = try loaded(isCheckpointed: isCheckpointed)
    return .timed(
      run: { try FlightsInObjects.log(files.data, files.model, at: path, isReadOnly: true) },
      answer: { [files] flights in
        try withExtendedLifetime(files) {
          let count = try Ours.contents(flights.rows()).count
          try flights.close()
          return isCheckpointed ? .total(1, count: 1) : .total(0, count: count)
        }
      })
  }

  // MARK: Write amplification

  /// What is written to files by 100,000 commits of one random row each, in a store of all flights.
  func updates(_ checkpoints: LogStore.Options.Checkpoints) -> Side {
    .gauge {
      let store = try store(at: files.folder.newPath("log"), checkpoints, .off)
      let rows = FlightsInCairn(files.data, in: store)
      try rows.load()
      try store.compact()
      let before = try ScratchFolder.bytesWritten()
      var generator = SeededGenerator(seed: 5)
      for _ in 0..<100_000 {
        var changes = ChangeSet()
        let key = Int64.random(in: 1...Int64(files.data.flights.count), using: &generator)
        try changes.update(
          RowKey(entity: rows.flight.id, id: key),
          ["depDelay": .int(Int64.random(in: -30...600, using: &generator))], in: store.schema)
        _ = try store.commit(changes)
      }
      let bytes = try ScratchFolder.bytesWritten() - before
      try store.close()
      return Sample(figure: Double(bytes) / 1_000_000, answer: .total(1, count: 1))
    }
  }
}
