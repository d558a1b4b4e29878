// `CairnBenchmarks`: measures Cairn against SQLite on the same real data in the same process.
//
// Invariant: it exits 0 only if every case that ran had equal answers on both sides.

import Foundation

@main
enum Program {
  static func main() {
    do {
      let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
      if arguments.wantsHelp {
        Console.printLine(Arguments.help)
        return
      }
      exit(try run(arguments))
    } catch let error as UsageError {
      Console.printError("CairnBenchmarks: \(error.description)\n\n\(Arguments.help)")
      exit(Console.ExitCode.usage)
    } catch {
      Console.printError("CairnBenchmarks: \(error)")
      exit(Console.ExitCode.failure)
    }
  }

  private static func run(_ arguments: Arguments) throws -> Int32 {
    let all = try FlightData.load(from: arguments.folder)
    let data = arguments.rows.map(all.withFlights) ?? all
    var sqlite: SQLiteLibrary?
    do { sqlite = try SQLiteLibrary() } catch { Console.printError("\(error)") }

    let folder = URL(fileURLWithPath: arguments.folder ?? FlightData.defaultFolder, isDirectory: true)
    let cases = try Cases(data: data, ours: .memoryStore, sqlite: sqlite, folder: folder).all.filter {
      guard let filter = arguments.filter else { return true }
      return $0.name.localizedCaseInsensitiveContains(filter)
    }
    guard !cases.isEmpty else { throw UsageError("no case's name contains \"\(arguments.filter ?? "")\"") }

    Console.printLine("flights: \(data.flights.count); best run of each side")
    let harness = Harness(hasKnownData: data.flights.count == KnownAnswers.flightCount)
    let table = Table(names: cases.map(\.name))
    table.printHeader(peer: sqlite.map { "SQLite \($0.version)" } ?? "SQLite")
    var figures: [Figures] = []
    for benchmark in cases {
      do {
        figures.append(try harness.run(benchmark))
        table.printRow(figures[figures.count - 1])
      } catch {
        // The other cases may still be of use; a wrong answer has no speed and stays out of the JSON.
        table.printFailure(benchmark.name)
        Console.printError("\(error)")
      }
    }
    if let path = arguments.jsonPath { try write(figures, to: path) }
    return figures.count == cases.count ? 0 : Console.ExitCode.failure
  }

  private static func write(_ figures: [Figures], to path: String) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try (encoder.encode(figures) + Data("\n".utf8)).write(to: URL(fileURLWithPath: path))
  }
}
