// Reads all of a log and says everything that is wrong with it.

package import CairnModel
import Foundation

package enum LogVerifier {
  /// What is wrong with the log at `path`, which nobody writes to; nothing where every byte that counts is in order: the
  /// manifest, all bases (by ArchiveVerifier), every frame of all segments, and that what they say can be done. Each
  /// finding has the code `corrupt` and names file and offset, and what to do. A torn tail that nobody was promised is
  /// no damage, and neither are leftovers of a crash: `LogSummary` tells those.
  ///
  /// Throws what the file system throws. Costs a pass over all files, and the memory that the store takes when it is
  /// open. `progress` is told how many of how many files have been read.
  package static func findings(
    at path: String, on fileSystem: any FileSystem = POSIXFileSystem.shared,
    progress: (Int, Int) -> Void = { _, _ in }
  ) throws -> [StoreError] {
    let directory = LogDirectory(fileSystem: fileSystem, path: try fileSystem.resolve(path))
    var findings: [StoreError] = []
    var seen: Set<String> = []
    func note(_ error: StoreError) {
      if seen.insert(error.description).inserted { findings.append(error) }
    }
    func noting<T>(_ body: () throws -> T) throws -> T? {
      do {
        return try body()
      } catch let error as StoreError where error.code == .corrupt {
        note(error)
        return nil
      }
    }
    let replay = LogReplay(directory: directory, cacheBudget: 32 << 20, damage: DamageLog())
    guard let manifest = try noting({ try directory.manifest() }) else { return findings }
    _ = try noting { try replay.metadata(manifest) }
    let total = manifest.bases.count + manifest.segments.count
    var done = 0
    var schema: Schema?
    for base in manifest.bases {
      let opened = try noting {
        try directory.open(base, manifest, cacheBudget: 0, damage: DamageLog())
      }
      schema = opened?.source.schema ?? schema
      // A file that isn't there is told already.
      if try fileSystem.information(directory.path(base)) != nil {
        for finding in try ArchiveVerifier.findings(at: directory.path(base), on: fileSystem) {
          note(finding)
        }
      }
      done += 1
      progress(done, total)
    }
    for segment in manifest.segments {
      try noting { try check(segment, manifest, directory, schema) }?.forEach(note)
      done += 1
      progress(done, total)
    }
    // At last what only shows when everything is put together.
    if findings.isEmpty { _ = try noting { try replay.read(nil) } }
    return findings
  }

  /// What is wrong with a segment's frames, each on its own. Goes on behind damage.
  private static func check(
    _ segment: LogManifest.Segment, _ manifest: LogManifest, _ directory: LogDirectory, _ schema: Schema?
  ) throws -> [StoreError] {
    let file = try directory.open(segment, manifest)
    defer { try? file.close() }
    let path = directory.path(segment)
    let schemas = schema.map(LogSchema.init)
    var reader = LogSegmentReader(file, path: path, segment: segment)
    var findings: [StoreError] = []
    var generation = segment.generationBefore
    while true {
      switch try reader.next() {
      case .group(let group):
        guard group.isTransaction else { continue }
        if findings.isEmpty, group.generation != generation + 1 {
          findings.append(
            LogReplay.corrupt(
              RecordError(message: "commit \(generation + 1) is missing", offset: 0), group, path))
        }
        generation = group.generation
        do {
          _ = try schemas?.decode(group.payload)
        } catch {
          findings.append(LogReplay.corrupt(error, group, path))
        }
      case .end, .torn: return findings
      case .damaged(let error):
        findings.append(error)
        if try reader.skip() == nil { return findings }
      }
    }
  }
}
