// Where a save's blocks go: behind what the file has.

import CairnModel

/// Appends to a file, in large writes.
final class AppendingSink: BlockSink {
  private let file: any OpenFile
  private var start: UInt64
  private var buffer: [UInt8] = []

  init(_ file: any OpenFile, from offset: UInt64) {
    self.file = file
    start = offset
  }

  var offset: UInt64 { start + UInt64(buffer.count) }

  func append(_ bytes: [UInt8]) throws {
    buffer += bytes
    if buffer.count >= 1 << 20 { try flush() }
  }

  func flush() throws {
    if buffer.isEmpty { return }
    try file.write(buffer, at: start)
    start += UInt64(buffer.count)
    buffer.removeAll(keepingCapacity: true)
  }
}
