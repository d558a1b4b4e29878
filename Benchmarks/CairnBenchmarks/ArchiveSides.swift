// Cairn's half of the cases about archives: through contexts, but for the inserting of columns.
//
// Invariants: opening is in the timing where a case's name says so, closing never is; a case that changes a
// file gets one of its own.

import Cairn
import Foundation

extension ArchiveCases {
  /// Opens the archive, does some work in a new context, closes the archive after the timing.
  private func opening<Result>(
    _ work: @escaping (NSManagedObjectContext) throws -> Result, _ answer: @escaping (Result) -> Answer
  ) throws -> Side {
    let path = try files.archive()
    return .timed(
      run: {
        let flights = try FlightsInObjects.archive(files.data, files.model, at: path)
        let context = flights.container.newBackgroundContext()
        return (flights, context, try context.performAndWait { try work(context) })
      },
      answer: { flights, context, result in
        let answer = context.performAndWait { answer(result) }
        try flights.close()
        return answer
      })
  }

  func faults() throws -> Side {
    try opening {
      try ObjectCases.all($0)
    } _: { objects in
      .total(objects.reduce(0) { $0 + Int64($1.distance) }, count: objects.count)
    }
  }

  func everyProperty() throws -> Side {
    try opening { context in
      let objects = try ObjectCases.all(context)
      var sum: Int64 = 0
      for flight in objects { sum += ObjectCases.sum(flight) }
      return (objects, sum)
    } _: { objects, sum in
      .total(sum, count: objects.count)
    }
  }

  func first() throws -> Side {
    try opening { context -> [Int64] in
      let request = NSFetchRequest<Flight>(entityName: "Flight")
      request.fetchLimit = 1
      return try context.fetch(request).map { Int64($0.distance) }
    } _: {
      .total($0.reduce(0, +), count: $0.count)
    }
  }

  func lateUnited() throws -> Side {
    try opening {
      try $0.fetch(FetchCases.lateUnitedRequest())
    } _: { found in
      .total(found.reduce(0) { $0 + Int64($1.distance) }, count: found.count)
    }
  }

  /// The flights stand in the order of their months: few blocks can have a day.
  func oneDay() throws -> Side {
    try opening { context -> [Flight] in
      let request = NSFetchRequest<Flight>(entityName: "Flight")
      request.predicate = NSPredicate(format: "month == 7 AND day == 4")
      return try context.fetch(request)
    } _: { found in
      .total(found.reduce(0) { $0 + Int64($1.distance) }, count: found.count)
    }
  }

  /// A fetch of an archive that is open and that the same fetch has read before.
  func warm(_ fetch: (FlightsInObjects) -> Side) throws -> Side {
    fetch(
      try FlightsInObjects.archive(files.data, files.model, at: files.folder.copy(files.archive(), "warm")))
  }

  func coldMemory() throws -> Side {
    let path = try files.archive()
    return .gauge {
      let before = try Heap.bytesInUse()
      let flights = try FlightsInObjects.archive(files.data, files.model, at: path)
      let context = flights.container.newBackgroundContext()
      let sample = try context.performAndWait {
        let found = try context.fetch(FetchCases.lateUnitedRequest())
        let bytes = try Heap.bytesInUse() - before
        return Sample(
          figure: Double(bytes) / 1_000_000, answer: .total(Int64(found.count), count: found.count))
      }
      try flights.close()
      return sample
    }
  }

  // MARK: Writing

  func insertObjects() -> Side {
    .timed(
      run: {
        let path = files.folder.newPath("archive")
        let flights = try FlightsInObjects.archive(files.data, files.model, at: path)
        try flights.insertObjects(savingEvery: files.data.flights.count)
        return (flights, path)
      }, answer: contents)
  }

  func insertColumns(_ profile: String) -> Side {
    .timed(
      run: {
        let path = files.folder.newPath("archive")
        let flights = try FlightsInObjects.archive(files.data, files.model, at: path, profile: profile)
        let rows = try flights.rows()
        try rows.loadOwners()
        try rows.loadFlights(0..<files.data.flights.count)
        return (flights, path)
      }, answer: contents)
  }

  private func contents(_ flights: FlightsInObjects, _ path: String) throws -> Answer {
    let answer = try Ours.contents(flights.rows())
    try flights.close()
    try FileManager.default.removeItem(atPath: path)
    return answer
  }

  func changeOne() throws -> Side {
    let flights = try FlightsInObjects.archive(
      files.data, files.model, at: files.folder.copy(files.archive(), "changed"))
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
      },
      // The folder is there for as long as these are.
      answer: { [files] in withExtendedLifetime(files) { .total(1, count: 1) } })
  }

  /// What the least save to a file can cost.
  func appendAndSync() throws -> Side {
    let path = files.folder.newPath("bytes")
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let file = FileHandle(forWritingAtPath: path)
    else { throw BenchmarkError("can't make \(path)") }
    let bytes = Data(repeating: 7, count: 64 << 10)
    return .timed(
      run: {
        try file.write(contentsOf: bytes)
        try file.synchronize()
      }, answer: { .total(1, count: 1) })
  }
}
