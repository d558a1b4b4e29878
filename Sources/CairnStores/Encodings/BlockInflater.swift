// Raw inflate by zlib, into exactly as many bytes as were announced.

import CZlib

/// Confined to its decoder.
final class BlockInflater {
  // zlib's state points back at its stream, so a stream must never move.
  private let stream: UnsafeMutablePointer<z_stream>
  private var output: UnsafeMutablePointer<UInt8>
  private var outputSize = 1 << 16
  /// What is kept from block to block.
  private static let keptSize = 8 << 20

  init() {
    output = .allocate(capacity: outputSize)
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let status = inflateInit2_(stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    precondition(status == Z_OK, "zlib couldn't start (\(status)): there is no memory left")
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    output.deallocate()
  }

  /// The inflated bytes, valid until the next call. Throws unless `input` is one whole deflate stream of
  /// `rawLength` bytes and nothing else. No deflate stream inflates to more than 1,032 times its length, so
  /// a length beyond that is refused before memory is taken for it.
  func inflate(_ input: UnsafeBufferPointer<UInt8>, rawLength: Int) throws -> UnsafeBufferPointer<UInt8> {
    guard input.count > 0, input.count < Int(UInt32.max), rawLength > 0, rawLength < Int(UInt32.max),
      rawLength <= 1032 * input.count + 64
    else {
      throw PayloadError(
        what: "\(input.count) bytes can't inflate to \(rawLength)", byteOffset: 0, isInflated: false)
    }
    resize(for: rawLength)
    inflateReset(stream)
    // zlib doesn't write to its input; its C signature only lacks the const.
    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress!)
    stream.pointee.avail_in = UInt32(input.count)
    stream.pointee.next_out = output
    stream.pointee.avail_out = UInt32(rawLength)
    let status = CZlib.inflate(stream, Z_FINISH)
    let read = input.count - Int(stream.pointee.avail_in)
    guard status == Z_STREAM_END, stream.pointee.avail_out == 0, read == input.count else {
      throw PayloadError(
        what: "the deflated bytes aren't \(rawLength) bytes exactly", byteOffset: read, isInflated: false)
    }
    return UnsafeBufferPointer(start: output, count: rawLength)
  }

  private func resize(for length: Int) {
    let isWasteful = outputSize > BlockInflater.keptSize && length <= BlockInflater.keptSize
    guard length > outputSize || isWasteful else { return }
    output.deallocate()
    outputSize = isWasteful ? BlockInflater.keptSize : max(length, outputSize * 2)
    output = .allocate(capacity: outputSize)
  }
}
