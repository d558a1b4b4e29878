// Archives made of a store's rows as a whole, and made smaller as a whole.

package import CairnModel
import Foundation

extension ArchiveFiles {
  /// Writes all rows of `store`, under their keys, into a new archive at `path`, or in the place of what is there.
  /// The archive has an identity of its own, and the user's entries of the store's metadata.
  ///
  /// Throws `unsupportedRequest` for a store that isn't one of Cairn's own, and for a model whose rows lie otherwise;
  /// `locked` while a store writes to `path`; and what the file system throws: nothing is written then. While it
  /// works, nobody can commit to `store`. Needs the memory of a few blocks. `progress` is told how many of how many
  /// rows have been written.
  package static func pack(
    _ store: any PersistentStore, into path: String, model: ArchiveStore.Model,
    profile: ArchiveStore.Profile = .default, on fileSystem: any FileSystem = POSIXFileSystem.shared,
    progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws {
    guard let tables = (store as? any StoreOfTables)?.tables, tables.schema.isStoredAs(model.schema) else {
      throw StoreError(
        .unsupportedRequest, "the store's rows can't be taken over as they are", file: path,
        remedy: "read them through a context and save them to a store of the archive's type")
    }
    let metadata = StoreMetadata(
      uuid: UUID(), type: ArchiveStore.traits.type, userEntries: store.metadata.userEntries,
      versionHashes: model.versionHashes, versionIdentifiers: model.versionIdentifiers)
    try whileNobodyWrites(to: path, fileSystem) { path in
      var copy = ArchiveCopy(fileSystem: fileSystem, path: path, effort: profile.effort)
      copy.progress = progress
      try tables.whileNobodyCommits { commit in
        try copy.write(
          commit.new,
          .init(
            schema: ArchivedSchema(model.schema, model: model.source), metadata: metadata,
            generation: commit.new.generation.number, nextKeys: commit.nextKeys,
            nextJoinKeys: commit.nextJoinKeys))
        return nil
      }
    }
  }

  /// Writes the archive at `path` anew, without what has no use any more; returns its size before and after, in
  /// bytes. Throws `locked` while a store writes to it, and as `ArchiveStore.compact`: the file is untouched then.
  package static func compact(
    _ path: String, profile: ArchiveStore.Profile = .default,
    on fileSystem: any FileSystem = POSIXFileSystem.shared
  ) throws -> (before: UInt64, after: UInt64) {
    let schema = try contents(at: path, fileSystem).source.schema
    var options = ArchiveStore.Options()
    options.profile = profile
    options.cacheBudget = 64 << 20
    let store = try ArchiveStore(
      at: path, model: .init(schema: schema), options: options, fileSystem: fileSystem)
    defer { try? store.close() }
    let before = store.fileSize.total
    try store.compact()
    return (before, store.fileSize.total)
  }

  /// Whether the file at `path` begins as an archive does; false where it can't be read.
  package static func isArchive(_ path: String) -> Bool {
    guard let file = try? POSIXFileSystem.shared.open(path, .read) else { return false }
    defer { try? file.close() }
    return (try? file.bytes(8, at: 0)) == ArchiveHeader.magic
  }
}
