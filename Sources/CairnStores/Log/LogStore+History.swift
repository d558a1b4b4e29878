// History, served from the segments that are kept.

public import CairnModel
import Foundation

extension LogStore {
  /// As every store's; the commits are read from the files, from those after `generation` on.
  public func history(after generation: Generation) throws -> [Commit] {
    try LogFollower.settled(directory) {
      let newest = try engine.currentSnapshot().generation.number
      guard generation.number < newest else { return [] }
      let (manifest, schemas) = try files()
      let told = LogRetention(options, now: clock()).toldAfter(manifest, newest: newest)
      if generation.number < told {
        throw StoreError(
          .historyPurged,
          "commits up to number \(told) aren't kept, and those after \(generation.number) were asked for",
          remedy: "read the store as a whole and go on from its current generation")
      }
      var commits: [Commit] = []
      var end: StoreError?
      commits.reserveCapacity(Int(clamping: min(newest - generation.number, 4096)))
      for (place, segment) in manifest.segments.enumerated() {
        let following = manifest.segments.dropFirst(place + 1).first
        if let following, following.generationBefore <= generation.number { continue }
        end = try read(segment, manifest, schemas, after: generation.number, through: newest, &commits)
      }
      // They were there when the tables were made of them.
      if Int64(commits.count) == newest - generation.number { return commits }
      throw end
        ?? StoreError(
          .corrupt,
          "commits after \(commits.last?.generation.number ?? generation.number) aren't there any more",
          file: directory.path(manifest.segments[manifest.segments.count - 1]), remedy: LogFiles.remedy)
    }
  }

  /// A reader's are those that the directory has now: the writer may have let go of others since it was refreshed.
  private func files() throws -> (LogManifest, LogSchema) {
    if let files = writing.withLock({ $0.map { ($0.manifest, $0.schema) } }) { return files }
    guard let schemas = following.withLock({ $0?.schemas }) else { throw TableEngine.closed }
    let manifest = try directory.manifest()
    guard manifest.uuid == metadata.uuid else { throw LogFollower.replaced(directory) }
    return (manifest, schemas)
  }

  /// Returns what is wrong with what follows the last group, if anything.
  private func read(
    _ segment: LogManifest.Segment, _ manifest: LogManifest, _ schemas: LogSchema,
    after generation: Int64, through newest: Int64, _ commits: inout [Commit]
  ) throws -> StoreError? {
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
        if group.generation > newest { return nil }
        index.note(group, in: segment.number)
        guard group.generation > generation else { continue }
        do {
          commits.append(try schemas.commit(group))
        } catch {
          throw LogReplay.corrupt(error, group, path)
        }
      case .end: return nil
      case .torn(let error): return error
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
      let dropped = LogRetention(options, now: clock()).prune(&changed, newest: newest)
      try writer.replace(changed)
      dropped.remove(directory)
      index.keepOnly(changed.segments.map(\.number))
    }
  }
}
