// What a footer says: every table's groups, and where their blocks are. Formats/archive.md has the bytes.

import CairnModel
import Foundation

/// Where a block is, its header included.
struct BlockPlace: Equatable {
  var offset: UInt64
  var length: Int
}

/// The state of an archive after one commit.
struct ArchiveIndex {
  var generation: Int64
  /// Milliseconds since 1970.
  var time: Int64
  /// The number that the next group gets.
  var nextGroup: UInt32
  var schema: BlockPlace
  var metadata: BlockPlace
  /// By entity; what a root's hierarchy reserves next.
  var nextKeys: [Int64]
  var nextJoinKeys: [Int64]
  /// By table.
  var tables: [[ArchiveGroup]]
}

/// Groups of one table in the place of others.
struct GroupSplice {
  var table: Int
  var start: Int
  var removed: Int
  var inserted: [ArchiveGroup]
}

extension ArchiveIndex {
  /// Puts the difference on top of the tables. Throws `RecordError`.
  mutating func apply(_ splices: [GroupSplice]) throws {
    for splice in splices {
      guard splice.start + splice.removed <= tables[splice.table].count else {
        throw RecordError(message: "a difference to groups that aren't there", offset: 0)
      }
      tables[splice.table].replaceSubrange(
        splice.start..<splice.start + splice.removed, with: splice.inserted)
    }
  }

  /// Throws unless the keys of each table ascend, and were reserved.
  func checkKeys(_ schema: Schema) throws {
    for (table, groups) in tables.enumerated() {
      var last: Int64 = 0
      for group in groups {
        guard let first = group.chunks.first, first.firstKey > last else {
          throw RecordError(message: "the keys of a table don't ascend", offset: 0)
        }
        last = group.chunks.last!.lastKey
      }
      let entityCount = schema.entities.count
      let next =
        table < entityCount
        ? nextKeys[schema.entities[table].root.index] : nextJoinKeys[table - entityCount]
      guard last < next else {
        throw RecordError(
          message: "the key \(last) is used, and \(next) is said to be the next one", offset: 0)
      }
    }
  }
}

// MARK: - What writing and reading a footer share

extension ArchiveIndex {
  static let form: UInt8 = 1

  /// What the next group's numbers are told relative to.
  struct GroupContext {
    var id: Int64 = 0
    var lastKey: Int64 = 0
    var end: UInt64 = 0
  }

  enum Flag {
    static let isDense: UInt8 = 1
    static let hasDeleted: UInt8 = 2

    static let isThere: UInt8 = 1
    static let integerZone: UInt8 = 2
    static let doubleZone: UInt8 = 4
    static let mayHoldNaN: UInt8 = 8
    static let laterPart: UInt8 = 16
    static let otherGroup: UInt8 = 32
    static let isRelated: UInt8 = 64
    static let hasBlobs: UInt8 = 128
    static let all: UInt8 = 127
  }
}

extension ArchiveGroup {
  /// Chunks in a group.
  static let capacity = 4
}
