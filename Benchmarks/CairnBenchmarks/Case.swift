// A case of the benchmark: one piece of work, done by each of two sides.
//
// Invariant: only the `run` closure of a side is timed; what comes before it (`prepare`) and after it (the
// answer's checksum, the release of what `run` returned) isn't.

import Foundation

/// One run's figure and what was computed.
struct Sample {
  var figure: Double
  var answer: Answer
}

/// One side of a case, ready to run any number of times.
struct Side {
  let sample: () throws -> Sample

  /// A side whose figure is the time that `run` takes, in milliseconds.
  ///
  /// - `prepare` makes what a run uses up: a fresh copy of the store, say.
  /// - `answer` is given what `run` returned and may look at the store again.
  static func timed<Input, Result>(
    prepare: @escaping () throws -> Input, run: @escaping (Input) throws -> Result,
    answer: @escaping (Result) throws -> Answer
  ) -> Side {
    Side {
      let input = try prepare()
      let start = DispatchTime.now().uptimeNanoseconds
      let result = try run(input)
      let end = DispatchTime.now().uptimeNanoseconds
      return Sample(figure: Double(end - start) / 1_000_000, answer: try answer(result))
    }
  }

  /// A side that leaves its store as it was.
  static func timed<Result>(
    run: @escaping () throws -> Result, answer: @escaping (Result) throws -> Answer
  ) -> Side {
    timed(prepare: {}, run: run, answer: answer)
  }

  /// A side whose figure is measured otherwise: a number of bytes, say.
  static func gauge(_ sample: @escaping () throws -> Sample) -> Side { Side(sample: sample) }
}

struct Case {
  enum Unit: String {
    case milliseconds = "ms"
    case megabytes = "MB"
  }

  /// Sets a side up; called once, only if the case is run, outside the timing. Nil if there is none.
  typealias Setup = () throws -> Side

  var name: String
  /// Whom ours is compared with.
  var peer: String
  var unit = Unit.milliseconds
  /// The ratio of ours to theirs that is to be reached; nil where there is none.
  var goal: Double?
  /// The least number of runs; the best one counts.
  var runCount = 5
  /// The number of rows in the answer for all of the flights, where it is known.
  var knownCount: Int?
  var ours: Setup?
  var theirs: Setup?
}
