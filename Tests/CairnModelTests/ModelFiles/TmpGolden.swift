import Foundation
import Testing
@testable import CairnModel
@Test("tmp golden") func tmpGolden() throws {
  let d = ModelDocument.sample
  try d.contents().write(to: URL(fileURLWithPath: "/tmp/sample.contents"))
  let lines = d.versionHashes.map { "\($0.key) \($0.value.hexText)" }.sorted() + [d.versionChecksum, d.versionHashesDigest]
  try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: "/tmp/hashes.txt"))
}

@Test("tmp bytes") func tmpBytes() throws {
  for path in Fixtures.paths(endingIn: "/contents") {
    let d = try Fixtures.document(path)
    let out = "/tmp/bytes/" + path.replacing("/", with: "_")
    try d.contents().write(to: URL(fileURLWithPath: out + ".new"))
    try Fixtures.text(path).replacing(#/[ ]*<elements>(?s:.*?)</elements>\n/#, with: "").write(toFile: out + ".old", atomically: true, encoding: .utf8)
  }
  do { _ = try ModelDocument(contents: Data("<model>\n  <entity name=a/>\n</model>".utf8), file: "c") } catch { print("ERR", error) }
}
