// Replacing whole files. What a crash or a fault at any moment leaves is in FaultEnumerationTests.
import CairnModel
import Foundation
import Testing

@testable import CairnStores

@Suite struct `An atomic replacement` {
  struct Refused: Error {}

  @Test(arguments: FileSystemKind.allCases)
  func `makes a file or replaces one, with whatever was appended`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      let path = place.path("a")
      // Small, around the buffer's size, and large pieces, mixed.
      for sizes in [[], [1], [10, 65_536, 3], [65_535, 1, 1], [40_000, 40_000], [200_000, 5, 65_537]] {
        var expected: [UInt8] = []
        try AtomicReplacement.replace(path, on: place.fileSystem) { new in
          for (number, size) in sizes.enumerated() {
            let piece = [UInt8](repeating: UInt8(number + 1), count: size)
            try new.append(piece)
            expected += piece
            #expect(new.byteCount == UInt64(expected.count))
          }
        }
        #expect(try place.content("a") == expected, "\(sizes)")
        #expect(try place.fileSystem.list(place.root) == ["a"])
      }
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `that fails or is dropped leaves the old content and nothing else`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      let path = try place.make("a", [1])
      #expect(throws: Refused.self) {
        try AtomicReplacement.replace(path, on: place.fileSystem) {
          try $0.append([UInt8](repeating: 2, count: 100_000))
          throw Refused()
        }
      }
      #expect(try place.fileSystem.list(place.root) == ["a"])
      func drop() throws {
        let dropped = try AtomicReplacement(of: path, on: place.fileSystem)
        try dropped.append([3])
        #expect(try place.fileSystem.list(place.root).count == 2)
      }
      try drop()
      #expect(try place.fileSystem.list(place.root) == ["a"])
      #expect(try place.content("a") == [1])
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `of a link replaces what the link leads to`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      try place.fileSystem.makeDirectory(place.path("d"))
      try place.make("d/a", [1])
      try place.link(place.path("l"), "d/a")
      try place.link(place.path("toNothing"), "d/b")
      for (link, target) in [("l", "a"), ("toNothing", "b")] {
        let new = try AtomicReplacement(of: place.path(link), on: place.fileSystem)
        #expect(new.path == place.path("d/\(target)"))
        #expect(new.temporaryPath.hasPrefix(place.path("d/.\(target).tmp-")))
        try new.append([2])
        try new.commit()
        #expect(try place.content("d/\(target)") == [2])
        #expect(try place.fileSystem.resolve(place.path(link)) == place.path("d/\(target)"))
      }
      #expect(try place.fileSystem.list(place.path("d")) == ["a", "b"])
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `keeps the permission bits, and is never more open than the old file`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      let path = try place.make("a", [1])
      let file = try place.fileSystem.open(path, .readWrite)
      for bits: UInt16 in [0o600, 0o640, 0o755] {
        try file.setPermissions(bits)
        let new = try AtomicReplacement(of: path, on: place.fileSystem, permissions: 0o666)
        #expect(try place.fileSystem.information(new.temporaryPath)?.permissions == bits)
        new.abandon()
      }
      try file.setPermissions(0o640)
      try AtomicReplacement.replace(path, on: place.fileSystem) { try $0.append([2]) }
      #expect(try place.fileSystem.information(path)?.permissions == 0o640)
      try AtomicReplacement.replace(place.path("b"), on: place.fileSystem, permissions: 0o600) { _ in }
      #expect(try place.fileSystem.information(place.path("b"))?.permissions == 0o600)
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `refuses a directory, and a directory that isn't there`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      #expect(refusal { _ = try AtomicReplacement(of: place.root, on: place.fileSystem) } == EISDIR)
      #expect(refusal { _ = try AtomicReplacement(of: place.path("x/a"), on: place.fileSystem) } == ENOENT)
      let names = try place.fileSystem.list(place.root)
      #expect(names == [])
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `leaves what crashed writers left to be removed, and only that`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      let id = "8BDE8E64-57A5-4F6E-9D1B-6E4C0A0A7A11"
      let others = [".a.tmp-", ".a.tmp-\(id)x", ".b.tmp-\(id)", "a", "a.tmp-\(id)", ".a.tmp-mine"]
      for name in others + [".a.tmp-\(id)"] { try place.make(name) }
      let removed = try AtomicReplacement.removeLeftovers(of: place.path("a"), on: place.fileSystem)
      #expect(removed == [".a.tmp-\(id)"])
      #expect(try place.fileSystem.list(place.root) == others.sorted())
    }
  }
}
