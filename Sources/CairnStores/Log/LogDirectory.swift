// Where a log's files are, and reading and replacing its manifest.

import CairnModel
import Foundation

struct LogDirectory: Sendable {
  let fileSystem: any FileSystem
  /// Symbolic links followed.
  let path: String

  func path(_ name: String) -> String { Paths.join(path, name) }
  func path(_ base: LogManifest.Base) -> String { path(LogNames.base(base.number)) }
  func path(_ segment: LogManifest.Segment) -> String { path(LogNames.segment(segment.number)) }

  /// Throws `corrupt` where there is no manifest, or a damaged one, and what the file system throws.
  func manifest() throws -> LogManifest {
    let (manifest, file) = try openManifest()
    try? file.close()
    return manifest
  }

  /// The same, and the file that it was read from, open.
  func openManifest() throws -> (LogManifest, any OpenFile) {
    let path = path(LogNames.manifest)
    let file: any OpenFile
    do {
      file = try fileSystem.open(path, .read)
    } catch let error as StoreError where error.isMissing || error.systemError == ENOTDIR {
      throw try missingManifest()
    }
    do {
      let bytes = try file.contents(limit: LogManifest.largestSize, path: path)
      do {
        return (try LogManifest(bytes), file)
      } catch let error as RecordError {
        throw StoreError(
          .corrupt, error.message, file: path, offset: UInt64(error.offset),
          remedy: bytes.starts(with: LogManifest.magic)
            ? "if it is damaged, cairn salvage writes a new store with what can be read; if a newer program made it, use that"
            : LogFiles.remedy)
      }
    } catch {
      try? file.close()
      throw error
    }
  }

  private func missingManifest() throws -> StoreError {
    guard let information = try fileSystem.information(path) else {
      return StoreError.fileSystem("open", path, ENOENT)
    }
    if !information.isDirectory {
      return StoreError(
        .corrupt, "a log store is a directory, and this is a file", file: path,
        remedy: "open it with what made it: an archive, for example, as an archive")
    }
    return StoreError(
      .corrupt, "there is no \(LogNames.manifest) in it, so it is no log store, or not a whole one",
      file: path,
      remedy: "if it was one, \(LogFiles.remedy)")
  }

  /// Puts the manifest in the place of the old one, durably. Throws `outcomeUnknown` where it is in its place and may
  /// not stay there.
  func replace(_ manifest: LogManifest) throws {
    try AtomicReplacement.replace(path(LogNames.manifest), on: fileSystem) { try $0.append(manifest.bytes) }
  }

  /// Opens the archive that a base is.
  func open(_ base: LogManifest.Base, _ manifest: LogManifest, cacheBudget: Int, damage: DamageLog) throws
    -> ArchiveContents
  {
    let path = path(base)
    let file = try present(path, base.length, isExact: true)
    let contents = try ArchiveFile(file: file, path: path).open(cacheBudget: cacheBudget, damage: damage)
    guard contents.header.uuid == manifest.uuid else {
      throw StoreError(
        .corrupt, "it belongs to the store \(contents.header.uuid), not to this one", file: path, offset: 40,
        remedy: LogFiles.remedy)
    }
    guard contents.index.generation == base.generation else {
      throw StoreError(
        .corrupt, "it has commit \(contents.index.generation), and commit \(base.generation) was expected",
        file: path, remedy: LogFiles.remedy)
    }
    return contents
  }

  /// Throws unless a base is there that nothing is read of now.
  func check(_ base: LogManifest.Base, _ manifest: LogManifest) throws {
    let path = path(base)
    let file = try present(path, base.length, isExact: true)
    defer { try? file.close() }
    let start = try file.bytes(ArchiveHeader.size, at: 0)
    if try ArchiveFile(file: file, path: path).header(start).uuid != manifest.uuid {
      throw StoreError(
        .corrupt, "it belongs to another store", file: path, offset: 40, remedy: LogFiles.remedy)
    }
  }

  /// Opens a segment, and checks that it is the one that the manifest names.
  func open(_ segment: LogManifest.Segment, _ manifest: LogManifest, _ mode: FileMode = .read) throws
    -> any OpenFile
  {
    let path = path(segment)
    let file = try present(path, segment.length, isExact: segment.isSealed, mode)
    let header: LogSegmentHeader
    do {
      header = try LogSegmentHeader(try file.bytes(LogSegmentHeader.size, at: 0))
    } catch let error as RecordError {
      throw StoreError(
        .corrupt, error.message, file: path, offset: UInt64(error.offset), remedy: LogFiles.remedy)
    }
    let expected = LogSegmentHeader(
      uuid: manifest.uuid, number: segment.number, firstSequence: segment.firstSequence, salt: segment.salt)
    guard header == expected else {
      throw StoreError(
        .corrupt,
        header.uuid == manifest.uuid
          ? "it is another segment than the manifest says"
          : "it belongs to the store \(header.uuid), not to this one", file: path, offset: 16,
        remedy: LogFiles.remedy)
    }
    return file
  }

  private func present(_ path: String, _ length: UInt64, isExact: Bool, _ mode: FileMode = .read) throws
    -> any OpenFile
  {
    let file: any OpenFile
    do {
      file = try fileSystem.open(path, mode)
    } catch let error as StoreError where error.isMissing {
      throw StoreError(
        .corrupt, "the manifest names it, and it isn't there", file: path, remedy: LogFiles.remedy)
    }
    let size = try file.information().size
    guard size >= length, !isExact || size == length else {
      throw StoreError(
        .corrupt, "it has \(size) bytes, and the manifest says \(length): it was cut off or changed",
        file: path, offset: min(size, length), remedy: LogFiles.remedy)
    }
    return file
  }
}
