// What `cairn info` and `cairn salvage` print of a log store.

import Cairn

enum LogListing {
  static func text(_ summary: LogSummary, _ path: String, _ console: Console) -> String {
    var lines = [
      "\(path): \(grouped(summary.totalByteCount)) bytes, \(grouped(summary.liveByteCount)) of them live",
      "uuid        \(summary.uuid.uuidString)",
      "commit      \(summary.generation)" + (summary.isClosed ? "" : ", not closed"),
      "created     \(DateText.rounded(summary.created))",
      "model       "
        + (summary.hasModel ? "inside" : "none inside")
        + (summary.modelVersions.isEmpty
          ? "" : ", version \(summary.modelVersions.joined(separator: ", "))"),
      "history     "
        + (summary.keptAfter < summary.generation
          ? "from commit \(summary.keptAfter + 1) on" : "none") + historyBytes(summary),
    ]
    if let tear = summary.tear { lines.append("torn        \(tear.message)") }
    for (name, bytes) in summary.torn { lines.append("cut off     \(grouped(bytes)) bytes, in \(name)") }
    for (name, bytes) in summary.leftovers { lines.append("left over   \(grouped(bytes)) bytes, in \(name)") }
    var table = TextTable(["file", "bytes", "used", "commits", "transactions", "frames", "needed for"])
    for base in summary.bases {
      table.add([
        (base.name, false), (grouped(base.byteCount), true), (grouped(base.byteCount), true),
        ("to \(base.generation)", false), ("–", false), ("–", false),
        (base.name == summary.bases.last?.name ? "rows" : "history", false),
      ])
    }
    for segment in summary.segments {
      let commits =
        segment.transactionCount == 0 ? "–" : "\(segment.generationBefore + 1) to \(segment.newestGeneration)"
      table.add([
        (segment.name, false), (grouped(segment.byteCount), true), (grouped(segment.usedByteCount), true),
        (commits, false), (grouped(segment.transactionCount), true), (grouped(segment.frameCount), true),
        (segment.isLive ? "rows" : "history", false),
      ])
    }
    let text = table.text(width: console.terminalWidth)
    // The number of lines, which a table ends with, is that of nothing here.
    return lines.joined(separator: "\n") + "\n\n"
      + text.split(separator: "\n", omittingEmptySubsequences: false).dropLast(2).joined(separator: "\n")
      + "\n"
  }

  private static func historyBytes(_ summary: LogSummary) -> String {
    summary.historyByteCount == 0 ? "" : ", \(grouped(summary.historyByteCount)) bytes for it alone"
  }

  private static func grouped(_ number: some BinaryInteger) -> String { Console.grouped(Int(number)) }

  // MARK: JSON

  private struct Listing: Encodable {
    struct File: Encodable {
      let name: String
      let bytes: UInt64
      let usedBytes: UInt64
      let generation: Int64
      let transactions: Int?
      let frames: Int?
      let isLive: Bool
    }

    let uuid: String
    let generation: Int64
    let created: String
    let modelVersions: [String]
    let hasModel: Bool
    let isClosed: Bool
    let historyAfter: Int64
    let totalBytes: UInt64
    let liveBytes: UInt64
    let historyBytes: UInt64
    let tear: String?
    let bases: [File]
    let segments: [File]
    let torn: [String: UInt64]
    let leftovers: [String: UInt64]
  }

  static func json(_ summary: LogSummary) throws -> String {
    let listing = Listing(
      uuid: summary.uuid.uuidString, generation: summary.generation,
      created: DateText.rounded(summary.created),
      modelVersions: summary.modelVersions, hasModel: summary.hasModel, isClosed: summary.isClosed,
      historyAfter: summary.keptAfter, totalBytes: summary.totalByteCount, liveBytes: summary.liveByteCount,
      historyBytes: summary.historyByteCount, tear: summary.tear?.message,
      bases: summary.bases.map {
        .init(
          name: $0.name, bytes: $0.byteCount, usedBytes: $0.byteCount, generation: $0.generation,
          transactions: nil, frames: nil, isLive: $0.name == summary.bases.last?.name)
      },
      segments: summary.segments.map {
        .init(
          name: $0.name, bytes: $0.byteCount, usedBytes: $0.usedByteCount, generation: $0.newestGeneration,
          transactions: $0.transactionCount, frames: $0.frameCount, isLive: $0.isLive)
      },
      torn: Dictionary(uniqueKeysWithValues: summary.torn.map { ($0.name, $0.byteCount) }),
      leftovers: Dictionary(uniqueKeysWithValues: summary.leftovers.map { ($0.name, $0.byteCount) }))
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(listing), as: UTF8.self) + "\n"
  }

  // MARK: Salvaging

  static func text(_ report: LogSalvageReport, _ target: String) -> String {
    var lines = [
      "\(target): the rows as of commit \(report.generation), of a checkpoint at \(report.baseGeneration) and "
        + "\(Console.grouped(report.transactionCount)) transactions"
    ]
    lines += report.notes.map { "damaged, but not needed: \($0)" }
    for range in report.lostCommits {
      lines.append(
        range.count == 1
          ? "lost: commit \(range.lowerBound)" : "lost: commits \(range.lowerBound) to \(range.upperBound)")
    }
    lines += report.refused.map {
      "lost: commit \($0.generation), which can't be made without others: \($0.reason)"
    }
    lines += report.gaps.map {
      "damaged: \($0.file), \(Console.grouped(Int($0.byteCount))) bytes from \($0.offset) on: \($0.reason)"
    }
    if let base = report.base, !base.isWhole { lines += ArchiveRepairs.losses(base) }
    lines.append(report.isWhole ? "nothing was lost" : "everything else was saved")
    return lines.joined(separator: "\n") + "\n"
  }
}
