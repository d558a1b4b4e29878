// The golden logs that readers refuse: each breaks one rule of Formats/log.md.

import CairnModel
import Foundation

@testable import CairnStores

extension GoldenLog {
  static let rejected: [(name: String, make: @Sendable () throws -> LogParts)] =
    manifests + files + frames + groups + transactions

  private static func open() throws -> LogParts { try threeCommits().parts() }
  private static func closed() throws -> LogParts { try threeCommits().closed() }

  private static func manifest(_ body: (inout LogManifest) -> Void) throws -> LogParts {
    try open().changing { try $0.changeManifest(body) }
  }

  private static func patched(_ body: (inout [UInt8]) -> Void) throws -> LogParts {
    try open().changing { $0.patchManifest(body) }
  }

  // MARK: The manifest

  private static let manifests: [(name: String, make: @Sendable () throws -> LogParts)] = [
    ("manifest-magic", { try open().changing { $0.files["MANIFEST"]![2] ^= 1 } }),
    ("manifest-size", { try patched { ArchiveParts.put(UInt32($0.count + 1), 12, &$0) } }),
    ("manifest-checksum", { try open().changing { $0.files["MANIFEST"]![70] ^= 1 } }),
    ("manifest-version", { try patched { ArchiveParts.put(UInt16(2), 8, &$0) } }),
    ("incompatible-feature", { try patched { ArchiveParts.put(UInt64(1) << 33, 32, &$0) } }),
    ("manifest-counts", { try patched { ArchiveParts.put(UInt32(0), 84, &$0) } }),
    ("manifest-reserved", { try patched { ArchiveParts.put(UInt32(1), 92, &$0) } }),
    ("manifest-number-twice", { try manifest { $0.segments[0].number = 1 } }),
    ("manifest-serial", { try manifest { $0.serial = 0 } }),
    (
      "manifest-bases",
      { try checkpointed(.all).parts().changing { try $0.changeManifest { $0.bases.swapAt(0, 1) } } }
    ),
    ("manifest-sealed", { try manifest { $0.segments[0].isSealed = true } }),
    (
      "manifest-gap",
      { try rotated().parts().changing { try $0.changeManifest { $0.segments[1].firstSequence += 1 } } }
    ),
    ("manifest-promised", { try manifest { $0.segments[0].lastSequence = 0 } }),
    (
      "manifest-flags",
      {
        try open().changing { parts in
          let place = try parts.segmentOffset(0) + 56
          parts.patchManifest { $0[place] = 2 }
        }
      }
    ),
    ("manifest-base-place", { try manifest { $0.bases[0].generation = 5 } }),
    (
      "metadata-uuid",
      {
        try manifest { manifest in
          let text = String(decoding: manifest.metadata, as: UTF8.self)
          manifest.metadata = Array(text.replacingOccurrences(of: "C0FFEE00", with: "C0FFEE01").utf8)
        }
      }
    ),
    ("metadata-json", { try manifest { $0.metadata[0] = 0x5B } }),
  ]

  // MARK: Other files

  private static let files: [(name: String, make: @Sendable () throws -> LogParts)] = [
    ("base-missing", { try open().changing { $0.files["base-1"] = nil } }),
    ("segment-missing", { try open().changing { $0.files["log-2"] = nil } }),
    ("base-short", { try open().changing { $0.files["base-1"]!.removeLast() } }),
    (
      "base-other",
      {
        let other = try Making(Golden.one, uuid: UUID(uuidString: "C0FFEE01-1234-4ABC-8DEF-0123456789AB")!)
          .parts()
        return try open().changing { parts in
          parts.files["base-1"] = other.files["base-1"]
          try parts.changeManifest { $0.bases[0].length = UInt64(other.files["base-1"]!.count) }
        }
      }
    ),
    (
      "old-base-short",
      { try checkpointed(.all).parts().changing { $0.files["base-1"]!.removeLast() } }
    ),
    (
      "old-base-other",
      {
        try checkpointed(.all).parts().changing { parts in
          parts.files["base-1"]![45] ^= 1
          ArchiveParts.put(Checksum.crc32(parts.files["base-1"]![..<76]), 76, &parts.files["base-1"]!)
        }
      }
    ),
    (
      "base-generation",
      {
        try manifest {
          $0.bases[0].generation = 1
          $0.segments[0].generationBefore = 1
        }
      }
    ),
    ("base-damaged", { try open().changing { $0.files["base-1"]![215] ^= 1 } }),
    ("segment-magic", { try open().changing { $0.files["log-2"]![4] ^= 1 } }),
    ("segment-checksum", { try open().changing { $0.files["log-2"]![60] ^= 1 } }),
    ("segment-other", { try changedHeader { $0.number = 3 } }),
    ("segment-short", { try closed().changing { $0.files["log-2"]!.removeLast() } }),
    ("sealed-long", { try checkpointed(.all).parts().changing { $0.files["log-2"]!.append(0) } }),
    (
      "generation-before",
      {
        try rotated().parts().changing { parts in
          try parts.changeManifest { $0.segments[1].generationBefore = 2 }
        }
      }
    ),
  ]

  private static func changedHeader(_ body: (inout LogSegmentHeader) -> Void) throws -> LogParts {
    try open().changing { parts in
      var header = try LogSegmentHeader(Array(parts.files["log-2"]![..<LogSegmentHeader.size]))
      body(&header)
      parts.files["log-2"]!.replaceSubrange(..<LogSegmentHeader.size, with: header.bytes)
    }
  }

  // MARK: Frames

  /// The last frame changed, with a right checksum.
  private static func lastFrame(_ body: (inout [UInt8]) -> Void) throws -> LogParts {
    try open().changing { try $0.changeFrames { body(&$0[$0.count - 1]) } }
  }

  private static let frames: [(name: String, make: @Sendable () throws -> LogParts)] = [
    ("frame-kind-0", { try lastFrame { $0[32] = 0 } }),
    ("frame-kind", { try lastFrame { $0[32] = 9 } }),
    ("frame-flags", { try lastFrame { $0[33] |= 8 } }),
    ("frame-reserved", { try lastFrame { $0[35] = 1 } }),
    ("frame-durable", { try lastFrame { frame in ArchiveParts.put(LogFrame.field(frame, 8), 24, &frame) } }),
    ("frame-generation", { try lastFrame { ArchiveParts.put(UInt64.max, 16, &$0) } }),
    ("group-piece", { try lastFrame { $0[33] = 0 } }),
    ("compressed", { try lastFrame { $0[33] |= 2 } }),
    (
      "compressed-long",
      {
        try open().changing { parts in
          let content = [UInt8](repeating: 0, count: 16 << 20 + 1)
          let deflated = content.withUnsafeBufferPointer { buffer in
            withExtendedLifetime(BlockDeflater()) { deflater in
              Array(deflater.deflate(buffer, level: 9, limit: 1 << 20)!)
            }
          }
          var writer = RecordWriter()
          writer.put(UInt32(content.count))
          try parts.append(1, writer.bytes + deflated, flags: [.commit, .compressed])
        }
      }
    ),
    // The frames behind them say that they were durable.
    (
      "acknowledged",
      {
        try open().changing { parts in
          let frames = parts.frames("log-2")
          parts.files["log-2"]![parts.files["log-2"]!.count - frames.last!.count - 1] ^= 1
        }
      }
    ),
    ("sequence-far", { try ahead(0) }),
    ("promised", { try closed().changing { $0.files["log-2"]![140] ^= 1 } }),
    (
      "promised-cut",
      {
        try closed().changing { parts in
          for place in 140..<parts.files["log-2"]!.count { parts.files["log-2"]![place] = 0 }
        }
      }
    ),
    ("sealed-damaged", { try rotated().parts().changing { $0.files["log-2"]![140] ^= 1 } }),
  ]

  // MARK: What groups say

  private static let groups: [(name: String, make: @Sendable () throws -> LogParts)] = [
    ("keys-root", { try open().changing { try $0.append(2, [1, 1, 9]) } }),
    (
      "keys-not-root",
      {
        try books().parts().changing {
          try $0.append(2, [1, UInt8(Golden.library.entity(named: "Book")!.id.index), 90])
        }
      }
    ),
    ("keys-zero", { try open().changing { try $0.append(2, [1, 0, 0]) } }),
    ("keys-rest", { try open().changing { try $0.append(2, [0, 7]) } }),
    ("idle-generation", { try open().changing { try $0.append(4, [], ahead: 1) } }),
    ("idle-payload", { try open().changing { try $0.append(4, [0]) } }),
    ("close-generation", { try open().changing { try $0.append(3, [0], ahead: -1) } }),
    ("generation-twice", { try open().changing { try $0.append(deletion, Golden.one, ahead: -1) } }),
    ("generation-gap", { try open().changing { try $0.append(deletion, Golden.one, ahead: 1) } }),
    (
      "author",
      {
        try open().changing {
          try $0.append(1, [0] + [UInt8](repeating: 0, count: 8) + [3, 0xC3, 0x28, 0])
        }
      }
    ),
    (
      "author-long",
      { try open().changing { try $0.append(1, [0] + [UInt8](repeating: 0, count: 8) + [30, 65, 0]) } }
    ),
    (
      "changes",
      { try open().changing { try $0.append(1, [0] + [UInt8](repeating: 0, count: 8) + [0, 0, 7]) } }
    ),
  ]

  private static let deletion: ChangeSet = {
    var changes = ChangeSet()
    changes.delete(RowKey(entity: EntityID(0), id: 3))
    return changes
  }()

  // MARK: What doesn't fit the state

  private static func library(_ body: (inout ChangeSet) throws -> Void) throws -> LogParts {
    var changes = ChangeSet()
    try body(&changes)
    return try books().parts().changing { try $0.append(changes, Golden.library) }
  }

  private static func key(_ entity: String, _ id: Int64) -> RowKey {
    RowKey(entity: Golden.library.entity(named: entity)!.id, id: id)
  }

  private static func link(_ entity: String, _ name: String, _ owner: RowKey, _ change: ChangeSet.LinkChange)
    -> ChangeSet.Links
  {
    .init(Golden.library.entity(named: entity)!.relationship(named: name)!, of: owner, change)
  }

  // Authors have the keys 1 and 2, books of the first 3, 4 and 5.
  private static let transactions: [(name: String, make: @Sendable () throws -> LogParts)] = [
    ("insert-unreserved", { try library { try $0.insert(key("Book", 5000), [:], in: Golden.library) } }),
    ("insert-present", { try library { try $0.insert(key("Person", 3), [:], in: Golden.library) } }),
    (
      "update-missing",
      { try library { try $0.update(key("Author", 3), ["age": .int(1)], in: Golden.library) } }
    ),
    ("delete-missing", { try library { $0.delete(key("Person", 1)) } }),
    (
      "row-twice",
      {
        try library {
          $0.delete(key("Book", 3))
          try $0.update(key("Book", 3), ["pages": .int(1)], in: Golden.library)
        }
      }
    ),
    ("dangling", { try library { try $0.update(key("Book", 3), ["author": .key(4)], in: Golden.library) } }),
    (
      "dangling-deleted",
      {
        try library {
          try $0.update(key("Book", 3), ["author": .key(2)], in: Golden.library)
          $0.delete(key("Author", 2))
        }
      }
    ),
    (
      "link-owner",
      { try library { $0.links = [link("Person", "friends", key("Person", 9), .add([key("Author", 1)]))] } }
    ),
    (
      "link-member",
      { try library { $0.links = [link("Person", "friends", key("Author", 1), .add([key("Person", 3)]))] } }
    ),
    (
      "links-order",
      { try library { $0.links = [link("Person", "books", key("Author", 2), .replace([key("Book", 3)]))] } }
    ),
    (
      "links-remove",
      { try library { $0.links = [link("Person", "books", key("Author", 1), .remove([key("Book", 3)]))] } }
    ),
    ("links-key", { try library { $0.links = [link("Person", "favourite", key("Author", 1), .add([]))] } }),
    (
      "links-twice",
      {
        try library {
          $0.links = [
            link("Person", "friends", key("Author", 1), .add([key("Author", 2), key("Author", 2)]))
          ]
        }
      }
    ),
  ]
}

extension LogFrame {
  fileprivate static func field(_ bytes: [UInt8], _ offset: Int) -> UInt64 {
    bytes.withUnsafeBytes { field($0, offset, UInt64.self) }
  }
}
