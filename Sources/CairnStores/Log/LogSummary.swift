// What a log consists of, told by its manifest and its frames: no row is looked at.

package import CairnModel
package import Foundation

/// The files of a log and their sizes, in bytes.
package struct LogSummary: Sendable {
  package struct Base: Sendable {
    package let name: String
    package let byteCount: UInt64
    /// The newest commit in it.
    package let generation: Int64
  }

  package struct Segment: Sendable {
    package let name: String
    package let byteCount: UInt64
    /// Up to the end of the last frame. What is behind is kept ready, or torn.
    package internal(set) var usedByteCount: UInt64
    package internal(set) var frameCount = 0
    package internal(set) var transactionCount = 0
    /// The newest commit before it, and the newest in it.
    package let generationBefore: Int64
    package internal(set) var newestGeneration: Int64
    package let isSealed: Bool
    /// Whether the newest state needs it; else only history does.
    package let isLive: Bool
  }

  package let uuid: UUID
  package let created: Date
  package let generation: Int64
  package let modelVersions: [String]
  /// Whether the log can give its model.
  package let hasModel: Bool
  /// Whether the last to write closed it.
  package let isClosed: Bool
  /// History up to this commit can't be told.
  package let keptAfter: Int64
  /// Oldest first; the last is the one that the newest state builds on.
  package private(set) var bases: [Base] = []
  package private(set) var segments: [Segment] = []
  /// Copies of what recoveries cut off, and their sizes.
  package private(set) var torn: [(name: String, byteCount: UInt64)] = []
  /// Files that no manifest names, left by a crash: the next to write removes them.
  package private(set) var leftovers: [(name: String, byteCount: UInt64)] = []
  /// What isn't whole at the end, and was never acknowledged.
  package let tear: StoreError?

  /// The newest base, and what was saved since.
  package var liveByteCount: UInt64 {
    (bases.last?.byteCount ?? 0) + segments.filter(\.isLive).reduce(0) { $0 + $1.usedByteCount }
  }
  /// What is kept for history alone.
  package var historyByteCount: UInt64 {
    bases.dropLast().reduce(0) { $0 + $1.byteCount }
      + segments.filter { !$0.isLive }.reduce(0) { $0 + $1.byteCount }
  }
  package var totalByteCount: UInt64 {
    bases.reduce(0) { $0 + $1.byteCount } + segments.reduce(0) { $0 + $1.byteCount }
      + (torn + leftovers).reduce(0) { $0 + $1.byteCount }
  }

  /// Throws `corrupt` and what the file system throws. Costs a read of all frames.
  package init(ofLogAt path: String, on fileSystem: any FileSystem = POSIXFileSystem.shared) throws {
    let directory = LogDirectory(fileSystem: fileSystem, path: try fileSystem.resolve(path))
    let manifest = try directory.manifest()
    let metadata = try LogReplay(directory: directory, cacheBudget: 0, damage: DamageLog()).metadata(manifest)
    uuid = manifest.uuid
    created = Date(timeIntervalSince1970: Double(manifest.created) / 1000)
    modelVersions = metadata.versionIdentifiers
    keptAfter = max(manifest.purgedThrough, manifest.segments[0].generationBefore)
    hasModel =
      try directory.open(manifest.newestBase, manifest, cacheBudget: 0, damage: DamageLog()).schema.model
      != nil
    bases = manifest.bases.map {
      Base(name: LogNames.base($0.number), byteCount: $0.length, generation: $0.generation)
    }
    var lastKind: UInt8 = 0
    var tear: StoreError?
    for segment in manifest.segments {
      let (found, kind, end) = try LogSummary.segment(segment, manifest, directory)
      segments.append(found)
      (lastKind, tear) = (kind, end)
    }
    self.tear = tear
    generation = segments.last!.newestGeneration
    isClosed = lastKind == LogFrame.Kind.close.rawValue && tear == nil
    let named = Set(
      bases.map(\.name) + segments.map(\.name) + [LogNames.manifest, LogNames.lock, LogNames.suspect])
    for name in try fileSystem.list(directory.path) where LogNames.isOwn(name) && !named.contains(name) {
      let size = try fileSystem.information(directory.path(name))?.size ?? 0
      if LogNames.isTorn(name) { torn.append((name, size)) } else { leftovers.append((name, size)) }
    }
  }

  private static func segment(
    _ segment: LogManifest.Segment, _ manifest: LogManifest, _ directory: LogDirectory
  ) throws -> (Segment, lastKind: UInt8, tear: StoreError?) {
    let file = try directory.open(segment, manifest)
    defer { try? file.close() }
    var found = Segment(
      name: LogNames.segment(segment.number), byteCount: try file.information().size,
      usedByteCount: UInt64(LogSegmentHeader.size), generationBefore: segment.generationBefore,
      newestGeneration: segment.generationBefore, isSealed: segment.isSealed,
      isLive: segment.firstSequence >= manifest.newestBase.firstSequence)
    var reader = LogSegmentReader(file, path: directory.path(segment), segment: segment)
    while true {
      switch try reader.next() {
      case .group(let group):
        found.usedByteCount = group.end
        found.frameCount += group.frameCount
        if group.isTransaction {
          found.transactionCount += 1
          found.newestGeneration = group.generation
        }
      case .end: return (found, reader.lastKind, nil)
      case .torn(let error): return (found, reader.lastKind, error)
      case .damaged(let error): throw error
      }
    }
  }
}
