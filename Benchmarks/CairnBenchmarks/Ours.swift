// Cairn's half of the cases.
//
// Invariant: each closure is called once, outside the timing, if its case is run; the `Side` that it returns
// is then run several times. What each must answer stands here, and SQLite's half answers the same.

import Foundation

struct Ours {
  /// Sets up one case's side over these data; keys of rows are `index + 1`, as in `FlightData`.
  typealias Setup = (FlightData) throws -> Side

  /// Inserts all four tables into an empty store, committing after every 10,000 flights, with the four
  /// relationships indexed. Answers `.total(sum of distance, count: rows of all four tables)`.
  var load: Setup?

  /// Fetches `depDelay > 60 AND airline.carrier == "UA"` without an index. Answers `.unordered(keys)`.
  var lateUnitedKeys: Setup?

  /// Counts the same. Answers `.total(count, count: count)`.
  var lateUnitedCount: Setup?

  /// Fetches the same with an index on (airline, depDelay), keys only. Answers `.unordered(keys)`.
  var lateUnitedKeysByIndex: Setup?

  /// Fetches the first 100 flights by depDelay descending, then distance ascending, without an index.
  /// Answers `.ordered(keys, by: [depDelay, distance])`.
  var first100ByDelay: Setup?

  /// Fetches all flights in that order. Answers the same way.
  var allByDelay: Setup?

  /// Averages arrDelay by airline, without an index. Answers `.averages` by carrier.
  var averageDelays: Setup?

  /// Reads `distance` of the rows with the keys `randomFlightKeys()`. Answers `.total(sum, count: keys)`.
  var randomRows: Setup?

  /// Adds 1 to `depDelay` (nil stays nil) of the rows with the keys `tenthOfFlightKeys()` in one commit,
  /// of a store that no other run has changed. Answers `.total(sum of depDelay, count: rows left)`.
  var updateTenth: Setup?

  /// Deletes the rows with those keys in one commit, likewise. Answers `.total(sum of keys left, count:
  /// rows left)`.
  var deleteTenth: Setup?

  /// Gauges the memory, in MB of 1,000,000 bytes, that the loaded store takes, with the four relationships
  /// indexed. Answers as `load` does.
  var memory: Setup?

  /// Commits a change of one flight to a store of as many rows as it is given. Answers
  /// `.total(1, count: 1)`, whatever the size.
  var oneRowCommit: Setup?
}
