// History, served from the segments that are kept.

public import CairnModel
import Foundation

extension LogStore {
  /// As every store's; the commits are read from the files, from those after `generation` on.
  public func history(after generation: Generation) throws -> [Commit] {
    try LogFollower.settled(directory) {
      let newest = try engine.currentSnapshot().generation.number
      let (manifest, schemas) = try files()
      let told = LogRetention(options, now: Date()).toldAfter(manifest, newest: newest)
      if generation.number < told {
        throw StoreError(
          .historyPurged,
          "commits up to number \(told) aren't kept, and those after \(generation.number) were asked for",
          remedy: "read the store as a whole and go on from its current generation")
      }
      guard generation.number < newest else { return [] }
      var commits: [Commit] = []
      commits.reserveCapacity(Int(clamping: min(newest - generation.number, 4096)))
      for (place, segment) in manifest.segments.enumerated() {
        let following = manifest.segments.dropFirst(place + 1).first
        if let following, following.generationBefore <= generation.number { continue }
        try read(segment, manifest, schemas, after: generation.number, through: newest, &commits)
      }
      return commits
    }
  }

  private func files() throws -> (LogManifest, LogSchema) {
    if let files = writing.withLock({ $0.map { ($0.manifest, $0.schema) } }) { return files }
    if let files = following.withLock({ $0.map { ($0.manifest, $0.schemas) } }) { return files }
    throw TableEngine.closed
  }

  private func read(
    _ segment: LogManifest.Segment, _ manifest: LogManifest, _ schemas: LogSchema,
    after generation: Int64, through newest: Int64, _ commits: inout [Commit]
  ) throws {
    let file = try directory.open(segment, manifest)
    defer { try? file.close() }
    let path = directory.path(segment)
    var reader = LogSegmentReader(file, path: path, segment: segment)
    if let place = index.place(of: generation + 1, in: segment.number) {
      reader = LogSegmentReader(
        file, path: path, segment: segment, offset: place.offset, sequence: place.sequence)
    }
    while true {
      switch try reader.next() {
      case .group(let group):
        guard group.isTransaction else { continue }
        if group.generation > newest { return }
        index.note(group, in: segment.number)
        guard group.generation > generation else { continue }
        do {
          commits.append(try schemas.commit(group))
        } catch {
          throw LogReplay.corrupt(error, group, path)
        }
      case .end, .torn: return
      case .damaged(let error): throw error
      }
    }
  }

  /// As every store's. The commits are forgotten when it returns, also after a power cut; their files go where no
  /// other commit is in them that is told. Throws `outcomeUnknown` as `commit`.
  public func purgeHistory(through generation: Generation) throws {
    try requireWriter()
    let newest = try engine.currentSnapshot().generation.number
    try writing.withLock { writer in
      let writer = try opened(writer)
      var changed = writer.manifest
      changed.purgedThrough = max(changed.purgedThrough, min(generation.number, newest))
      if changed == writer.manifest { return }
      let dropped = LogRetention(options, now: Date()).prune(&changed, newest: newest)
      try writer.replace(changed)
      dropped.remove(directory)
      index.keepOnly(changed.segments.map(\.number))
    }
  }
}
