// What a crash of the simulated file system may lose, and what it may not. Were it too kind, stores would pass that
// lose data; were it too cruel, no store could pass.
import CairnModel
import Foundation
import Testing

@testable import CairnStores

@Suite struct `A simulated crash` {
  private let sector = FileImage.sectorSize

  private func make(_ files: SimulatedFileSystem, _ path: String, _ content: [UInt8], synced: Bool) throws {
    let file = try files.open(path, .create(permissions: 0o644))
    try file.write(content, at: 0)
    guard synced else { return }
    try file.sync()
    try files.syncDirectory("/")
  }

  /// What each state after a power cut has at `path`; nil for no file.
  private func contents(_ files: SimulatedFileSystem, _ path: String) throws -> Set<[UInt8]?> {
    var found: Set<[UInt8]?> = []
    for state in files.crashStates().dropFirst() {
      if try state.fileSystem.information(path) == nil {
        found.insert(nil)
      } else {
        found.insert(try state.fileSystem.open(path, .read).contents(limit: 1 << 20, path: path))
      }
    }
    return found
  }

  @Test func `never loses what was synced with its name`() throws {
    let files = SimulatedFileSystem()
    try make(files, "/a", [1, 2, 3], synced: true)
    #expect(try contents(files, "/a") == [[1, 2, 3]])
    #expect(files.crashStates().underestimatedCount == 2)
  }

  @Test func `may lose the name of a file whose content was synced`() throws {
    let files = SimulatedFileSystem()
    let file = try files.open("/a", .create(permissions: 0o644))
    try file.write([1], at: 0)
    try file.sync()
    #expect(try contents(files, "/a") == [nil, [1]])
  }

  @Test func `may keep a size without its bytes, and lose the size with them`() throws {
    let files = SimulatedFileSystem()
    try make(files, "/a", [], synced: true)
    try files.open("/a", .readWrite).write([1, 2], at: 0)
    #expect(try contents(files, "/a") == [[], [0, 0], [1, 2]])
  }

  @Test func `tears a write at sectors, in any order, and nowhere else`() throws {
    let files = SimulatedFileSystem()
    try make(files, "/a", [UInt8](repeating: 1, count: 3 * sector), synced: true)
    try files.open("/a", .readWrite).write([UInt8](repeating: 2, count: 2 * sector), at: UInt64(sector / 2))
    // Three sectors are touched, the outer ones by half.
    let expected = (0..<8).map { subset in
      (0..<3 * sector).map { byte -> UInt8 in
        let isWritten = byte >= sector / 2 && byte < sector / 2 + 2 * sector
        return isWritten && subset >> (byte / sector) & 1 == 1 ? 2 : 1
      }
    }
    #expect(try contents(files, "/a") == Set(expected))
  }

  @Test func `may leave any of the contents that a sector had since it was synced, as a whole`() throws {
    let files = SimulatedFileSystem()
    try make(files, "/a", [0, 0], synced: true)
    let file = try files.open("/a", .readWrite)
    try file.write([1], at: 0)
    try file.write([2], at: 1)
    #expect(try contents(files, "/a") == [[0, 0], [1, 0], [1, 2]])
  }

  @Test func `shows zeros, not old bytes, where a file was cut and extended`() throws {
    let files = SimulatedFileSystem()
    try make(files, "/a", [1, 1, 1], synced: true)
    let file = try files.open("/a", .readWrite)
    try file.truncate(to: 1)
    try file.truncate(to: 4)
    #expect(try contents(files, "/a") == [[1, 1, 1], [1, 0, 0], [1], [1, 0, 0, 0], [1, 1, 1, 0]])
  }

  @Test func `may lose a rename, and never shows a name with neither file`() throws {
    let files = SimulatedFileSystem()
    try make(files, "/a", [1], synced: true)
    try make(files, "/b", [2], synced: true)
    try files.rename("/b", to: "/a")
    #expect(try contents(files, "/a") == [[1], [2]])
    #expect(try contents(files, "/b") == [[2], nil])
    try files.syncDirectory("/")
    #expect(try contents(files, "/a") == [[2]])
    #expect(try contents(files, "/b") == [nil])
  }

  @Test func `may show an empty file under a name that was moved before its bytes were synced`() throws {
    let files = SimulatedFileSystem()
    try make(files, "/a", [1], synced: true)
    try make(files, "/b", [2], synced: false)
    try files.rename("/b", to: "/a")
    #expect(try contents(files, "/a") == [[1], [], [0], [2]])
  }

  @Test func `may undo a removal and a new directory with what is in it`() throws {
    let files = SimulatedFileSystem()
    try make(files, "/a", [1], synced: true)
    try files.remove("/a")
    try files.makeDirectory("/d")
    try files.open("/d/b", .create(permissions: 0o644)).sync()
    try files.syncDirectory("/d")
    #expect(try contents(files, "/a") == [[1], nil])
    #expect(try contents(files, "/d/b") == [[], nil])
  }

  @Test func `can't bring back a move between directories of which one was synced`() throws {
    let files = SimulatedFileSystem()
    try files.makeDirectory("/d")
    try files.syncDirectory("/")
    try files.open("/d/a", .create(permissions: 0o644)).sync()
    try files.rename("/d/a", to: "/b")
    try files.syncDirectory("/")
    #expect(try contents(files, "/b") == [[]])
    #expect(try contents(files, "/d/a") == [nil])
  }

  @Test func `may lose what a failed sync gave up, though later syncs succeed`() throws {
    let files = SimulatedFileSystem()
    try make(files, "/a", [0], synced: true)
    let file = try files.open("/a", .readWrite)
    try file.write([1], at: 0)
    files.fail(at: files.operationCount, with: .error(EIO))
    #expect(refusal { try file.sync() } == EIO)
    try file.sync()
    #expect(try file.bytes(1, at: 0) == [1], "the system still shows it")
    #expect(try contents(files, "/a") == [[0], [1]])
    try file.write([2], at: 0)
    try file.sync()
    #expect(try contents(files, "/a") == [[2]], "writing it again makes it durable")
    try file.write([3], at: 0)
    files.fail(at: files.operationCount, with: .error(EIO))
    #expect(refusal { try file.sync() } == EIO)
    try file.write([3], at: 0)
    try file.sync()
    #expect(try contents(files, "/a") == [[3]], "be it the same")

    try files.rename("/a", to: "/b")
    files.fail(at: files.operationCount, with: .error(EIO))
    #expect(refusal { try files.syncDirectory("/") } == EIO)
    try files.syncDirectory("/")
    #expect(try contents(files, "/b") == [[3], nil])
  }

  @Test func `of the process alone loses nothing, and makes nothing durable`() throws {
    let files = SimulatedFileSystem()
    try make(files, "/a", [1], synced: false)
    let file = try files.open("/a", .readWrite)
    #expect(try file.lock(.exclusive))
    let state = try #require(files.crashStates().first { _ in true })
    #expect(state.description == "the process crashed")
    let again = state.fileSystem
    #expect(again.openFileCount == 0)
    #expect(try again.open("/a", .readWrite).lock(.exclusive), "its locks are gone")
    #expect(try contents(again, "/a") == contents(files, "/a"))
  }

  @Test func `stops everything, from the operation on that it is planned for`() throws {
    let files = SimulatedFileSystem()
    files.fail(at: 2, with: .crash)
    let file = try files.open("/a", .create(permissions: 0o644))
    try file.write([1], at: 0)
    #expect(throws: SimulatedCrash.self) { try file.sync() }
    #expect(throws: SimulatedCrash.self) { try file.close() }
    #expect(throws: SimulatedCrash.self) { try files.list("/") }
    #expect(files.hasCrashed && files.operationCount == 3)
  }

  @Test func `leaves states that don't know of each other`() throws {
    let files = SimulatedFileSystem()
    try make(files, "/a", [0], synced: true)
    try files.open("/a", .readWrite).write([1], at: 0)
    for state in files.crashStates() {
      let file = try state.fileSystem.open("/a", .readWrite)
      try file.write([9, 9], at: 0)
      try file.sync()
    }
    #expect(try contents(files, "/a") == [[0], [1]])
  }

  @Test func `of many changes is tried by prefixes, by all but one, and at random by a seed`() throws {
    let files = SimulatedFileSystem()
    try make(files, "/a", [UInt8](repeating: 0, count: 20 * sector), synced: true)
    let file = try files.open("/a", .readWrite)
    for number in 0..<20 { try file.write([1], at: UInt64(number * sector)) }
    func written(_ seed: UInt64, limit: Int = 1000) throws -> [[Int]] {
      try files.crashStates(limit: limit, seed: seed).dropFirst().map { state in
        let bytes = try state.fileSystem.open("/a", .read).bytes(20 * sector, at: 0)
        return (0..<20).filter { bytes[$0 * sector] == 1 }
      }
    }
    let all = Array(0..<20)
    let states = try written(1)
    for count in 0...20 { #expect(states.contains(Array(all.prefix(count))), "the first \(count)") }
    for number in all { #expect(states.contains(all.filter { $0 != number }), "all but \(number)") }
    #expect(Set(states).count > 200)
    #expect(try written(1) == states, "the same seed, the same states")
    #expect(try written(2) != states)
    let few = try written(1, limit: 10)
    #expect(few.count == 10 && few.first == [] && few.last == all)
  }
}
