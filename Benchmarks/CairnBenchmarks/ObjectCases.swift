// The cases through objects, with their goals.

import Foundation

struct ObjectCases {
  let shared = Shared()

  /// `sqlite` is nil where SQLite isn't installed; its halves are then missing.
  func all(_ data: FlightData, peer: String, _ theirs: SQLiteSides?) -> [Case] {
    func compared(
      _ name: String, goal: Double, runCount: Int = 5, knownCount: Int? = nil,
      _ ours: @escaping Case.Setup, _ theirs: (() -> Side)?
    ) -> Case {
      Case(
        name: "objects: " + name, peer: peer, goal: goal, runCount: runCount, knownCount: knownCount,
        ours: ours, theirs: theirs)
    }
    let count = KnownAnswers.flightCount
    return [
      compared(
        "insert, 4 relationships each, indexed", goal: 0.20, runCount: 3,
        { insert(data, indexed: true) }, theirs?.insertChecked),
      compared(
        "insert, against no index and no checks", goal: 1.0, runCount: 3,
        { insert(data, indexed: false) }, theirs?.insertUnchecked),
      compared("fetch all as faults", goal: 0.25, knownCount: count, { try faults(data) }, theirs?.records),
      compared(
        "fetch all, read every property", goal: 0.40, knownCount: count, { try everyProperty(data) },
        theirs?.everyProperty),
      compared(
        "100,000 by ID, unregistered", goal: 0.30, { try byID(data, registered: false) }, theirs?.randomRows),
      compared(
        "100,000 by ID, registered", goal: 0.10, { try byID(data, registered: true) }, theirs?.randomRows),
      compared(
        "flight.plane.manufacturer of all", goal: 0.25, { try manufacturers(data) }, theirs?.manufacturers),
      compared("change 10 %, save", goal: 0.5, { updateTenth(data) }, theirs?.updateTenth),
      compared("delete 10 %, save", goal: 0.3, { deleteTenth(data) }, theirs?.deleteTenth),
      memory(data),
      flat("save of 1 change", 100_000, data, saveOne),
      flat("save of 1 change", 1_000_000, data, saveOne),
      flat("new context, 1 object by ID", 100_000, data, contextAndOne),
      flat("new context, 1 object by ID", 1_000_000, data, contextAndOne),
    ]
  }

  /// What GRDB 7.5 takes for an array of all flights as records, as measured once, and in proportion for other
  /// numbers of flights.
  private static let megabytesInGRDB = 134.0

  private func memory(_ data: FlightData) -> Case {
    Case(
      name: "objects: memory of all as faults", peer: "GRDB: records of all flights (a constant)",
      unit: .megabytes, goal: 0.30, runCount: 1, ours: { try memory(data) },
      theirs: {
        .gauge {
          let count = data.flights.count
          return Sample(
            figure: Self.megabytesInGRDB * Double(count) / Double(KnownAnswers.flightCount),
            answer: .total(Int64(count), count: count))
        }
      })
  }

  /// Cairn against itself: what is done with one object costs the same among `rowCount` as among 10,000, but for
  /// the noise that the goal allows.
  private func flat(
    _ name: String, _ rowCount: Int, _ data: FlightData, _ side: @escaping (FlightData) throws -> Side
  ) -> Case {
    Case(
      name: "objects: \(name): \(rowCount / 1_000)k against 10k", peer: "Cairn at 10,000 rows", goal: 1.5,
      ours: { try side(data.withFlights(rowCount)) }, theirs: { try side(data.withFlights(10_000)) })
  }
}
