// Reads gzip files (RFC 1952), which is how the tour's tables and other imported text arrive.
//
// Either the whole input is sound and its content comes back, or it throws: each member's checksum and
// length are verified, and nothing may be missing or left over. Memory is bounded by the caller's
// limit, not by what the input claims or inflates to.
import CZlib
import Foundation

/// Why bytes aren't a gzip file that can be used.
package struct GzipError: Error, Equatable, CustomStringConvertible {
  package let message: String
  /// How many bytes of the compressed input were read when it was noticed.
  package let byteOffset: Int

  package var description: String { "gzip, byte \(byteOffset): \(message)" }
}

package enum Gzip {
  /// The content of a gzip file; that of one with several members is their contents joined, as RFC 1952 says.
  ///
  /// It holds at most `limit` bytes: more throws, as do truncated, damaged and left-over bytes.
  package static func inflate(_ data: Data, limit: Int) throws -> Data {
    precondition(limit >= 0, "a limit of \(limit) bytes: it can't be negative")
    let inflater = try Inflater(limit: limit)
    return try data.withUnsafeBytes { try inflater.inflate($0) }
  }
}

/// One use of zlib's inflater. It is a class for its `deinit`, which frees zlib's state on every way out.
private final class Inflater {
  // zlib's state points back at the stream and checks it: the stream must never move, so it has its
  // own allocation instead of being a stored property that Swift may copy.
  private let stream: UnsafeMutablePointer<z_stream>
  private let scratch: UnsafeMutablePointer<UInt8>
  private let scratchSize = 1 << 16
  private let limit: Int
  private var content = Data()

  init(limit: Int) throws {
    self.limit = limit
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    scratch = .allocate(capacity: scratchSize)
    // 15 is the largest window; 16 more asks for a gzip header and trailer, and for nothing else.
    let status = inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else { throw GzipError(message: "zlib couldn't start (\(status))", byteOffset: 0) }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    scratch.deallocate()
  }

  func inflate(_ input: UnsafeRawBufferPointer) throws -> Data {
    var offset = 0
    repeat {
      try checkMagic(of: input, at: offset)
      offset = try inflateMember(input, from: offset)
      inflateReset(stream)
    } while offset < input.count
    return content
  }

  // zlib would find this too, but only it can tell a file of another kind from bytes after a good one.
  private func checkMagic(of input: UnsafeRawBufferPointer, at offset: Int) throws {
    let start = input[offset...].prefix(2)
    guard !start.elementsEqual([0x1F, 0x8B].prefix(start.count)) else { return }
    let message =
      offset == 0
      ? "this isn't a gzip file: it doesn't start with the bytes 1F 8B"
      : "after the last member there are \(input.count - offset) bytes that aren't gzip"
    throw GzipError(message: message, byteOffset: offset)
  }

  // Appends one member's content; returns the offset after its trailer.
  private func inflateMember(_ input: UnsafeRawBufferPointer, from start: Int) throws -> Int {
    var offset = start
    while true {
      let (status, produced) = step(input, &offset)
      try append(produced, at: offset)
      switch status {
      case Z_STREAM_END: return offset
      case Z_OK: continue
      case Z_BUF_ERROR:  // no step is possible: zlib wants more input, and there is none
        throw GzipError(message: "the file is cut off: its last member doesn't end", byteOffset: offset)
      default: throw error(status, at: offset)
      }
    }
  }

  // One call of zlib, with as much input as its 32-bit count can say.
  private func step(_ input: UnsafeRawBufferPointer, _ offset: inout Int) -> (status: Int32, produced: Int) {
    let available = min(input.count - offset, Int(UInt32.max))
    // zlib doesn't write to its input; its C signature only lacks the const.
    let start = input.baseAddress.map {
      UnsafeMutablePointer(mutating: $0.assumingMemoryBound(to: UInt8.self))
    }
    stream.pointee.next_in = start.map { $0 + offset }
    stream.pointee.avail_in = UInt32(available)
    stream.pointee.next_out = scratch
    stream.pointee.avail_out = UInt32(scratchSize)
    let status = CZlib.inflate(stream, Z_NO_FLUSH)
    offset += available - Int(stream.pointee.avail_in)
    return (status, scratchSize - Int(stream.pointee.avail_out))
  }

  private func append(_ produced: Int, at offset: Int) throws {
    guard produced <= limit - content.count else {
      throw GzipError(message: "it inflates to more than the \(limit) bytes allowed", byteOffset: offset)
    }
    content.append(scratch, count: produced)
  }

  private func error(_ status: Int32, at offset: Int) -> GzipError {
    let reason = stream.pointee.msg.map { String(cString: $0) } ?? "status \(status)"
    return GzipError(message: "the file is damaged: zlib says \"\(reason)\"", byteOffset: offset)
  }
}
