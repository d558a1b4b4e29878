// What every open file does, over each file system.
import CairnModel
import Foundation
import Testing

@testable import CairnStores

@Suite struct `Every open file` {
  private func withFile(
    _ kind: FileSystemKind, _ body: (Place, any OpenFile, _ path: String) throws -> Void
  ) throws {
    try kind.withDirectory { place in
      let file = try place.fileSystem.open(place.path("f"), .create(permissions: 0o644))
      try body(place, file, place.path("f"))
      try file.close()
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `reads what was written, at any offset and up to the end`(_ kind: FileSystemKind) throws {
    try withFile(kind) { _, file, _ in
      // Across the boundaries of sectors and pages.
      let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
      try file.write(bytes, at: 0)
      #expect(try file.bytes(20_000, at: 0) == bytes)
      for (offset, count) in [(0, 1), (511, 2), (4095, 1026), (9999, 1), (9999, 5), (10_000, 1), (70_000, 1)]
      {
        let end = min(bytes.count, offset + count)
        let expected = offset < end ? Array(bytes[offset..<end]) : []
        #expect(try file.bytes(count, at: UInt64(offset)) == expected, "\(count) at \(offset)")
      }
      try file.write([1, 2, 3], at: 510)
      var changed = bytes
      changed.replaceSubrange(510..<513, with: [1, 2, 3])
      #expect(try file.bytes(20_000, at: 0) == changed)
      try file.write([], at: 0)
      #expect(try file.bytes(0, at: 0) == [])
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `has zeros where nothing was written`(_ kind: FileSystemKind) throws {
    try withFile(kind) { _, file, _ in
      try file.write([9], at: 3000)
      #expect(try file.bytes(5000, at: 0) == [UInt8](repeating: 0, count: 3000) + [9])
      try file.truncate(to: 3002)
      #expect(try file.bytes(5000, at: 2999) == [0, 9, 0])
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `shows zeros, not old bytes, where it was cut and extended again`(_ kind: FileSystemKind) throws {
    try withFile(kind) { _, file, _ in
      try file.write([UInt8](repeating: 7, count: 2000), at: 0)
      try file.truncate(to: 700)
      #expect(try file.information().size == 700)
      try file.truncate(to: 2000)
      #expect(
        try file.bytes(5000, at: 0)
          == [UInt8](repeating: 7, count: 700) + [UInt8](repeating: 0, count: 1300))
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `is extended by reserved zeros and never shortened by them`(_ kind: FileSystemKind) throws {
    try withFile(kind) { _, file, _ in
      try file.write([1, 2, 3], at: 0)
      try file.preallocate(to: 5000)
      #expect(try file.bytes(9000, at: 0) == [1, 2, 3] + [UInt8](repeating: 0, count: 4997))
      try file.preallocate(to: 2)
      #expect(try file.information().size == 5000)
      try file.sync()
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `opened for reading takes no writes`(_ kind: FileSystemKind) throws {
    try withFile(kind) { place, _, path in
      let reader = try place.fileSystem.open(path, .read)
      #expect(refusal { try reader.write([1], at: 0) } == EBADF)
      #expect([EBADF, EINVAL].contains(refusal { try reader.truncate(to: 3) }))
      #expect(refusal { try reader.preallocate(to: 3) } == EBADF)
      #expect(try reader.information().size == 0)
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `does nothing more once it is closed`(_ kind: FileSystemKind) throws {
    try withFile(kind) { place, _, path in
      let file = try place.fileSystem.open(path, .readWrite)
      try file.close()
      try file.close()
      #expect(refusal { try file.write([1], at: 0) } == EBADF)
      #expect(refusal { _ = try file.bytes(1, at: 0) } == EBADF)
      #expect(refusal { try file.sync() } == EBADF)
      #expect(refusal { try file.truncate(to: 1) } == EBADF)
      #expect(refusal { _ = try file.information() } == EBADF)
      #expect(refusal { _ = try file.lock(.shared) } == EBADF)
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `refuses offsets that no file reaches`(_ kind: FileSystemKind) throws {
    try withFile(kind) { _, file, _ in
      #expect(refusal { try file.write([1], at: .max) } == EFBIG)
      #expect(refusal { try file.write([1], at: UInt64(Int64.max)) } == EFBIG)
      #expect(refusal { try file.truncate(to: .max) } == EFBIG)
      #expect(refusal { try file.preallocate(to: .max) } == EFBIG)
      #expect(refusal { _ = try file.bytes(1, at: .max) } == EFBIG)
      let size = try file.information().size
      #expect(size == 0)
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `is the same file under every open and every name`(_ kind: FileSystemKind) throws {
    try withFile(kind) { place, file, path in
      let other = try place.make("g")
      try place.link(place.path("l"), "f")
      let identity = try file.information()
      let named = try #require(try place.fileSystem.information(place.path("l")))
      #expect(identity.isSameFile(as: named))
      #expect(try !identity.isSameFile(as: #require(try place.fileSystem.information(other))))
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `has the permission bits that it is given`(_ kind: FileSystemKind) throws {
    try withFile(kind) { place, file, path in
      #expect(try file.information().permissions & 0o700 == 0o600)
      try file.setPermissions(0o640)
      #expect(try place.fileSystem.information(path)?.permissions == 0o640)
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `locks out other opens of the same file, in the same process too`(_ kind: FileSystemKind) throws {
    try withFile(kind) { place, first, path in
      let second = try place.fileSystem.open(path, .readWrite)
      let third = try place.fileSystem.open(path, .read)
      #expect(try first.lock(.exclusive))
      #expect(try !second.lock(.exclusive))
      #expect(try !third.lock(.shared))
      #expect(try first.lock(.exclusive), "asking again for what one has")
      // POSIX's record locks would go when any open of the file is closed.
      try third.close()
      #expect(try !second.lock(.shared))

      #expect(try first.lock(.shared), "the weaker takes the place of the stronger")
      #expect(try second.lock(.shared))
      #expect(try !first.lock(.exclusive), "and can't be made stronger while another has it too")
      #expect(try !second.lock(.exclusive))
      try second.unlock()
      #expect(try first.lock(.exclusive))
      try first.close()
      #expect(try second.lock(.exclusive))
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `gives up its lock with its last reference`(_ kind: FileSystemKind) throws {
    try withFile(kind) { place, first, path in
      func lockAndForget() throws {
        let second = try place.fileSystem.open(path, .readWrite)
        #expect(try second.lock(.exclusive))
        #expect(try !first.lock(.shared))
      }
      try lockAndForget()
      #expect(try first.lock(.exclusive))
    }
  }
}
