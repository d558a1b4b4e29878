// The golden files of Formats/golden/archive: what is accepted reads as its JSON says, what is rejected
// throws.

import CairnModel
import Foundation
import Testing

@testable import CairnStores

@Suite struct GoldenArchiveTests {
  static let folder: URL =
    URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    .appendingPathComponent("../../../Formats/golden/archive").standardizedFileURL

  static func file(_ kind: String, _ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appendingPathComponent("\(kind)/\(name)")))
  }

  /// All names, with an extension left out.
  static func names(_ kind: String) -> [String] {
    let all = try? FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent(kind).path)
    return (all ?? []).filter { $0.hasSuffix(".cairn") }.map { String($0.dropLast(6)) }.sorted()
  }

  /// The JSON of an archive of these bytes.
  static func dump(_ bytes: [UInt8]) throws -> String {
    let files = SimulatedFileSystem()
    try files.open("/a", .create(permissions: 0o644)).write(bytes, at: 0)
    return String(decoding: try ArchiveDump.json(at: "/a", on: files), as: UTF8.self)
  }

  static func message(_ error: StoreError) -> String {
    // What other libraries say behind a colon may change with them.
    let sentence = error.message.prefix { $0 != ":" }
    return "\(error.code) \(error.offset.map(String.init) ?? "-")\n\(sentence)\n"
  }

  /// With CAIRN_WRITE_GOLDEN in the environment, files that aren't there yet are written. None is ever
  /// replaced.
  static let writesMissing = ProcessInfo.processInfo.environment["CAIRN_WRITE_GOLDEN"] != nil

  private static func write(_ content: [UInt8], _ kind: String, _ name: String) throws {
    let url = folder.appendingPathComponent("\(kind)/\(name)")
    if FileManager.default.fileExists(atPath: url.path) { return }
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(content).write(to: url)
  }

  @Test(arguments: Golden.accepted.map(\.name))
  func `a golden archive is what is made today, and reads as its JSON says`(_ name: String) throws {
    let made = try #require(Golden.accepted.first { $0.name == name }).make()
    if Self.writesMissing {
      try Self.write(made, "accept", "\(name).cairn")
      try Self.write(Array(try Self.dump(made).utf8), "accept", "\(name).json")
    }
    let expected = String(decoding: try Self.file("accept", "\(name).json"), as: UTF8.self)
    let golden = try Self.file("accept", "\(name).cairn")
    #expect(try Self.dump(golden) == expected)
    // Another release of zlib may deflate to other bytes, and an encoder that has learnt something choose
    // others; what they say stays.
    #expect(try Self.dump(made) == expected)
    #expect(golden.count < 16_384, "golden files are small")
  }

  @Test(arguments: Golden.rejected.map(\.name))
  func `a golden archive that breaks a rule throws corrupt, where its text says`(_ name: String) throws {
    let made = try #require(Golden.rejected.first { $0.name == name }).make()
    func failure(_ bytes: [UInt8]) -> String {
      do {
        _ = try Self.dump(bytes)
        return "nothing is wrong with it"
      } catch let error as StoreError {
        return Self.message(error)
      } catch {
        return "another error: \(error)"
      }
    }
    if Self.writesMissing {
      try Self.write(made, "reject", "\(name).cairn")
      try Self.write(Array(failure(made).utf8), "reject", "\(name).txt")
    }
    let expected = String(decoding: try Self.file("reject", "\(name).txt"), as: UTF8.self)
    #expect(expected.hasPrefix("corrupt "), "\(name): \(expected)")
    let golden = try Self.file("reject", "\(name).cairn")
    #expect(failure(golden) == expected)
    // Another zlib, or a writer that has learnt something, may move what an offset or a length is said of.
    func sentence(_ text: String) -> String? {
      text.split(separator: "\n").last.map { String($0.filter { !$0.isNumber }) }
    }
    #expect(sentence(failure(made)) == sentence(expected))
  }

  @Test func `every golden file is made by a test`() {
    #expect(Self.names("accept") == Golden.accepted.map(\.name).sorted())
    #expect(Self.names("reject") == Golden.rejected.map(\.name).sorted())
  }

  @Test func `the golden encodings are all that there are`() throws {
    #expect(try Golden.encodings().used == Golden.allForms)
    #expect(Golden.allForms.count == 28)
    #expect(try Golden.related().used.isSuperset(of: Golden.allRelations))
    #expect(try Golden.items().used.contains("relation 6"))
  }
}
