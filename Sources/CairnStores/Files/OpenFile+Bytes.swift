// Reading and writing of arrays, over the two calls of OpenFile that take pointers.

import CairnModel
import Foundation

extension OpenFile {
  /// `count` bytes from `offset` on; fewer only at the end of the file.
  ///
  /// The caller has held `count` against something known: it is allocated before anything is read.
  package func bytes(_ count: Int, at offset: UInt64) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      initializedCount = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
    }
  }

  /// The whole file, unless it is larger than `limit`, which throws.
  package func contents(limit: Int, path: String) throws -> [UInt8] {
    let size = try information().size
    guard size <= UInt64(limit) else {
      throw StoreError(.corrupt, "it has \(size) bytes, and may have \(limit) at most", file: path)
    }
    return try bytes(Int(size), at: 0)
  }

  package func write(_ bytes: [UInt8], at offset: UInt64) throws {
    try bytes.withUnsafeBytes { try write($0, at: offset) }
  }
}
