// The one door to the operating system. Stores that keep files go through it and nothing else, so that a test
// can put a file system behind it that tears, reorders, fails and crashes.

/// Files and directories by absolute path. All calls may come from any thread; each is done when it returns.
///
/// Every call throws `StoreError` with code `fileSystem`, naming the path, the operation and the system's
/// reason (`StoreError.fileSystem(_:_:_:)` makes it); what else it leaves behind is said with the call. Nothing
/// here buffers: what was written is in the system's hands, and `sync` puts it on the medium. A path that doesn't
/// begin with "/" is a programmer error.
public protocol FileSystem: Sendable {
  /// Opens a file. `mode` says whether it must, may or must not be there.
  func open(_ path: String, _ mode: FileMode) throws -> any OpenFile

  /// Puts the file or directory at `source` in the place of `target`, at once: whoever looks sees the old or
  /// the new one. Not durable before `syncDirectory` of the directories concerned.
  func rename(_ source: String, to target: String) throws

  /// Removes a file. Whoever has it open goes on reading it.
  func remove(_ path: String) throws

  /// Makes a directory; its parent is there.
  func makeDirectory(_ path: String) throws

  /// Removes an empty directory.
  func removeDirectory(_ path: String) throws

  /// The names in a directory, sorted, without "." and "..".
  func list(_ path: String) throws -> [String]

  /// Makes the names in a directory durable: what was created, renamed and removed there.
  func syncDirectory(_ path: String) throws

  /// What is at `path`, or nil if nothing is. Follows symbolic links.
  func information(_ path: String) throws -> FileInformation?

  /// The path that `path` leads to, with every symbolic link in it followed. What it names needn't be there, so
  /// that a link to nothing leads to where its target would be; the directory above has to be there.
  func resolve(_ path: String) throws -> String
}

/// How a file is opened.
public enum FileMode: Sendable, Hashable {
  /// It is there, and is only read.
  case read
  /// It is there, and is read and written.
  case readWrite
  /// It isn't there; it is made with these permission bits, less those that the process withholds from every file
  /// that it makes (its umask), and read and written.
  case create(permissions: UInt16)
}

/// A file that is open. Closed by `close`, or when the last reference goes.
public protocol OpenFile: AnyObject, Sendable {
  /// Fills `buffer` from `offset` on, and returns how many bytes there were: fewer than asked for only at the
  /// end of the file. A read that the system cuts short is gone on with.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int

  /// Writes all of `bytes` at `offset`, extending the file where needed. After an error any part of them may
  /// have been written.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws

  /// Cuts the file, or extends it with zeros.
  func truncate(to size: UInt64) throws

  /// Extends the file to `size` with zeros that are really allocated, so that later writes don't change its
  /// size. Throws without effect where the medium is full.
  func preallocate(to size: UInt64) throws

  /// Returns when everything written to the file, its size included, is on the medium. After an error nothing
  /// is known of what is there, and asking again proves nothing: the system may have given up the pages.
  func sync() throws

  func information() throws -> FileInformation

  /// Gives the file these permission bits, whatever the process's umask. What is written afterwards and synced
  /// takes them along to the medium.
  func setPermissions(_ permissions: UInt16) throws

  /// Takes a lock that others who ask respect, for as long as the file is open or until `unlock`. False, and
  /// nothing taken, where another open file holds one that excludes it, in this process or another. Takes the
  /// place of a lock that this open file holds. An exclusive one needs a file that is open for writing.
  func lock(_ kind: FileLock) throws -> Bool

  func unlock() throws

  /// Whether `read` may be called for what nobody has asked for yet, on threads of the store's own.
  var mayReadAhead: Bool { get }

  /// Closes the file; every later call throws. Closing again does nothing.
  func close() throws
}

extension OpenFile {
  public var mayReadAhead: Bool { true }
}

public enum FileLock: Sendable, Hashable {
  case shared, exclusive
}

/// What is known of a file or directory.
public struct FileInformation: Sendable, Hashable {
  /// In bytes.
  public let size: UInt64
  /// Device and inode: two paths with the same pair are the same file.
  public let device: UInt64
  public let inode: UInt64
  public let isDirectory: Bool
  /// How many names the file has.
  public let linkCount: UInt64
  /// Permission bits.
  public let permissions: UInt16

  public init(
    size: UInt64, device: UInt64, inode: UInt64, isDirectory: Bool, linkCount: UInt64, permissions: UInt16
  ) {
    self.size = size
    self.device = device
    self.inode = inode
    self.isDirectory = isDirectory
    self.linkCount = linkCount
    self.permissions = permissions
  }
}
