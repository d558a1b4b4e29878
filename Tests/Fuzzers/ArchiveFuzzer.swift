// Fuzzes the reader of archives: any bytes either throw an error of the file or can be read as a whole.
//
// Built by .ci/fuzz-archives as a file of CairnStores' module.

import CZlib
import CairnModel
import Foundation

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzArchive(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  // Checksums keep mutations from everything behind them: the same bytes once more with right ones.
  for candidate in [bytes, repaired(bytes)] {
    do {
      try read(candidate)
    } catch is StoreError {
    } catch {
      fatalError("an archive threw what isn't a StoreError: \(error)")
    }
  }
  return 0
}

private func read(_ bytes: [UInt8]) throws {
  let files = SimulatedFileSystem()
  try files.open("/a", .create(permissions: 0o644)).write(bytes, at: 0)
  let contents = try ArchiveFile(file: files.open("/a", .read), path: "/a").open(cacheBudget: 1 << 20)
  for group in contents.index.tables.joined() {
    for index in group.chunks.indices {
      let part = ArchivePart(group, index)
      for place in group.columns.indices where group.columns[place] != nil { touch(part.column(place)) }
    }
  }
}

/// Looks at every value.
private func touch(_ column: Column) {
  var sum = 0
  for row in 0..<column.count { sum &+= column.value(row).isNull ? 0 : 1 }
  precondition(sum >= 0)
}

/// The same bytes with the checksums that they should have.
private func repaired(_ bytes: [UInt8]) -> [UInt8] {
  var bytes = bytes
  func put(_ value: UInt32, _ offset: Int) {
    for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * index)) }
  }
  func seal(_ from: Int, _ count: Int) {
    guard from >= 0, from + count <= bytes.count else { return }
    put(Checksum.crc32(bytes[from..<from + count - 4]), from + count - 4)
  }
  seal(0, ArchiveHeader.size)
  for offset in CommitSlot.offsets where bytes.count >= Int(offset) + CommitSlot.size {
    if !bytes[Int(offset)..<Int(offset) + CommitSlot.size].allSatisfy({ $0 == 0 }) {
      seal(Int(offset), CommitSlot.size)
    }
  }
  seal(bytes.count - ArchiveTrailer.size, ArchiveTrailer.size)
  var offset = Int(CommitSlot.end)
  while offset + BlockHeader.size <= bytes.count {
    if bytes[offset] == 0x42, bytes[offset + 1] == 0x4C, bytes[offset + 2] == 0x4B, bytes[offset + 3] == 0x31
    {
      let length = (0..<4).reduce(0) { $0 | Int(bytes[offset + 24 + $1]) << (8 * $1) }
      let end = offset + BlockHeader.size + length
      if end <= bytes.count {
        let head = Checksum.crc32(bytes[offset..<offset + BlockHeader.size - 4])
        put(
          Checksum.crc32(bytes[offset + BlockHeader.size..<end], after: head), offset + BlockHeader.size - 4)
      }
    }
    offset += 1
  }
  return bytes
}
