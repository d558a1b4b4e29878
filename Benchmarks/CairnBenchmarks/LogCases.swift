// The cases about logs, with their goals: what a durable save costs beside SQLite's write-ahead log, and opening.
//
// A disk that others use as well makes durable cases differ by factors: compare the two sides of one run, on an idle
// machine.

import Cairn
import Foundation

struct LogCases {
  let files: ArchiveCases.Files

  static let saveCount = 2_000
  static let threadCount = 32

  /// `sqlite` is nil where SQLite isn't installed; its halves are then missing.
  func all(peer: String, _ sqlite: SQLiteSides?) -> [Case] {
    let theirs = sqlite.map { SQLiteLogSides(sides: $0, folder: files.folder) }
    func compared(
      _ name: String, goal: Double, runCount: Int = 3, knownCount: Int? = nil, _ ours: @escaping Case.Setup,
      _ theirs: (() throws -> Side)?, _ peer: String
    ) -> Case {
      Case(
        name: "log: " + name, peer: peer, goal: goal, runCount: runCount, knownCount: knownCount, ours: ours,
        theirs: theirs)
    }
    let count =
      "\(LogCases.saveCount.formatted(.number.locale(Locale(identifier: "en_US")))) saves of 1 object"
    return [
      compared(
        "\(count), full", goal: 0.60, { try saves("full") }, theirs.map { t in { try t.saves("FULL") } },
        peer + " WAL, FULL"),
      compared(
        "the same from \(LogCases.threadCount) contexts", goal: 0.20, { try concurrentSaves() },
        theirs.map { t in { try t.saves("FULL") } }, peer + " WAL, FULL"),
      compared(
        "\(count), normal", goal: 0.30, { try saves("normal") },
        theirs.map { t in { try t.saves("NORMAL") } },
        peer + " WAL, NORMAL"),
      compared(
        "insert all flights, 1 save", goal: 0.5, runCount: 2, { insertObjects() },
        theirs.map { t in { t.insert() } }, peer + " WAL"),
      compared(
        "change 10 %, save", goal: 0.30, { try change { $0.depDelay = ($0.depDelay ?? 0) + 1 } },
        theirs.map { t in { try t.updateTenth() } }, peer + " WAL"),
      compared(
        "delete 10 %, save", goal: 0.30, { try change { $0.managedObjectContext?.delete($0) } },
        theirs.map { t in { try t.deleteTenth() } }, peer + " WAL"),
      Case(
        name: "log: open with a checkpoint", peer: "20 ms", goal: 1.0,
        ours: { try open(isCheckpointed: true) },
        theirs: { .gauge { Sample(figure: 20, answer: .total(1, count: 1)) } }),
      Case(
        name: "log: open with a checkpoint, 10 times the rows", peer: "Cairn at 336,776 rows", goal: 1.3,
        ours: { try LogCases(files: .init(files.data.withFlights(3_367_760))).open(isCheckpointed: true) },
        theirs: { try open(isCheckpointed: true) }),
      compared(
        "open with all flights in the tail", goal: 0.40, { try open(isCheckpointed: false) },
        theirs.map { t in { t.load() } }, peer + ", full load"),
      Case(
        name: "log: 100,000 updates: bytes written", peer: "without checkpoints", unit: .megabytes, goal: 3.0,
        runCount: 1, ours: { updates(.inline) }, theirs: { updates(.never) }),
      flat(100_000), flat(1_000_000),
    ]
  }

  /// Cairn against itself: a small save costs what it changes, not what the store holds.
  private func flat(_ rowCount: Int) -> Case {
    func setup(_ count: Int) -> Case.Setup {
      { try LogCases(files: .init(files.data.withFlights(count))).changeOne() }
    }
    return Case(
      name: "log: save of 1 change: \(rowCount / 1_000)k against 10k", peer: "Cairn at 10,000 rows",
      goal: 1.5, runCount: 20, ours: setup(rowCount), theirs: setup(10_000))
  }
}
