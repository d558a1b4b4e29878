// The lock of a store that writes, and the note of who holds it.
import CairnModel
import Foundation
import Testing

@testable import CairnStores

@Suite struct `A lock file` {
  private let other = FileLockHolder(
    processID: 123, program: "notes", host: "far", since: Date(timeIntervalSince1970: 1_790_000_000.7))

  @Test(arguments: FileSystemKind.allCases)
  func `keeps everybody else out until it is released, and says who has it`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      let path = place.path("LOCK")
      let first = try LockFile(at: path, on: place.fileSystem, holder: other)
      #expect(try LockFile.holder(at: path, on: place.fileSystem) == other)
      let error = try #require(throws: StoreError.self) { try LockFile(at: path, on: place.fileSystem) }
      #expect(error.code == .locked)
      #expect(
        error.description == """
          locked: \(path): it is held by process 123 (notes) on far since 2026-09-21T14:13:20Z; \
          close the store there, or open it for reading only
          """)
      first.release()
      first.release()
      #expect(try LockFile.holder(at: path, on: place.fileSystem) == nil)
      let second = try LockFile(at: path, on: place.fileSystem)
      try second.check()
      let again = #expect(throws: StoreError.self) { try LockFile(at: path, on: place.fileSystem) }
      #expect(again?.message.hasPrefix("it is held by this process, since ") == true)
      second.release()
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `of a process that is gone holds nobody up`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      let path = try place.make("LOCK", Array(other.note.utf8))
      #expect(try LockFile.holder(at: path, on: place.fileSystem) == nil)
      try LockFile(at: path, on: place.fileSystem).check()
      #expect(try LockFile.holder(at: place.path("none"), on: place.fileSystem) == nil)
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `that was removed or replaced under its holder is noticed`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      let path = place.path("LOCK")
      let lock = try LockFile(at: path, on: place.fileSystem)
      try place.fileSystem.remove(path)
      #expect(throws: StoreError(.locked, "")) { try lock.check() }
      let next = try LockFile(at: path, on: place.fileSystem)
      #expect(throws: StoreError(.locked, "")) { try lock.check() }
      try next.check()
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `behind a link is the file that the link leads to, there or not yet`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      try place.link(place.path("link"), "LOCK")
      let lock = try LockFile(at: place.path("link"), on: place.fileSystem)
      #expect(lock.path == place.path("LOCK"))
      #expect(throws: StoreError(.locked, "")) { try LockFile(at: lock.path, on: place.fileSystem) }
      #expect(throws: StoreError(.locked, "")) { try LockFile(at: place.path("link"), on: place.fileSystem) }
      try lock.check()
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `of another process isn't this one's`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      let lock = try LockFile(at: place.path("LOCK"), on: place.fileSystem, holder: other)
      #expect(throws: StoreError(.locked, "")) { try lock.check() }
    }
  }

  @Test func `reads back its note, and takes nothing else for one`() {
    let here = FileLockHolder.current()
    #expect(here.processID == getpid())
    #expect(FileLockHolder(note: here.note) == here)
    let odd = FileLockHolder(
      processID: 1, program: "a b\nprocess 2\n\(String(repeating: "x", count: 9999))", host: "ä",
      since: Date(timeIntervalSince1970: 0))
    #expect(FileLockHolder(note: odd.note) == odd)
    #expect(odd.note.utf8.count < 2048)
    let notes = [
      "", "\n", "x", "process 1\n", other.note.replacing("123", with: "one"),
      other.note.replacing("2026", with: "long ago"), String(other.note.dropFirst()),
    ]
    for note in notes { #expect(FileLockHolder(note: note) == nil, "\(note)") }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `is given back with its file or without, and tells the next holder where neither was done`(
    _ kind: FileSystemKind
  ) throws {
    try kind.withDirectory { place in
      let path = place.path("LOCK")
      try LockFile(at: path, on: place.fileSystem).release(.removingFile)
      #expect(try place.fileSystem.list(place.root) == [])
      let lost = try LockFile(at: path, on: place.fileSystem)
      try place.fileSystem.remove(path)
      let next = try LockFile(at: path, on: place.fileSystem)
      #expect(!next.wasAbandoned)
      // The file is another's by now.
      lost.release(.removingFile)
      try next.check()
      next.release(.keepingNote)
      let after = try LockFile(at: path, on: place.fileSystem)
      #expect(after.wasAbandoned && !after.isUnsureOfName)
      after.release()
      #expect(!(try LockFile(at: path, on: place.fileSystem).wasAbandoned))
    }
  }

  @Test func `keeps the note that was there where there is no room for its own`() throws {
    let files = SimulatedFileSystem()
    try LockFile(at: "/LOCK", on: files, holder: other).release(.keepingNote)
    files.injectFaults { $0.kind == .write ? .error(ENOSPC) : nil }
    let lock = try LockFile(at: "/LOCK", on: files)
    #expect(lock.wasAbandoned)
    #expect(try LockFile.holder(at: "/LOCK", on: files) == other)
    lock.release(.keepingNote)
    files.injectFaults(nil)
    #expect(try LockFile(at: "/LOCK", on: files).wasAbandoned)
  }

  @Test(arguments: FileSystemKind.allCases)
  func `tells the next holder of a replacement that may not last, until one does`(_ kind: FileSystemKind)
    throws
  {
    try kind.withDirectory { place in
      let path = place.path("LOCK")
      struct Other: Error {}
      func ending(_ body: (LockFile) throws -> Void) throws -> LockFile {
        let lock = try LockFile(at: path, on: place.fileSystem)
        try body(lock)
        lock.release(.keepingNote)
        return lock
      }
      var lock = try ending { lock in
        #expect(throws: Other.self) { try lock.replacing { throw Other() } }
        #expect(!lock.isUnsureOfName)
        #expect(throws: StoreError(.outcomeUnknown, "")) {
          try lock.replacing { throw StoreError(.outcomeUnknown, "") }
        }
      }
      #expect(lock.isUnsureOfName)
      // Also by way of one who did nothing about it.
      for _ in 0..<2 {
        lock = try ending { _ in }
        #expect(lock.wasAbandoned && lock.isUnsureOfName)
        let isHeld = try LockFile(at: path, on: place.fileSystem)
        #expect(try LockFile.holder(at: path, on: place.fileSystem) != nil, "the note is one still")
        isHeld.release(.keepingNote)
      }
      lock = try ending { try $0.replacing {} }
      #expect(!lock.isUnsureOfName)
      #expect(!(try LockFile(at: path, on: place.fileSystem).isUnsureOfName))
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `is one thread's alone, though each removes the file`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      let (path, fileSystem) = (place.path("LOCK"), place.fileSystem)
      let (holders, turns, overlaps) = (Lock(0), Lock(0), Lock(0))
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        for _ in 0..<200 {
          guard let lock = try? LockFile(at: path, on: fileSystem) else { continue }
          let others = holders.withLock { count in
            count += 1
            return count - 1
          }
          overlaps.withLock { $0 += others }
          if (try? lock.check()) == nil { overlaps.withLock { $0 += 1 } }
          turns.withLock { $0 += 1 }
          holders.withLock { $0 -= 1 }
          lock.release(.removingFile)
        }
      }
      #expect(overlaps.withLock { $0 } == 0)
      #expect(turns.withLock { $0 } > 10)
      let left = try fileSystem.list(place.root)
      #expect(left == [])
    }
  }
}
