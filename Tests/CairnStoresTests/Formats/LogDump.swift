// A log as the JSON of Formats/log.md, section 13, which the independent reader writes too.

import CairnModel
import Foundation

@testable import CairnStores

struct LogDump {
  let state: String
  let commits: [String]
  let end: String
  let generation: Int64
  /// Of the last frame.
  let sequence: UInt64
  let isTorn: Bool

  var json: String {
    "{\"state\":\(state),\n\"commits\":[\n\(commits.joined(separator: ",\n"))],\n\"end\":\(end)}\n"
  }

  /// Reads all of the log, and writes nothing to it. Throws as opening it would.
  init(_ parts: LogParts) throws {
    let files = try parts.fileSystem()
    let damage = DamageLog()
    let directory = LogDirectory(fileSystem: files, path: LogParts.path)
    let contents = try LogReplay(directory: directory, cacheBudget: 1 << 20, damage: damage).read(nil)
    let (snapshot, nextKeys, nextJoinKeys) = try contents.engine.state()
    let number = snapshot.generation.number
    generation = number
    sequence = contents.end.sequence
    isTorn = contents.end.tear != nil
    state = try damage.checking {
      try LogDump.state(
        snapshot,
        .init(
          schema: contents.base.schema, metadata: contents.metadata, generation: number,
          nextKeys: nextKeys, nextJoinKeys: nextJoinKeys))
    }
    end =
      "{\"segment\":\(contents.manifest.segments.last!.number),\"sequence\":\(contents.end.sequence)"
      + ",\"offset\":\(contents.end.offset),\"torn\":\(isTorn)}"
    commits = try contents.manifest.segments.flatMap { segment in
      let file = try directory.open(segment, contents.manifest)
      var reader = LogSegmentReader(file, path: directory.path(segment), segment: segment)
      var commits: [String] = []
      while case .group(let group) = try reader.next() {
        if group.isTransaction { commits.append(try LogDump.commit(group, contents.schema)) }
      }
      return commits
    }
  }

  /// Rows as JSON, by way of an archive.
  static func state(_ snapshot: TableSnapshot, _ identity: ArchiveCopy.Identity) throws -> String {
    let files = SimulatedFileSystem()
    try ArchiveCopy(fileSystem: files, path: "/state").write(snapshot, identity)
    let all = String(decoding: try ArchiveDump.json(at: "/state", on: files), as: UTF8.self)
    let times = try #/,"created":-?\d+,"saved":-?\d+/#.firstMatch(in: all)!.range
    return all.replacingCharacters(in: times, with: "").trimmingCharacters(in: .newlines)
  }

  private static func commit(_ group: LogGroup, _ schemas: LogSchema) throws -> String {
    let (transaction, changes) = try schemas.decode(group.payload)
    let schema = schemas.stored
    func batch(_ entity: EntityID, _ keys: [Int64], _ slots: [Int]? = nil) -> String {
      let names = slots.map { $0.map { quoted(schema[entity].slots[$0].name) } }
      return "{\"entity\":\(quoted(schema[entity].name)),\"keys\":\(list(keys))"
        + (names.map { ",\"slots\":\(list($0))" } ?? "") + "}"
    }
    let links = changes.links.map { links in
      let relationship = schema[links.relationship]
      let change =
        switch links.change {
        case .add: "add"
        case .remove: "remove"
        case .replace: "replace"
        }
      let name = quoted("\(schema[relationship.owner].name).\(relationship.name)")
      return "{\"relationship\":\(name),\"owner\":\(links.owner.id),\"change\":\"\(change)\""
        + ",\"members\":\(list(links.change.members.map(\.id)))}"
    }
    let time = transaction.time.timeIntervalSinceReferenceDate
    return "{\"generation\":\(group.generation),\"time\":\(time)"
      + ",\"author\":\(transaction.author.map(quoted) ?? "null")"
      + ",\"contextName\":\(transaction.contextName.map(quoted) ?? "null")"
      + ",\"inserts\":\(list(changes.inserts.map { batch($0.entity, $0.keys) }))"
      + ",\"updates\":\(list(changes.updates.map { batch($0.entity, $0.keys, $0.slots) }))"
      + ",\"deletes\":\(list(changes.deletes.map { batch($0.entity, $0.keys) }))"
      + ",\"links\":\(list(links))}"
  }

  private static func list(_ items: [some CustomStringConvertible]) -> String {
    "[\(items.map(\.description).joined(separator: ","))]"
  }

  private static func quoted(_ text: String) -> String {
    String(decoding: try! JSONEncoder().encode(text), as: UTF8.self)
  }
}
