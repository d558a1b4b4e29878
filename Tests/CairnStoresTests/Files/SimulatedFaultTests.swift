// What can be made to go wrong with the simulated file system's operations.
import CairnModel
import Foundation
import Testing

@testable import CairnStores

@Suite struct `A simulated fault` {
  private let files = SimulatedFileSystem()

  @Test func `fails one operation, or it and all later ones that can fail so`() throws {
    files.fail(at: 1, with: .error(EIO))
    try files.makeDirectory("/a")
    let error = #expect(throws: StoreError.self) { try files.makeDirectory("/b") }
    #expect(error?.isMediumFailure == true && error?.file == "/b")
    try files.makeDirectory("/c")
    #expect(try files.list("/") == ["a", "c"])
    files.fail(at: files.operationCount, with: .error(ENOSPC), isLasting: true)
    for _ in 0..<3 { #expect(refusal { try files.makeDirectory("/d") } == ENOSPC) }
    #expect(try files.list("/") == ["a", "c"], "reading needs no room")
    try files.removeDirectory("/a")
  }

  @Test func `interrupts and shortens so that nobody notices`() throws {
    let file = try files.open("/a", .create(permissions: 0o644))
    let bytes = (0..<1001).map { UInt8(truncatingIfNeeded: $0) }
    for fault in [SimulatedFault.short, .interrupted] {
      files.injectFaults { _ in fault }
      try file.truncate(to: 0)
      try file.write(bytes, at: 3)
      #expect(try file.bytes(1001, at: 3) == bytes)
      #expect(try file.bytes(5000, at: 1003) == [bytes.last!])
      try file.sync()
    }
  }

  @Test func `writes half and then fails`() throws {
    let file = try files.open("/a", .create(permissions: 0o644))
    files.fail(at: files.operationCount, with: .partial(ENOSPC))
    #expect(refusal { try file.write([1, 2, 3, 4], at: 0) } == ENOSPC)
    #expect(try file.bytes(9, at: 0) == [1, 2])
    files.fail(at: files.operationCount, with: .partial(EIO))
    #expect(refusal { _ = try file.bytes(9, at: 0) } == EIO)
  }

  @Test func `of a full medium comes when it is full, and goes when there is room again`() throws {
    files.quota = 4 * FileImage.sectorSize
    let first = try files.open("/a", .create(permissions: 0o644))
    try first.write([UInt8](repeating: 1, count: 3 * 512), at: 0)
    let second = try files.open("/b", .create(permissions: 0o644))
    #expect(refusal { try second.preallocate(to: 513) } == ENOSPC)
    #expect(try second.information().size == 0, "without effect")
    #expect(refusal { try second.write([UInt8](repeating: 1, count: 600), at: 0) } == ENOSPC)
    #expect(try second.information().size == 512, "what there was room for is written")
    try first.write([2], at: 0)
    try files.remove("/a")
    #expect(refusal { try second.preallocate(to: 1024) } == ENOSPC, "a removed file that is open takes room")
    try first.close()
    try second.write([UInt8](repeating: 1, count: 4 * 512), at: 0)
    #expect(refusal { try second.write([1], at: 4 * 512) } == ENOSPC)
  }

  @Test func `of a read-only file system refuses every change and no reading`() throws {
    let file = try files.open("/a", .create(permissions: 0o644))
    try file.write([1], at: 0)
    files.isReadOnly = true
    let changes: [(String, () throws -> Void)] = [
      ("open", { _ = try files.open("/a", .readWrite) }),
      ("create", { _ = try files.open("/b", .create(permissions: 0o644)) }),
      ("rename", { try files.rename("/a", to: "/b") }), ("remove", { try files.remove("/a") }),
      ("makeDirectory", { try files.makeDirectory("/d") }), ("write", { try file.write([2], at: 0) }),
      ("truncate", { try file.truncate(to: 0) }), ("preallocate", { try file.preallocate(to: 9) }),
      ("setPermissions", { try file.setPermissions(0o600) }),
    ]
    for (name, change) in changes { #expect(refusal(change) == EROFS, "\(name)") }
    #expect(try files.open("/a", .read).bytes(9, at: 0) == [1])
    #expect(try files.list("/") == ["a"])
  }

  @Test func `leaves it to be seen what is open and what is temporary`() throws {
    let file = try files.open("/a", .create(permissions: 0o644))
    func openAnother() throws {
      let other = try files.open("/a", .read)
      #expect(files.openFileCount == 2)
      _ = other
    }
    try openAnother()
    #expect(files.openFileCount == 1)
    files.fail(at: files.operationCount, with: .error(EIO))
    #expect(refusal { try file.close() } == EIO)
    #expect(files.openFileCount == 0, "a close that fails closes")
    let new = try AtomicReplacement(of: "/a", on: files)
    #expect(files.temporaryFiles == [Paths.name(of: new.temporaryPath)])
    new.abandon()
    #expect(files.temporaryFiles == [])
  }
}
