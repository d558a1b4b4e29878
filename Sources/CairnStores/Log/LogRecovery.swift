// What has to be changed of a log that was read before it can be written: what is torn is cut off, what may be in the
// system's memory only is written anew, what a crash left is removed.

import CairnModel
import Foundation

struct LogRecovery {
  let directory: LogDirectory
  let options: LogStore.Options

  /// A writer behind the end of what was read. Everything that is written here can be done again after a crash.
  func writer(_ contents: LogContents, isNew: Bool) throws -> LogWriter {
    if contents.manifest.readOnlyCompatible != 0 {
      throw StoreError(
        .unsupportedRequest, "it uses features that this program can read but not write",
        file: directory.path, remedy: "open it for reading only")
    }
    if contents.end.tear != nil { try LogFiles.keepTorn(contents, directory) }
    let isSuspect = try directory.fileSystem.information(directory.path(LogNames.suspect)) != nil
    let contents = isSuspect ? try copied(contents) : contents
    let (_, nextKeys, _) = try contents.engine.state()
    let writer = try LogWriter(
      contents, directory: directory, nextKeys: nextKeys,
      options: .init(preallocation: options.preallocation, keySlack: options.keySlack))
    // The manifest that was read may be in the system's memory only, if its writer crashed just then. What is written
    // from here on is found by this one, and what is removed isn't named by the one on the medium.
    let leftovers = try LogFiles.leftovers(directory, writer.manifest)
    if !writer.isClosed || !leftovers.isEmpty, !isNew, !isSuspect { try writer.replace(writer.manifest) }
    if contents.end.tear != nil { try writer.cut() }
    LogFiles.remove(leftovers, directory)
    return writer
  }

  /// The same with the newest segment in a file of its own, all of it on the medium. After a sync that failed the
  /// system may still show what the medium never got, and later syncs pass over it.
  private func copied(_ contents: LogContents) throws -> LogContents {
    var copied = contents
    let place = contents.manifest.segments.count - 1
    copied.manifest.segments[place].number = contents.manifest.freeNumber
    copied.manifest.serial += 1
    let segment = copied.manifest.segments[place]
    copied.end.tear = nil
    let header = LogSegmentHeader(
      uuid: contents.manifest.uuid, number: segment.number, firstSequence: segment.firstSequence,
      salt: segment.salt)
    let file = try LogWriter.make(segment, in: directory) { file in
      try file.write(header.bytes, at: 0)
      var offset = UInt64(LogSegmentHeader.size)
      while offset < contents.end.offset {
        let bytes = try contents.file.bytes(Int(min(1 << 20, contents.end.offset - offset)), at: offset)
        if bytes.isEmpty { break }
        try file.write(bytes, at: offset)
        offset += UInt64(bytes.count)
      }
    }
    do {
      try directory.replace(copied.manifest)
    } catch {
      // What the manifest may name stays.
      if (error as? StoreError)?.code != .outcomeUnknown {
        try? directory.fileSystem.remove(directory.path(segment))
      }
      throw error
    }
    try? contents.file.close()
    try directory.fileSystem.remove(directory.path(LogNames.suspect))
    copied.file = file
    return copied
  }
}
