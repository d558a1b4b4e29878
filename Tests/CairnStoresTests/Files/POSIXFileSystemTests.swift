// What only the operating system's file system can show: devices, other processes, descriptors, interrupted calls.
import CairnModel
import Foundation
import Testing

@testable import CairnStores

@Suite struct `The POSIX file system` {
  @Test func `goes on after interruptions and short pieces`() throws {
    for sizes in [[5], [1, 1, 3], [-1, 2, -1, -1, 3], [-1, 5], [4, -1, 1]] {
      // -1 stands for an interruption.
      var steps = sizes[...]
      var asked: [[Int]] = []
      func step(_ done: Int, _ count: Int) throws(SystemFailure) -> Int {
        asked.append([done, count])
        let size = steps.removeFirst()
        if size == -1 { throw SystemFailure(EINTR) }
        return size
      }
      #expect(try SystemCalls.read(5, step) == 5)
      #expect(steps.isEmpty)
      #expect(asked.allSatisfy { $0[0] + $0[1] == 5 })
      steps = sizes[...]
      try SystemCalls.write(5, step)
      #expect(steps.isEmpty)
    }
    var rest = [2, 0][...]
    #expect(try SystemCalls.read(5) { (_, _) throws(SystemFailure) in rest.removeFirst() } == 2)
    #expect(throws: SystemFailure(EIO), "a system that takes nothing isn't asked for ever") {
      try SystemCalls.write(5) { (_, _) throws(SystemFailure) in 0 }
    }
    var calls = 0
    let value: Int32 = try SystemCalls.uninterrupted {
      calls += 1
      errno = calls < 3 ? EINTR : ENOENT
      return calls < 3 ? -1 : 7
    }
    #expect(value == 7 && calls == 3)
  }

  @Test func `tells of a file what the portable calls tell, be it open or not`() throws {
    try FileSystemKind.posix.withDirectory { place in
      try place.make("a")
      let path = place.path("a")
      let open = try place.fileSystem.open(path, .readWrite)
      defer { try? open.close() }
      try open.write([UInt8](repeating: 1, count: 5_000), at: 0)
      try open.setPermissions(0o640)
      for path in [path, place.root, "/dev/null"] {
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(try FileInformation(of: path) == FileInformation(status))
      }
      let found = try open.information()
      #expect(try found == FileInformation(of: path))
      #expect(found.size == 5_000 && found.linkCount == 1 && found.permissions == 0o640 && !found.isDirectory)
      #expect(throws: SystemFailure(ENOENT)) { try FileInformation(of: place.path("b")) }
      #expect(throws: SystemFailure(ENOTDIR)) { try FileInformation(of: path + "/b") }
      #expect(throws: SystemFailure(EBADF)) { try FileInformation(of: Int32(-1)) }
    }
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func `says that the medium is full`() throws {
    let file = try POSIXFileSystem.shared.open("/dev/full", .readWrite)
    let error = #expect(throws: StoreError.self) { try file.write([1], at: 0) }
    #expect(error?.isFull == true)
    #expect(error?.file == "/dev/full")
    #expect(error?.remedy == "free some space on the volume and try again")
  }

  @Test func `doesn't wait for a pipe, and says that it is none of its files`() throws {
    try FileSystemKind.posix.withDirectory { place in
      #expect(mkfifo(place.path("pipe"), 0o600) == 0)
      let file = try place.fileSystem.open(place.path("pipe"), .read)
      #expect(refusal { _ = try file.bytes(1, at: 0) } == ESPIPE)
    }
  }

  @Test func `closes a file with its last reference, and leaks none`() throws {
    try FileSystemKind.posix.withDirectory { place in
      let path = try place.make("a", [1])
      // More than a process may have open by default.
      for _ in 0..<5000 { _ = try place.fileSystem.open(path, .read) }
      for _ in 0..<5000 { #expect(refusal { _ = try place.fileSystem.open(place.root, .read) } == EISDIR) }
    }
  }

  @Test func `lets calls under way finish before it closes`() throws {
    for _ in 0..<50 {
      let path = FileManager.default.temporaryDirectory.path + "/cairn-\(UUID().uuidString)"
      let file = try POSIXFileSystem.shared.open(path, .create(permissions: 0o600))
      defer { try? POSIXFileSystem.shared.remove(path) }
      let bytes = [UInt8](repeating: 7, count: 100_000)
      try file.write(bytes, at: 0)
      let readers = DispatchGroup()
      for _ in 0..<3 {
        Thread.detachNewThread(in: readers) {
          // Each read is whole or refused: never of the file that got the number next.
          for _ in 0..<10_000 {
            guard let read = try? file.bytes(100_000, at: 0) else { break }
            #expect(read == bytes)
          }
        }
      }
      Thread.sleep(forTimeInterval: 0.001)
      try file.close()
      readers.wait()
      #expect(refusal { _ = try file.bytes(1, at: 0) } == EBADF)
    }
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/bin/sh")))
  func `hands no open file and no lock to programs that it starts`() throws {
    try FileSystemKind.posix.withDirectory { place in
      let file = try place.fileSystem.open(place.path("f"), .create(permissions: 0o600))
      #expect(try file.lock(.exclusive))
      let child = Process()
      child.executableURL = URL(filePath: "/bin/sh")
      child.arguments = ["-c", "read line"]
      let input = Pipe()
      child.standardInput = input
      try child.run()
      try file.close()
      let second = try place.fileSystem.open(place.path("f"), .readWrite)
      #expect(try second.lock(.exclusive), "the child would hold it still")
      try input.fileHandleForWriting.close()
      child.waitUntilExit()
    }
  }
}

extension Thread {
  fileprivate static func detachNewThread(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    detachNewThread {
      body()
      group.leave()
    }
  }
}
