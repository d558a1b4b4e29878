// `cairn verify`, `cairn salvage` and `cairn compact`.

import Cairn

enum ArchiveRepairs {
  static func verify(_ path: String, _ console: Console) throws -> Int32 {
    let line = ProgressLine()
    defer { line.clear() }
    let full = ArchivePath.full(path)
    func show(_ done: Int, _ total: Int) { line.show("verifying", done, of: total) }
    let findings =
      try LogFiles.isLog(at: full)
      ? LogVerifier.findings(at: full, progress: show) : ArchiveVerifier.findings(at: full, progress: show)
    line.clear()
    for finding in findings { try console.write(text(finding, path) + "\n") }
    if findings.isEmpty { try console.write("\(path): nothing is wrong\n") }
    return findings.isEmpty ? 0 : 65
  }

  private static func text(_ finding: StoreError, _ path: String) -> String {
    // Of a log's files, which one.
    var text = finding.file.map { $0 != ArchivePath.full(path) ? $0 : path } ?? path
    if let offset = finding.offset { text += " at byte \(offset)" }
    if let entity = finding.entity { text += ", \(entity)" + (finding.property.map { ".\($0)" } ?? "") }
    return text + ": \(finding.message)" + (finding.remedy.map { "; \($0)" } ?? "")
  }

  static func salvage(
    _ path: String, _ target: String, _ model: String?, _ profile: ArchiveStore.Profile, _ console: Console
  ) throws -> Int32 {
    let isLog = LogFiles.isLog(at: ArchivePath.full(path))
    try OutputKind.require(
      isLog ? .log : .archive, at: target, by: "cairn salvage of \(isLog ? "a log" : "an archive")",
      instead: "end it in \(isLog ? ".cairnlog" : ".cairn")")
    try ArchivePath.requireNothing(at: target)
    let instead = try model.map { try InputStore(empty: InputStore.model($0, nil), of: $0).archiveModel }
    if isLog {
      let report = try ArchivePath.writing(target, reading: [path]) {
        try LogSalvager.salvage(
          ArchivePath.full(path), to: ArchivePath.full(target), model: instead, profile: profile)
      }
      try console.write(LogListing.text(report, target))
      return report.isWhole ? 0 : 2
    }
    let line = ProgressLine()
    defer { line.clear() }
    let report = try ArchivePath.writing(target, reading: [path]) {
      try ArchiveSalvager.salvage(
        ArchivePath.full(path), to: ArchivePath.full(target), model: instead, profile: profile
      ) { done, total in line.show("salvaging", done, of: total) }
    }
    line.clear()
    try console.write(text(report, target))
    return report.isWhole ? 0 : 2
  }

  private static func text(_ report: SalvageReport, _ target: String) -> String {
    var lines = ["\(target): commit \(report.generation), saved \(DateText.rounded(report.time))"]
    lines += report.rows.map { "  \($0.entity): \(Console.grouped($0.count)) rows" }
    lines += report.notes.map { "damaged, but not needed: \($0)" }
    if let lost = report.lostCommits { lines.append("lost: \(lost)") }
    lines += losses(report)
    lines.append(report.isWhole ? "nothing was lost" : "everything else was saved")
    return lines.joined(separator: "\n") + "\n"
  }

  /// A line for each column or stretch of rows that is lost.
  static func losses(_ report: SalvageReport) -> [String] {
    report.losses.map { loss in
      let what = loss.property.map { "\(loss.entity).\($0)" } ?? "\(loss.entity), whole rows"
      let ranges = loss.keys.prefix(8).map {
        $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)"
      }
      let more = loss.keys.count > 8 ? " and \(loss.keys.count - 8) more ranges" : ""
      return
        "lost: \(what) of \(Console.grouped(loss.rowCount)) rows, keys \(ranges.joined(separator: ", "))\(more): "
        + loss.reason
    }
  }

  static func compact(_ path: String, _ profile: ArchiveStore.Profile, _ console: Console) throws -> Int32 {
    let line = ProgressLine()
    line.show("compacting \(path)")
    defer { line.clear() }
    let (before, after) = try ArchivePath.writingAnything(path) {
      try LogFiles.isLog(at: ArchivePath.full(path))
        ? compactLog(ArchivePath.full(path), profile)
        : ArchiveFiles.compact(ArchivePath.full(path), profile: profile)
    }
    line.clear()
    try console.write(
      "\(path): \(Console.grouped(Int(before))) bytes before, \(Console.grouped(Int(after))) now\n")
    return 0
  }
}

extension ArchiveRepairs {
  /// Makes a checkpoint. Returns what the log's files took before and take now, in bytes.
  private static func compactLog(_ path: String, _ profile: ArchiveStore.Profile) throws -> (UInt64, UInt64) {
    let before = try LogSummary(ofLogAt: path).totalByteCount
    var options = LogStore.Options()
    options.profile = profile
    let store = try LogStore(at: path, model: .init(schema: LogFiles.schema(at: path)), options: options)
    do {
      try store.compact()
    } catch {
      try? store.close()
      throw error
    }
    try store.close()
    return (before, try LogSummary(ofLogAt: path).totalByteCount)
  }
}

extension ArchivePath {
  /// What `body` returns, which reads the file at `path` and writes it; where the system refuses, `InputError` 66 for
  /// a file that isn't there, and 73 otherwise.
  fileprivate static func writingAnything<T>(_ path: String, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as StoreError where error.code == .fileSystem {
      throw InputError("\(error)", error.isMissing ? 66 : 73)
    }
  }
}
