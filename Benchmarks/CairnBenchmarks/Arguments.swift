// The command line.
//
// Invariant: whatever isn't understood is an error that names it; nothing is ignored.

import Foundation

struct Arguments: Equatable {
  /// Only the cases whose name contains this text, upper or lower case alike.
  var filter: String?
  /// How many flights; nil for as many as the file has.
  var rows: Int?
  /// The folder of the CSV files; nil for `FlightData.defaultFolder`.
  var folder: String?
  /// Where to write the figures as JSON.
  var jsonPath: String?
  var wantsHelp = false

  static let help = """
    usage: CairnBenchmarks [--filter TEXT] [--rows N] [--data DIR] [--json FILE]

      --filter TEXT  run only the cases whose name contains TEXT
      --rows N       use N flights: the first ones, or all of them over and over
      --data DIR     the folder of airlines, airports, planes and flights.csv.gz
                     (default: \(FlightData.defaultFolder); Benchmarks/fetch-data.sh DIR makes one)
      --json FILE    write the figures to FILE as well
      --help         print this

    Each row is the best of several runs in turn: ours, theirs, ours, theirs.
    A ratio is ours divided by theirs; it reaches its goal when it isn't above it. The goals are
    for all 336,776 flights. Cases of a commit compare Cairn with itself: a large store, a small one.
    Exit code 1: a case failed or the two sides' answers differ. A goal missed doesn't change it.
    """

  init(_ words: [String]) throws {
    var rest = words[...]
    while let word = rest.popFirst() {
      func value() throws -> String {
        guard let value = rest.popFirst() else { throw UsageError("\(word) needs a value") }
        return value
      }
      switch word {
      case "--filter": filter = try value()
      case "--data": folder = try value()
      case "--json": jsonPath = try value()
      case "--help", "-h": wantsHelp = true
      case "--rows":
        let text = try value()
        // The upper bound keeps row numbers in the 32 bits of a column.
        guard let number = Int(text), (1...100_000_000).contains(number) else {
          throw UsageError("--rows needs a number from 1 to 100000000, not \"\(text)\"")
        }
        rows = number
      default: throw UsageError("unknown argument \"\(word)\"")
      }
    }
  }
}
