// The cases: each with its goal, SQLite's half, and the place of ours.
//
// Invariants: SQLite is given the fastest of the formulations tried, with its statements prepared outside of
// the timing. Where a case says "no index", its database has none but the keys'.

import Foundation

struct Cases {
  let all: [Case]

  /// `sqlite` is nil where SQLite isn't installed; its halves are then missing.
  /// `folder` has the files of the flights, and beside it that of the places.
  init(data: FlightData, ours: Ours, sqlite: SQLiteLibrary?, folder: URL) throws {
    let theirs = sqlite.map { SQLiteSides(FlightsInSQLite($0, data)) }
    let peer = sqlite.map { "SQLite \($0.version)" } ?? "SQLite"

    func compared(
      _ name: String, goal: Double, unit: Case.Unit = .milliseconds, runCount: Int = 5,
      knownCount: Int? = nil, _ ours: Ours.Setup?, _ theirs: (() -> Side)?
    ) -> Case {
      Case(
        name: name, peer: peer, unit: unit, goal: goal, runCount: runCount, knownCount: knownCount,
        ours: ours.map { setup in { try setup(data) } }, theirs: theirs)
    }

    let files = try ArchiveCases.Files(data)
    let lateUnited = KnownAnswers.lateUnitedCount
    all =
      [
        compared("load", goal: 0.15, runCount: 3, ours.load, theirs?.load),
        compared(
          "late UA flights, no index: keys", goal: 0.06, knownCount: lateUnited, ours.lateUnitedKeys,
          theirs?.lateUnitedKeys),
        compared(
          "late UA flights, no index: count", goal: 0.04, knownCount: lateUnited, ours.lateUnitedCount,
          theirs?.lateUnitedCount),
        compared(
          "late UA flights, index: keys", goal: 1.5, knownCount: lateUnited, ours.lateUnitedKeysByIndex,
          theirs?.lateUnitedKeysByIndex),
        compared(
          "sort by 2 columns: first 100", goal: 0.03, knownCount: 100, ours.first100ByDelay,
          theirs?.first100ByDelay),
        compared(
          "sort by 2 columns: all", goal: 0.06, knownCount: KnownAnswers.flightCount, ours.allByDelay,
          theirs?.allByDelay),
        compared(
          "average by airline", goal: 0.01, knownCount: KnownAnswers.airlineCount, ours.averageDelays,
          theirs?.averageDelays),
        compared("100,000 random rows by key", goal: 0.10, ours.randomRows, theirs?.randomRows),
        compared("update 10 %", goal: 0.3, ours.updateTenth, theirs?.updateTenth),
        compared("delete 10 %", goal: 0.3, ours.deleteTenth, theirs?.deleteTenth),
        compared("memory", goal: 0.6, unit: .megabytes, runCount: 1, ours.memory, theirs?.memory),
        Self.flatCommit(rowCount: 100_000, data, ours),
        Self.flatCommit(rowCount: 1_000_000, data, ours),
      ] + Self.predicates(data, sqlite) + ObjectCases().all(data, peer: peer, theirs)
      + ResultsCases().all(data) + FetchCases().all(data, peer: peer, theirs)
      + ArchiveCases(files: files).all(peer: peer, theirs)
      + LogCases(files: files).all(peer: peer, theirs)
      + ArchiveSizes(files: files, folder: folder, sqlite: sqlite).all()
      + [CityNames(folder: folder).searched(sqlite, peer: peer)]
  }

  /// Cairn against itself: a commit costs what it changes, not what the store holds, so a store of
  /// `rowCount` rows takes as long as one of 10,000, but for the noise that `goal` allows.
  private static func flatCommit(rowCount: Int, _ data: FlightData, _ ours: Ours) -> Case {
    func setup(_ count: Int) -> Case.Setup? {
      ours.oneRowCommit.map { setup in { try setup(data.withFlights(count)) } }
    }
    return Case(
      name: "commit of 1 row: \(rowCount / 1_000)k against 10k rows", peer: "Cairn at 10,000 rows", goal: 1.5,
      ours: setup(rowCount), theirs: setup(10_000))
  }
}
