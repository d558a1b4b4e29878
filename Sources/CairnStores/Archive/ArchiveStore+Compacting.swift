// Writing an archive anew, without what has no use any more, while others read it.

import CairnModel
import Foundation

extension ArchiveStore {
  /// Writes the file anew, without what has no use any more, and puts it in the place of the old one. Stores that
  /// have the old one open go on reading it. Costs a pass over everything; throws as `commit`. Where the new file is in
  /// its place, but that may not last or the file can't be opened, nothing is saved any more until the store is opened
  /// again: what went to the old file nobody would find.
  public func compact() throws {
    let before = damage.count
    try damage.explaining {
      try engine.whileNobodyCommits { commit in
        try writing.withLock { writer in
          let old = try opened(writer)
          try old.requireWorking(on: fileSystem)
          try lock?.check()
          let moved = try self.rewrite(commit, old) { try self.damage.check(since: before) }
          writer = moved.writer
          return moved.snapshot
        }
      }
    }
  }

  private func rewrite(
    _ commit: TableEngine.Unpublished, _ old: ArchiveWriter, checking check: @escaping () throws -> Void
  ) throws -> (writer: ArchiveWriter, snapshot: TableSnapshot) {
    let entries = self.entries.withLock { $0 }
    var copy = ArchiveCopy(
      fileSystem: fileSystem, path: path, effort: options.profile.effort, leastBlob: options.leastBlob,
      clock: clock)
    copy.longestBlock = options.longestBlock
    copy.check = {
      try check()
      // What another writer has saved meanwhile would be gone.
      try self.requireOwner(old)
    }
    do {
      try replacing {
        try copy.write(
          commit.new,
          .init(
            schema: archivedSchema, metadata: entries.value, generation: commit.new.generation.number,
            nextKeys: commit.nextKeys, nextJoinKeys: commit.nextJoinKeys))
      }
    } catch let error as StoreError where error.code == .outcomeUnknown {
      old.stop(after: error)
      throw error
    }
    let (contents, writer) = try reopened(insteadOf: old)
    self.entries.withLock { $0.savedCount = entries.changeCount }
    let beginning = ArchiveStore.beginning(contents, writer.order, damage)
    var tables: [Int: Table] = [:]
    for (number, table) in (beginning.tables + beginning.joins).enumerated() {
      if let table, let now = commit.new.table(number) { tables[number] = now.replacingChunks(table.chunks) }
    }
    return (writer, commit.new.replacing(tables))
  }

  private func replacing(_ body: () throws -> Void) throws {
    guard let lock else { return try body() }
    try lock.replacing(body)
  }

  /// The file that has just been put in the place of the old writer's.
  private func reopened(
    insteadOf old: ArchiveWriter
  ) throws -> (contents: ArchiveContents, writer: ArchiveWriter) {
    do {
      let file = try fileSystem.open(path, .readWrite)
      let contents = try ArchiveFile(file: file, path: path).open(
        cacheBudget: options.cacheBudget, damage: damage)
      guard let order = SchemaOrder(stored: contents.source.schema, given: schema) else {
        throw StoreError(
          .incompatibleSchema, "the archive that was just written has another schema", file: path)
      }
      let writer = try ArchiveWriter(
        contents, order, file: file, options: ArchiveStore.writerOptions(options, clock))
      return (contents, writer)
    } catch {
      old.stop(after: error)
      throw error
    }
  }

  /// Compacts where most of the file is of no use. Where that fails the file stays as it is, which is whole, and the
  /// next commit tries again.
  func tidy() {
    if writing.withLock({ $0?.isWasteful ?? false }) { try? compact() }
  }
}
