// The golden logs of Formats/golden/log: what is accepted or recovered reads as its JSON says, what is
// rejected throws.

import CairnModel
import Foundation
import Testing

@testable import CairnStores

@Suite struct GoldenLogTests {
  static let folder = GoldenArchiveTests.folder.appendingPathComponent("../log").standardizedFileURL

  static func parts(_ kind: String, _ name: String) throws -> LogParts {
    let folder = folder.appendingPathComponent("\(kind)/\(name)")
    var files: [String: [UInt8]] = [:]
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      files[file] = Array(try Data(contentsOf: folder.appendingPathComponent(file)))
    }
    return LogParts(files)
  }

  private static func text(_ kind: String, _ name: String) throws -> String {
    String(decoding: try Data(contentsOf: folder.appendingPathComponent("\(kind)/\(name)")), as: UTF8.self)
  }

  private static func names(_ kind: String) -> [String] {
    let all = try? FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent(kind).path)
    return (all ?? []).filter { !$0.hasSuffix(".json") && !$0.hasSuffix(".txt") && !$0.hasSuffix(".table") }
      .sorted()
  }

  /// With CAIRN_WRITE_GOLDEN in the environment, logs that aren't there yet are written. None is ever
  /// replaced.
  static func write(_ parts: LogParts, _ kind: String, _ name: String, _ text: String, _ ending: String)
    throws
  {
    guard GoldenArchiveTests.writesMissing else { return }
    let directory = folder.appendingPathComponent("\(kind)/\(name)")
    if FileManager.default.fileExists(atPath: directory.path) { return }
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    for (file, bytes) in parts.files { try Data(bytes).write(to: directory.appendingPathComponent(file)) }
    try Data(text.utf8).write(to: folder.appendingPathComponent("\(kind)/\(name).\(ending)"))
  }

  private func check(_ kind: String, _ name: String, _ made: LogParts) throws {
    try Self.write(made, kind, name, try LogDump(made).json, "json")
    let expected = try Self.text(kind, "\(name).json")
    let golden = try Self.parts(kind, name)
    #expect(try LogDump(golden).json == expected)
    // Salts differ, and another zlib may deflate to other bytes; what they say stays. Offsets may move.
    let today = try LogDump(made)
    #expect(
      expected.hasPrefix(
        "{\"state\":\(today.state),\n\"commits\":[\n\(today.commits.joined(separator: ",\n"))]"))
    #expect(golden.files.values.allSatisfy { $0.count < 40_000 }, "golden files are small")
  }

  @Test(arguments: GoldenLog.accepted.map(\.name))
  func `a golden log is what is made today, and reads as its JSON says`(_ name: String) throws {
    let made = try #require(GoldenLog.accepted.first { $0.name == name }).make()
    try check("accept", name, made)
    #expect(try !LogDump(Self.parts("accept", name)).isTorn)
  }

  @Test(arguments: GoldenLog.recovered.map(\.name))
  func `a golden log with a torn tail reads as its JSON says, and is cut off when it is opened for writing`(
    _ name: String
  ) throws {
    let made = try #require(GoldenLog.recovered.first { $0.name == name }).make()
    try check("recover", name, made)
    let golden = try Self.parts("recover", name)
    let dump = try LogDump(golden)
    #expect(dump.isTorn)
    let files = try golden.fileSystem()
    let recovered = try Self.recover(files)
    #expect(try LogDump(recovered.0).state == dump.state)
    #expect(try !LogDump(recovered.0).isTorn)
    let torn = try #require(recovered.0.files.first { LogNames.isTorn($0.key) })
    let (before, after) = (golden.files["log-2"]!, recovered.0.files["log-2"]!)
    #expect(torn.key == "torn-2-\(after.count)")
    #expect(before == after + torn.value)
    // Once more it says the same, in a manifest that is one newer.
    var again = try Self.recover(recovered.1).0
    try again.changeManifest { $0.serial -= 1 }
    #expect(again == recovered.0)
  }

  /// What opening for writing leaves, without closing.
  static func recover(_ files: SimulatedFileSystem) throws -> (LogParts, SimulatedFileSystem) {
    var options = LogStore.Options()
    options.checkpoints = .never
    options.idleInterval = nil
    options.preallocation = 0
    let schema = try LogFiles.schema(at: LogParts.path, on: files)
    let store = try LogStore(
      at: LogParts.path, model: .init(schema: schema), options: options, fileSystem: files)
    return try withExtendedLifetime(store) { (try LogParts(files), files.restarted()) }
  }

  @Test(arguments: GoldenLog.rejected.map(\.name))
  func `a golden log that breaks a rule throws corrupt, where its text says`(_ name: String) throws {
    let made = try #require(GoldenLog.rejected.first { $0.name == name }).make()
    func failure(_ parts: LogParts) -> String {
      do {
        _ = try LogDump(parts)
        return "nothing is wrong with it"
      } catch let error as StoreError {
        let file = error.file.map { $0.split(separator: "/").last ?? "" } ?? "-"
        let sentence = error.message.prefix { $0 != ":" }
        return "\(error.code) \(file) \(error.offset.map(String.init) ?? "-")\n\(sentence)\n"
      } catch {
        return "another error: \(error)"
      }
    }
    try Self.write(made, "reject", name, failure(made), "txt")
    let expected = try Self.text("reject", "\(name).txt")
    #expect(expected.hasPrefix("corrupt "), "\(name): \(expected)")
    #expect(failure(try Self.parts("reject", name)) == expected)
    #expect(failure(made).split(separator: "\n").last == expected.split(separator: "\n").last)
  }

  @Test func `every golden log is made by a test`() {
    #expect(Self.names("accept") == GoldenLog.accepted.map(\.name).sorted())
    #expect(Self.names("recover") == GoldenLog.recovered.map(\.name).sorted())
    #expect(Self.names("reject") == GoldenLog.rejected.map(\.name).sorted())
  }
}
