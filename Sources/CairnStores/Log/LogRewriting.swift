// Writes a log anew in the order of the model that it is opened with, where nothing could be written to it as
// it is: its bases have keys of one-to-one pairs on the other side (`LogSchema.isTurned`).

import CairnModel
import Foundation

struct LogRewriting {
  let directory: LogDirectory
  let options: LogStore.Options
  let clock: @Sendable () -> Date

  /// Puts a base in the model's order, with the newest rows under their keys, a segment that follows it, and
  /// a manifest that names these alone in the place of all there is. A crash leaves the log as it was or the
  /// new one. Commits before aren't told any more, and the files before go when the log is opened next. Costs
  /// a pass over everything.
  ///
  /// The caller holds the log's lock. Throws `unsupportedRequest` for a schema that no file can say, what
  /// couldn't be read of the rows, and what the file system throws: the old log is there then; or
  /// `outcomeUnknown`, after which it is one of the two.
  func rewrite(_ contents: LogContents, _ model: ArchiveStore.Model) throws {
    let schema = ArchivedSchema(model.schema, model: model.source ?? contents.base.schema.model)
    try LogCreation.check(schema, model.schema, directory)
    // What is torn is kept beside, and what may be in memory only is made to last, before all that is
    // replaced.
    let old = try LogRecovery(directory: directory, options: options).writer(contents, isNew: false)
    defer { old.closeFile() }
    try old.requireSequences()
    let (snapshot, nextKeys, nextJoinKeys) = try contents.engine.state()
    let identity = ArchiveCopy.Identity(
      schema: schema, metadata: contents.metadata, generation: snapshot.generation.number,
      nextKeys: nextKeys, nextJoinKeys: nextJoinKeys)
    // One sequence is left out, so that who has followed the old log up to its end doesn't take this segment
    // for its next: the numbers in it mean something else (LOG-84).
    let (segment, bytes) = LogWriter.newSegment(
      uuid: old.manifest.uuid, number: old.manifest.freeNumber + 1, after: old.lastSequence + 1,
      generation: identity.generation, LogKeys.all(nextKeys, model.schema))
    var manifest = old.manifest
    do {
      let written = try LogCreation.write(
        snapshot, identity, base: manifest.freeNumber, segment, bytes, in: directory, options.profile, clock)
      (manifest.bases, manifest.segments) = (written.bases, written.segments)
      manifest.serial += 1
      try directory.replace(manifest)
    } catch {
      // What the manifest may name stays.
      if (error as? StoreError)?.code != .outcomeUnknown {
        for file in [LogNames.base(old.manifest.freeNumber), LogNames.segment(segment.number)] {
          try? directory.fileSystem.remove(directory.path(file))
        }
      }
      throw error
    }
  }
}
