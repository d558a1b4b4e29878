// An explanation as people read it.

import Foundation

extension FetchExplanation: CustomStringConvertible {
  /// A paragraph for the fetch, one for each question to a store, and the time by step.
  public var description: String {
    let results = resultCount == 1 ? "1 result" : "\(resultCount) results"
    var lines = ["\(entity), \(resultKind): \(results) in \(FetchExplanation.time(seconds))"]
    lines.append(FetchExplanation.line("predicate", storePredicate.map { $0 + ", on columns" } ?? "none"))
    if let memoryPredicate {
      lines.append(FetchExplanation.line("", memoryPredicate + ", on each object that the stores found"))
    }
    let keys = sort.isEmpty ? "none" : sort.joined(separator: ", ")
    lines.append(FetchExplanation.line("order", keys + (isSortedInMemory ? ", of objects in memory" : "")))
    if offset > 0 || limit != nil {
      lines.append(FetchExplanation.line("window", FetchExplanation.window(offset, limit)))
    }
    if pendingObjectCount > 0 {
      lines.append(FetchExplanation.line("unsaved", "\(pendingObjectCount) objects judged in memory"))
    }
    lines.append(FetchExplanation.line("time", FetchExplanation.times(steps)))
    for question in questions { lines += question.lines }
    return lines.joined(separator: "\n")
  }

  static func line(_ title: String, _ text: String) -> String {
    "  " + title + String(repeating: " ", count: max(1, 11 - title.count)) + text
  }

  static func window(_ offset: Int, _ limit: Int?) -> String {
    "offset \(offset), " + (limit.map { "limit \($0)" } ?? "no limit")
  }

  static func times(_ steps: [Step]) -> String {
    steps.map { "\($0.name) \(time($0.seconds))" }.joined(separator: ", ")
  }

  static func time(_ seconds: Double) -> String {
    let milliseconds = seconds * 1e3
    return milliseconds < 10
      ? String(format: "%.3f ms", milliseconds) : String(format: "%.1f ms", milliseconds)
  }
}

extension FetchExplanation.Question {
  fileprivate var lines: [String] {
    let line = FetchExplanation.line
    let noun = kind == .aggregate ? "groups" : kind == .count ? "counted" : "rows"
    var lines = [
      "\(storeType) store, \(kind.rawValue): \(resultCount) \(noun) in \(FetchExplanation.time(seconds))"
    ]
    if offset > 0 || limit != nil { lines.append(line("window", FetchExplanation.window(offset, limit))) }
    guard let work else { return lines + [line("how", "the store doesn't say")] }
    for index in work.indexes {
      let narrowed =
        "\(index.lookUps) \(index.endsWithRange ? "range" : "value")\(index.lookUps == 1 ? "" : "s") looked up"
      lines.append(
        line(
          "index",
          "\(index.entity) (\(index.properties.joined(separator: ", "))): \(narrowed), \(index.candidates) candidates"
        ))
    }
    if work.indexes.isEmpty { lines.append(line("index", "none")) }
    lines.append(
      line(
        "chunks",
        "\(work.chunkCount), of which \(work.skippedChunkCount) were decided by their least and greatest values"
      ))
    lines.append(line("rows", "\(work.rowsLookedAt) looked at, \(work.rowsMatched) matched"))
    if !sort.isEmpty {
      let how =
        switch work.order {
        case .stored: "as they lie"
        case .best: "the first of the window kept while the rows went by"
        case .sorted: "all of them sorted"
        }
      lines.append(line("order", how))
    }
    lines.append(line("time", FetchExplanation.times(work.steps)))
    return lines
  }
}
