// The transactions of a log one after the other, for tools: who changed how much, when.

package import CairnModel
import Foundation

/// Reads a log's transactions, oldest first, those that are kept for history too; and what a writer adds meanwhile. Not
/// for several threads.
package final class LogTransactions {
  package struct Entry: Sendable {
    package let commit: Commit
    /// Of the segment, in the store's directory.
    package let file: String
    package let offset: UInt64
    /// Of its first frame.
    package let sequence: UInt64
    /// In the file.
    package let byteCount: Int

    package var insertedCount: Int { Entry.count(commit.insertedRows) }
    package var deletedCount: Int { Entry.count(commit.deletedRows) }
    /// Rows whose slots or links changed, each counted once for each set of properties.
    package var updatedCount: Int { Entry.count(commit.updatedRows) }

    private static func count(_ rows: [Commit.Rows]) -> Int {
      rows.reduce(0) { $0 + $1.runs.reduce(0) { $0 + $1.count } }
    }
  }

  /// What names and numbers of the commits belong to.
  package let schema: Schema
  private let directory: LogDirectory
  private let schemas: LogSchema
  private let after: Int64
  private var manifest: LogManifest
  private var current: (segment: LogManifest.Segment, file: any OpenFile, reader: LogSegmentReader)?
  /// Of the next frame to read.
  private var sequence: UInt64

  /// Begins with the first kept commit after `generation`.
  ///
  /// Throws `corrupt`, and what the file system throws.
  package init(
    ofLogAt path: String, after generation: Int64 = 0, on fileSystem: any FileSystem = POSIXFileSystem.shared
  ) throws {
    directory = LogDirectory(fileSystem: fileSystem, path: try fileSystem.resolve(path))
    schema = try LogFiles.schema(at: path, on: fileSystem)
    schemas = LogSchema(schema)
    after = generation
    manifest = try directory.manifest()
    let first = manifest.segments.last { $0.generationBefore <= generation } ?? manifest.segments[0]
    sequence = first.firstSequence
  }

  /// The commit up to which nothing is kept any more.
  package var keptAfter: Int64 { max(manifest.purgedThrough, manifest.segments[0].generationBefore) }

  /// The next transaction; nil where there is none yet: another call may find one that was added since.
  ///
  /// Throws `corrupt` where one is damaged that was acknowledged, `historyPurged` where files have gone that were still
  /// to be read, and what the file system throws.
  package func next() throws -> Entry? {
    while true {
      try openCurrent()
      switch try current!.reader.next() {
      case .group(let group):
        // Those before were told when the segment was another file, or were never asked for.
        guard group.firstSequence >= sequence else { continue }
        sequence = group.lastSequence + 1
        guard group.isTransaction, group.generation > after else { continue }
        do {
          return Entry(
            commit: try schemas.commit(group), file: LogNames.segment(current!.segment.number),
            offset: group.offset, sequence: group.firstSequence, byteCount: Int(group.end - group.offset))
        } catch {
          throw LogReplay.corrupt(error, group, directory.path(current!.segment))
        }
      case .end, .torn:
        if segment()?.number != current!.segment.number {
          current = nil
          continue
        }
        // There may be more in another segment by now, or in this one.
        let now = try directory.manifest()
        current!.reader.refresh()
        if now.serial == manifest.serial { return nil }
        manifest = now
        if segment()?.number != current!.segment.number { current = nil }
      case .damaged(let error): throw error
      }
    }
  }

  /// The segment that the next frame is in, or will be.
  private func segment() -> LogManifest.Segment? { manifest.segments.last { $0.firstSequence <= sequence } }

  private func openCurrent() throws {
    if current != nil { return }
    guard let segment = segment() else {
      throw StoreError(
        .historyPurged, "the frames after \(sequence - 1) aren't kept any more", file: directory.path,
        remedy: "begin anew")
    }
    let file = try directory.open(segment, manifest)
    current = (
      segment, file, LogSegmentReader(file, path: directory.path(segment), segment: segment)
    )
  }

  deinit { try? current?.file.close() }
}
