// What every file system does, over each: paths and names here, open files in OpenFileLawTests.
import CairnModel
import Foundation
import Testing

@testable import CairnStores

@Suite struct `Every file system` {
  @Test(arguments: FileSystemKind.allCases)
  func `makes a file only where none is, and opens it only where one is`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      let (files, path) = (place.fileSystem, place.path("a"))
      #expect(refusal { _ = try files.open(path, .read) } == ENOENT)
      #expect(refusal { _ = try files.open(path, .readWrite) } == ENOENT)
      #expect(try files.information(path) == nil)
      try place.make("a", [1, 2])
      #expect(refusal { _ = try files.open(path, .create(permissions: 0o644)) } == EEXIST)
      #expect(try place.content("a") == [1, 2])
      #expect(try files.information(path)?.size == 2)
      #expect(try files.information(path)?.isDirectory == false)
      #expect(try files.information(path)?.linkCount == 1)
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `lists the names of a directory, sorted`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      for name in ["b", "ä", ".c", "a", "B"] { try place.make(name) }
      try place.fileSystem.makeDirectory(place.path("d"))
      #expect(try place.fileSystem.list(place.root) == [".c", "B", "a", "b", "d", "ä"].sorted())
      #expect(try place.fileSystem.list(place.path("d")) == [])
      #expect(refusal { _ = try place.fileSystem.list(place.path("a")) } == ENOTDIR)
      #expect(refusal { _ = try place.fileSystem.list(place.path("x")) } == ENOENT)
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `puts one file in the place of another`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      let files = place.fileSystem
      try place.make("new", [1])
      try place.make("old", [2])
      let reader = try files.open(place.path("old"), .read)
      try files.rename(place.path("new"), to: place.path("old"))
      #expect(try place.content("old") == [1])
      #expect(try files.list(place.root) == ["old"])
      #expect(try reader.bytes(9, at: 0) == [2], "whoever has the replaced file open goes on reading it")
      #expect(try reader.information().linkCount == 0)
      #expect(refusal { try files.rename(place.path("new"), to: place.path("old")) } == ENOENT)
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `renames from one directory into another, and directories with all they hold`(
    _ kind: FileSystemKind
  ) throws {
    try kind.withDirectory { place in
      let files = place.fileSystem
      for name in ["d", "d/e", "f", "g"] { try files.makeDirectory(place.path(name)) }
      try place.make("d/e/a", [1])
      try files.rename(place.path("d/e/a"), to: place.path("f/b"))
      #expect(try files.list(place.path("d/e")) == [])
      try files.rename(place.path("f"), to: place.path("d/e/f"))
      #expect(try place.content("d/e/f/b") == [1])
      try files.rename(place.path("d/e"), to: place.path("g"))
      #expect(try place.content("g/f/b") == [1])
      #expect(refusal { try files.rename(place.path("g"), to: place.path("g/f/g")) } == EINVAL)
      #expect(refusal { try files.rename(place.path("d"), to: place.path("g")) } == ENOTEMPTY)
      #expect(refusal { try files.rename(place.path("d"), to: place.path("g/f/b")) } == ENOTDIR)
      #expect(refusal { try files.rename(place.path("g/f/b"), to: place.path("d")) } == EISDIR)
      try files.rename(place.path("g/f/b"), to: place.path("g/f/b"))
      #expect(try place.content("g/f/b") == [1], "renaming to the same name does nothing")
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `removes files as files and empty directories as directories`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      let files = place.fileSystem
      let path = try place.make("a", [1])
      try files.makeDirectory(place.path("d"))
      try place.make("d/b")
      #expect(refusal { try files.makeDirectory(place.path("d")) } == EEXIST)
      #expect(refusal { try files.makeDirectory(place.path("x/y")) } == ENOENT)
      #expect(refusal { try files.removeDirectory(place.path("d")) } == ENOTEMPTY)
      #expect(refusal { try files.removeDirectory(path) } == ENOTDIR)
      #expect([EISDIR, EPERM].contains(refusal { try files.remove(place.path("d")) }))
      #expect(refusal { _ = try files.open(place.path("d"), .read) } == EISDIR)
      let reader = try files.open(path, .read)
      try files.remove(path)
      #expect(try reader.bytes(9, at: 0) == [1])
      #expect(refusal { try files.remove(path) } == ENOENT)
      try files.remove(place.path("d/b"))
      try files.removeDirectory(place.path("d"))
      #expect(try files.list(place.root) == [])
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `follows links to what is there and to what isn't`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      let files = place.fileSystem
      try files.makeDirectory(place.path("d"))
      try place.make("d/a", [1])
      let cases = [
        ("toFile", "d/a", "d/a"), ("toDirectory", place.path("d"), "d"), ("toNothing", "d/x", "d/x"),
        ("toLink", "toNothing", "d/x"), ("through", "toDirectory/../d/./a", "d/a"),
      ]
      for (name, target, end) in cases {
        try place.link(place.path(name), target)
        #expect(try files.resolve(place.path(name)) == place.path(end), "\(name)")
      }
      #expect(try files.resolve(place.path("toDirectory/y")) == place.path("d/y"))
      #expect(try files.resolve(place.path("toDirectory/a")) == place.path("d/a"))
      #expect(try files.resolve(place.path("d/")) == place.path("d"))
      #expect(try place.content("through") == [1])
      #expect(try files.information(place.path("toNothing")) == nil)
      #expect(try files.information(place.path("toDirectory"))?.isDirectory == true)
      #expect(refusal { _ = try files.resolve(place.path("x/y")) } == ENOENT)
      try place.link(place.path("circle1"), "circle2")
      try place.link(place.path("circle2"), "circle1")
      #expect(refusal { _ = try files.resolve(place.path("circle1")) } == ELOOP)
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `syncs directories that are there`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      try place.make("a")
      try place.fileSystem.syncDirectory(place.root)
      #expect(refusal { try place.fileSystem.syncDirectory(place.path("x")) } == ENOENT)
      #expect(refusal { try place.fileSystem.syncDirectory(place.path("a")) } == ENOTDIR)
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `says what it couldn't do, to which file, why, and what helps`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      let path = place.path("missing")
      let error = try #require(throws: StoreError.self) { try place.fileSystem.open(path, .read) }
      #expect(error.code == .fileSystem)
      #expect(error.isMissing && !error.isFull && !error.isReadOnly)
      #expect(
        error.description == """
          fileSystem: \(path): couldn't open it: No such file or directory (ENOENT); \
          check the path, and that every directory in it is there
          """)
    }
  }

  @Test(arguments: FileSystemKind.allCases)
  func `takes no name with a zero byte in it`(_ kind: FileSystemKind) throws {
    try kind.withDirectory { place in
      try place.make("a")
      #expect(refusal { try place.fileSystem.remove(place.path("a\0b")) } == EINVAL)
      #expect(refusal { try place.fileSystem.rename(place.path("a"), to: place.path("b\0")) } == EINVAL)
      #expect(try place.fileSystem.list(place.root) == ["a"])
    }
  }
}
