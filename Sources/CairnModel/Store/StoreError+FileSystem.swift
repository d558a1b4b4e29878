// What the operating system's refusals become: an error that says which file, what was tried, why not, and what
// to do. A reason that deserves a sentence of advice gets it in `remedies`.

import Foundation

extension StoreError {
  /// The refusal of `operation` ("open", "write to") on the file at `path`, for the reason that `errno` gives.
  public static func fileSystem(_ operation: String, _ path: String, _ errno: Int32) -> StoreError {
    let reason = String(cString: strerror(errno))
    let name = names[errno] ?? "error \(errno)"
    return StoreError(
      .fileSystem, "couldn't \(operation) it: \(reason) (\(name))", file: path, remedy: remedies[errno],
      systemError: errno)
  }

  /// There is no room left, on the medium or in what the user may take of it.
  public var isFull: Bool { systemError == ENOSPC || systemError == EDQUOT }
  /// Nothing is at that path.
  public var isMissing: Bool { systemError == ENOENT }
  /// Something is at that path already.
  public var isPresent: Bool { systemError == EEXIST }
  /// The file system takes no writes at all.
  public var isReadOnly: Bool { systemError == EROFS }
  /// The user may not do that to that file.
  public var isDenied: Bool { systemError == EACCES || systemError == EPERM }
  /// The medium failed.
  public var isMediumFailure: Bool { systemError == EIO }

  private static let names: [Int32: String] = [
    EACCES: "EACCES", EBADF: "EBADF", EBUSY: "EBUSY", EDQUOT: "EDQUOT", EEXIST: "EEXIST", EFBIG: "EFBIG",
    EINTR: "EINTR", EINVAL: "EINVAL", EIO: "EIO", EISDIR: "EISDIR", ELOOP: "ELOOP", EMFILE: "EMFILE",
    EMLINK: "EMLINK", ENAMETOOLONG: "ENAMETOOLONG", ENFILE: "ENFILE", ENOENT: "ENOENT", ENOLCK: "ENOLCK",
    ENOMEM: "ENOMEM", ENOSPC: "ENOSPC", ENOTDIR: "ENOTDIR", ENOTEMPTY: "ENOTEMPTY", EPERM: "EPERM",
    EROFS: "EROFS", ESTALE: "ESTALE", ETXTBSY: "ETXTBSY", EXDEV: "EXDEV", EOPNOTSUPP: "EOPNOTSUPP",
  ]

  private static let remedies: [Int32: String] = [
    ENOSPC: "free some space on the volume and try again",
    EDQUOT: "free some of your space on the volume, or have your quota raised, and try again",
    EFBIG: "move it to a volume that takes larger files",
    EACCES: "let this user read and write the file and its directory, or open it for reading only",
    EPERM: "let this user change the file and its directory, or open it for reading only",
    EROFS: "open it for reading only, or move it to a volume that can be written",
    EMFILE: "close files that this process has open, or raise its limit (ulimit -n)",
    ENFILE: "close programs: the whole system has too many files open",
    ENOENT: "check the path, and that every directory in it is there",
    ENOTDIR: "check the path: a part of it that should be a directory is a file",
    EISDIR: "check the path: it is a directory",
    EEXIST: "remove what is there, or choose another path",
    ENAMETOOLONG: "choose a shorter name",
    ELOOP: "mend the symbolic links in the path: they lead in a circle",
    EIO: "the medium may be failing: make a copy of the file and check the medium",
    ESTALE: "the network volume has lost the file: open it again",
    ENOLCK: "this volume can't lock files: move it to one that can",
  ]
}
