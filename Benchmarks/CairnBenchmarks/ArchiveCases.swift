// The cases about archives, with their goals: how fast, beside SQLite on a file of its own; how small they
// are, see `ArchiveSizes`.

import Cairn
import Foundation

struct ArchiveCases {
  /// What the cases share: files that are made when first asked for.
  final class Files {
    let data: FlightData
    let model = FlightModel.make()
    let folder: ScratchFolder
    private(set) lazy var loaded = Result { try makeArchive() }

    init(_ data: FlightData) throws {
      self.data = data
      folder = try ScratchFolder()
    }

    /// An archive with all four tables that no case changes.
    func archive() throws -> String { try loaded.get() }

    private func makeArchive() throws -> String {
      let path = folder.newPath("archive")
      let flights = try FlightsInObjects.archive(data, model, at: path)
      try flights.rows().load()
      guard let store = try flights.rows().store as? ArchiveStore else { throw BenchmarkError("no archive") }
      try store.compact()
      try flights.close()
      return path
    }
  }

  let files: Files

  /// `sqlite` is nil where SQLite isn't installed; its halves are then missing.
  func all(peer: String, _ sqlite: SQLiteSides?) -> [Case] {
    let theirs = sqlite.map { SQLiteFileSides(sides: $0, folder: files.folder) }
    func compared(
      _ name: String, goal: Double, runCount: Int = 5, knownCount: Int? = nil,
      _ ours: @escaping Case.Setup, _ theirs: (() -> Side)?
    ) -> Case {
      Case(
        name: "archive: " + name, peer: peer, goal: goal, runCount: runCount, knownCount: knownCount,
        ours: ours, theirs: theirs)
    }
    let all = KnownAnswers.flightCount
    let late = KnownAnswers.lateUnitedCount
    return [
      compared("open, fault every flight", goal: 0.25, knownCount: all, faults, theirs?.records),
      compared("open, every property", goal: 0.40, knownCount: all, everyProperty, theirs?.everyProperty),
      compared("open, first object, 1 property", goal: 1.0, knownCount: 1, first, theirs?.first),
      compared(
        "open, late UA flights: objects", goal: 0.30, knownCount: late, lateUnited, theirs?.coldLateUnited),
      compared("open, flights of one day: objects", goal: 0.15, oneDay, theirs?.coldDay),
      compared(
        "late UA flights: objects", goal: 0.08, knownCount: late, { try warm(fetches.lateUnited) },
        theirs?.lateUnited),
      compared(
        "sort by 2 columns: first 100", goal: 0.04, knownCount: 100,
        { try warm(fetches.first100(files.data)) },
        theirs?.first100),
      compared(
        "average by airline: dictionaries", goal: 0.015, knownCount: KnownAnswers.airlineCount,
        { try warm(fetches.averages) }, theirs?.averages),
      compared(
        "insert as objects, 1 save", goal: 0.20, runCount: 2, { insertObjects() }, theirs?.insertIndexed),
      compared(
        "insert as columns, 1 save, fastest", goal: 0.40, runCount: 3, { insertColumns("fastest") },
        theirs?.insertPlain),
      compared(
        "insert as columns, 1 save, default", goal: 0.75, runCount: 3, { insertColumns("default") },
        theirs?.insertPlain),
      Case(
        name: "archive: change 1 object, save", peer: "append 64 KiB and sync", goal: 3.0, runCount: 20,
        ours: changeOne, theirs: { try appendAndSync() }),
      flat(100_000), flat(1_000_000),
      Case(
        name: "archive: memory of open, late UA flights", peer: "10 MB", unit: .megabytes, goal: 1.0,
        runCount: 1, ours: coldMemory,
        theirs: { .gauge { Sample(figure: 10, answer: .total(Int64(late), count: late)) } }),
    ]
  }

  private let fetches = FetchCases()

  /// Cairn against itself: a small save costs what it changes, not what the file holds.
  private func flat(_ rowCount: Int) -> Case {
    func setup(_ count: Int) -> Case.Setup {
      { try ArchiveCases(files: Files(files.data.withFlights(count))).changeOne() }
    }
    return Case(
      name: "archive: save of 1 change: \(rowCount / 1_000)k against 10k", peer: "Cairn at 10,000 rows",
      goal: 1.5, runCount: 20, ours: setup(rowCount), theirs: setup(10_000))
  }
}
