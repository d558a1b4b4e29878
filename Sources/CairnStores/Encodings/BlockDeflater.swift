// Raw deflate by zlib, with streams that are made once for each level and strategy.

import CZlib

/// How zlib looks for matches.
enum DeflateStrategy: Int32, CaseIterable {
  case standard = 0
  case filtered = 1
  case huffmanOnly = 2
}

/// Confined to its encoder.
final class BlockDeflater {
  private struct Kind: Hashable {
    var level: Int32
    var strategy: DeflateStrategy
  }

  // zlib's state points back at its stream, so a stream must never move.
  private var streams: [Kind: UnsafeMutablePointer<z_stream>] = [:]
  private var output: UnsafeMutablePointer<UInt8>
  private var outputSize = 1 << 16

  init() { output = .allocate(capacity: outputSize) }

  deinit {
    for stream in streams.values {
      deflateEnd(stream)
      stream.deallocate()
    }
    output.deallocate()
  }

  /// The deflated bytes, valid until the next call; nil if they would be more than `limit`.
  func deflate(
    _ input: UnsafeBufferPointer<UInt8>, level: Int, strategy: DeflateStrategy = .standard, limit: Int
  ) -> UnsafeBufferPointer<UInt8>? {
    // zlib counts in 32 bits. A block that large isn't worth the time either.
    guard input.count > 0, limit > 0, input.count < Int(UInt32.max) else { return nil }
    let stream = stream(Kind(level: Int32(level), strategy: strategy))
    deflateReset(stream)
    let room = min(limit, input.count)
    if room > outputSize {
      output.deallocate()
      outputSize = max(room, outputSize * 2)
      output = .allocate(capacity: outputSize)
    }
    // zlib doesn't write to its input; its C signature only lacks the const.
    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress!)
    stream.pointee.avail_in = UInt32(input.count)
    stream.pointee.next_out = output
    stream.pointee.avail_out = UInt32(room)
    guard CZlib.deflate(stream, Z_FINISH) == Z_STREAM_END else { return nil }
    return UnsafeBufferPointer(start: output, count: room - Int(stream.pointee.avail_out))
  }

  private func stream(_ kind: Kind) -> UnsafeMutablePointer<z_stream> {
    if let stream = streams[kind] { return stream }
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // A negative window size asks for deflate without a wrapper.
    let status = deflateInit2_(
      stream, kind.level, Z_DEFLATED, -15, 8, kind.strategy.rawValue, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib couldn't start (\(status)): there is no memory left")
    streams[kind] = stream
    return stream
  }
}
