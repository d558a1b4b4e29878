// Reads a segment group by group, and tells what is wrong where it can't go on. LogFrame's comment says the rule.

import CairnModel
import Foundation

/// All that was written at once, and happened as a whole: one kind of payload, whole and inflated.
struct LogGroup {
  /// Of its first frame.
  var firstSequence: UInt64
  /// Of its last.
  var lastSequence: UInt64
  var generation: Int64
  var kind: UInt8
  var isAncillary: Bool
  /// Where its first frame is in the file.
  var offset: UInt64
  /// Behind its last.
  var end: UInt64
  var payload: [UInt8]
  /// What all of its frames take.
  var frameCount: Int

  var isTransaction: Bool { kind == LogFrame.Kind.transaction.rawValue }
}

/// Reads one segment from some frame on. Not for several threads.
struct LogSegmentReader {
  enum Step {
    case group(LogGroup)
    /// Nothing but zeros follows, or nothing.
    case end
    /// What follows was never acknowledged, and isn't whole. The error says what is wrong with it, and where.
    case torn(StoreError)
    /// What follows was acknowledged, and is damaged.
    case damaged(StoreError)
  }

  let file: any OpenFile
  let path: String
  let salt: UInt64
  /// All frames up to here are there for certain.
  private(set) var promised: UInt64
  private let isSealed: Bool
  /// Where the next group begins.
  private(set) var offset: UInt64
  /// Of its first frame.
  private(set) var sequence: UInt64
  /// The group that was read last.
  private(set) var lastKind: UInt8 = 0

  private var window: [UInt8] = []
  private var windowStart: UInt64 = 0
  private static let windowSize = 1 << 18
  /// How many bytes checksums are made of at least, to tell what is behind a frame that isn't there.
  var leastBudget = 64 << 20

  /// Reads from the first frame on.
  init(_ file: any OpenFile, path: String, segment: LogManifest.Segment) {
    self.init(
      file, path: path, segment: segment, offset: UInt64(LogSegmentHeader.size),
      sequence: segment.firstSequence)
  }

  /// `sequence` is that of the frame at `offset`.
  init(
    _ file: any OpenFile, path: String, segment: LogManifest.Segment, offset: UInt64, sequence: UInt64
  ) {
    self.file = file
    self.path = path
    self.offset = offset
    self.sequence = sequence
    salt = segment.salt
    promised = segment.lastSequence
    isSealed = segment.isSealed
  }

  /// Forgets what was read ahead: somebody may have written since.
  mutating func refresh() { window = [] }

  /// All frames up to `sequence` are there for certain, as is known now.
  mutating func promise(_ sequence: UInt64) { promised = max(promised, sequence) }

  /// Goes on behind the damage, at the next frame that begins a group; false where there is none. Also says how many
  /// bytes were passed over.
  mutating func skip() throws -> UInt64? {
    let start = offset
    var position = offset
    while let found = try nextFrame(from: position + 1, atLeast: sequence, budget: nil) {
      position = found.offset
      // A frame in the middle of a group is as good as none.
      if found.frame.fault == nil, try begins(at: found) {
        offset = found.offset
        sequence = found.frame.sequence
        return offset - start
      }
    }
    return nil
  }

  /// Whether a group begins with that frame, as far as the frames before tell: those of one transaction have one
  /// generation.
  private mutating func begins(at found: (frame: LogFrame, offset: UInt64)) throws -> Bool {
    guard found.frame.kind == LogFrame.Kind.transaction.rawValue else { return true }
    // Pieces but the last are full, so what comes behind full pieces is a piece as well.
    let full = UInt64(LogFrame.headerSize + LogFrame.largestPiece)
    guard found.offset >= UInt64(LogSegmentHeader.size) + full,
      let before = try frame(at: found.offset - full)
    else { return true }
    return before.flags.contains(.commit) || before.generation != found.frame.generation
  }

  /// The next group, or why there is none.
  mutating func next() throws -> Step {
    var isSecondLook = false
    while true {
      let start = (offset: offset, sequence: sequence)
      let group = try group()
      switch group {
      case .success(let group):
        offset = group.end
        sequence = group.lastSequence + 1
        lastKind = group.kind
        return .group(group)
      case .failure(let bad):
        if let fault = bad.fault { return .damaged(corrupt(fault, bad.offset, bad.sequence)) }
        let step = try classify(bad, groupStart: start.offset)
        // Somebody may have been writing the frame when it was read, and what proves that it has to be there after
        // that: then it is there now.
        if case .damaged = step, !isSecondLook {
          isSecondLook = true
          refresh()
          continue
        }
        return step
      }
    }
  }

  /// The frame that isn't there.
  private struct Bad: Error {
    var offset: UInt64
    var sequence: UInt64
    /// What is wrong with a frame whose checksum is right.
    var fault: String?
  }

  private mutating func group() throws -> Result<LogGroup, Bad> {
    var position = offset
    var expected = sequence
    var first: LogFrame?
    var payload: [UInt8] = []
    while true {
      guard let frame = try frame(at: position), frame.sequence == expected else {
        return .failure(Bad(offset: position, sequence: expected))
      }
      var fault = frame.fault
      if let first, fault == nil {
        let same =
          first.kind == frame.kind && first.generation == frame.generation
          && first.flags == frame.flags.subtracting(.commit)
        if !same { fault = "a frame of another kind or commit within a group" }
      }
      let isLast = frame.flags.contains(.commit)
      if fault == nil, !isLast, frame.payloadLength != LogFrame.largestPiece {
        fault = "a piece of \(frame.payloadLength) bytes that isn't the last of its group"
      }
      if expected == .max { fault = "a frame with the highest of all sequences" }
      if let fault { return .failure(Bad(offset: position, sequence: expected, fault: fault)) }
      let content = try bytes(at: position + UInt64(LogFrame.headerSize), count: frame.payloadLength)
      payload += content
      first = first ?? frame
      position += UInt64(frame.size)
      expected += 1
      guard isLast, let first else { continue }
      if frame.flags.contains(.compressed) {
        guard let inflated = LogCompression.inflate(payload) else {
          return .failure(Bad(offset: offset, sequence: sequence, fault: "a payload that can't be inflated"))
        }
        payload = inflated
      }
      return .success(
        LogGroup(
          firstSequence: sequence, lastSequence: expected - 1, generation: first.generation, kind: first.kind,
          isAncillary: first.flags.contains(.ancillary), offset: offset, end: position, payload: payload,
          frameCount: Int(expected - sequence)))
    }
  }

  // MARK: Where it ends

  private func corrupt(_ message: String, _ offset: UInt64, _ sequence: UInt64) -> StoreError {
    StoreError(
      .corrupt, "\(message), where frame \(sequence) belongs", file: path, offset: offset,
      remedy: LogFiles.remedy)
  }

  private mutating func classify(_ bad: Bad, groupStart: UInt64) throws -> Step {
    if bad.sequence <= promised {
      return .damaged(
        corrupt("there is no frame, and the manifest says that there was one", bad.offset, bad.sequence))
    }
    if isSealed {
      return try isZero(from: bad.offset)
        ? .end
        : .damaged(corrupt("something follows the last frame of a sealed segment", bad.offset, bad.sequence))
    }
    let rest = try lastNonZero(from: bad.offset)
    guard let rest else {
      if bad.offset == groupStart { return .end }
      return .torn(corrupt("the last frame of a group isn't there", bad.offset, bad.sequence))
    }
    // The look is bounded for files that were made to take long. What a crash leaves of saves, as long as they may be, are
    // frames one behind the other, and of these checksums are made once.
    var budget = leastBudget + Int(clamping: rest - bad.offset)
    var position = bad.offset + 1
    while let found = try nextFrame(from: position, atLeast: bad.sequence, upTo: rest, budget: &budget) {
      if found.frame.durable >= bad.sequence {
        return .damaged(
          corrupt(
            "there is no whole frame, and frame \(found.frame.sequence) at byte \(found.offset) says that there was one",
            bad.offset, bad.sequence))
      }
      // Nothing begins within a frame, but a few of its bytes look as if, which would cost as much again.
      position = found.offset + UInt64(found.frame.size)
    }
    if budget <= 0 {
      return .damaged(
        corrupt("there is no whole frame, and too much behind it to tell why", bad.offset, bad.sequence))
    }
    return .torn(corrupt("there is no whole frame", bad.offset, bad.sequence))
  }

  // MARK: Looking around

  /// The frame at an offset; nil where there is none with a right checksum.
  private mutating func frame(at position: UInt64) throws -> LogFrame? {
    let prefix = try bytes(at: position, count: LogFrame.headerSize)
    guard prefix.count == LogFrame.headerSize else { return nil }
    let length = prefix.withUnsafeBytes { LogFrame.field($0, 0, UInt32.self) }
    guard let size = LogFrame.size(prefix: length) else { return nil }
    let whole = try bytes(at: position, count: size)
    guard whole.count == size else { return nil }
    return whole.withUnsafeBytes { LogFrame($0, salt: salt) }
  }

  private mutating func nextFrame(
    from start: UInt64, atLeast sequence: UInt64, budget: Int?
  ) throws -> (frame: LogFrame, offset: UInt64)? {
    guard let end = try lastNonZero(from: start) else { return nil }
    var budget = budget ?? .max
    return try nextFrame(from: start, atLeast: sequence, upTo: end, budget: &budget)
  }

  /// The next frame with a right checksum from `start` on, whose sequence is `sequence` or one that may come after it.
  /// `end` is an offset behind which no frame begins. `budget` is how many bytes checksums may be made of.
  private mutating func nextFrame(
    from start: UInt64, atLeast sequence: UInt64, upTo end: UInt64, budget: inout Int
  ) throws -> (frame: LogFrame, offset: UInt64)? {
    var position = start
    // So many frames at most come between.
    let ahead = (end &- offset) / UInt64(LogFrame.headerSize) + 1
    while position < end {
      let piece = try bytes(
        at: position, count: min(LogSegmentReader.windowSize, Int(min(end - position, 1 << 30)) + 64))
      let candidate = piece.withUnsafeBytes { raw -> Int? in
        var index = 0
        while index + LogFrame.headerSize <= raw.count {
          let length = LogFrame.field(raw, index, UInt32.self)
          if LogFrame.size(prefix: length) != nil,
            LogFrame.field(raw, index + 8, UInt64.self) &- sequence <= ahead
          {
            return index
          }
          index += 1
        }
        return nil
      }
      guard let candidate else {
        if piece.count < LogFrame.headerSize { return nil }
        position += UInt64(piece.count - LogFrame.headerSize + 1)
        continue
      }
      position += UInt64(candidate)
      budget -= Int(clamping: piece.count > candidate + 4 ? LogSegmentReader.length(piece, candidate) : 0)
      if budget <= 0 { return nil }
      if let frame = try frame(at: position) { return (frame, position) }
      position += 1
    }
    return nil
  }

  private static func length(_ bytes: ArraySlice<UInt8>, _ index: Int) -> UInt32 {
    bytes.withUnsafeBytes { LogFrame.field($0, index, UInt32.self) }
  }

  /// Behind the last byte that isn't zero; nil where all are from `start` on.
  private func lastNonZero(from start: UInt64) throws -> UInt64? {
    var end = try file.information().size
    var last: UInt64?
    let pieceSize: UInt64 = 1 << 16
    // From the front, because the file may be cut while it is read.
    var position = start
    end = max(end, start)
    while position < end {
      let piece = try file.bytes(Int(min(pieceSize, end - position)), at: position)
      if piece.isEmpty { break }
      if let index = LogSegmentReader.lastNonZero(piece) { last = position + UInt64(index) + 1 }
      position += UInt64(piece.count)
    }
    return last
  }

  private func isZero(from start: UInt64) throws -> Bool { try lastNonZero(from: start) == nil }

  private static let zeros = [UInt8](repeating: 0, count: 1 << 16)

  private static func lastNonZero(_ bytes: [UInt8]) -> Int? {
    let isZero = bytes.withUnsafeBytes { bytes in
      zeros.withUnsafeBytes { memcmp(bytes.baseAddress!, $0.baseAddress!, min(bytes.count, $0.count)) == 0 }
    }
    return isZero ? nil : bytes.lastIndex { $0 != 0 }
  }

  /// `count` bytes from a position on, or as many as there are.
  private mutating func bytes(at position: UInt64, count: Int) throws -> ArraySlice<UInt8> {
    let start = position &- windowStart
    if position >= windowStart, start <= UInt64(window.count), window.count - Int(start) >= count {
      return window[Int(start)..<Int(start) + count]
    }
    window = try file.bytes(max(count, LogSegmentReader.windowSize), at: position)
    windowStart = position
    return window.prefix(count)
  }
}

/// Payloads that are shorter deflated.
enum LogCompression {
  /// Shorter ones aren't worth the time.
  private static let least = 4096
  private static let sampleSize = 4096
  /// Longer ones are never deflated, so that a few bytes can't take much memory.
  static let most = 16 << 20

  /// What the group's payload is with the flag `compressed`; nil where a sample from the middle says that it would hardly
  /// be shorter: the blocks of large changes mostly wouldn't.
  static func deflate(_ content: [UInt8]) -> [UInt8]? {
    guard content.count >= least, content.count <= most else { return nil }
    let deflater = BlockDeflater()
    let isWorthIt = content.withUnsafeBufferPointer { all in
      let middle = (all.count - sampleSize) / 2
      return deflater.deflate(
        UnsafeBufferPointer(rebasing: all[middle..<middle + sampleSize]), level: 1,
        limit: sampleSize * 3 / 4) != nil
    }
    guard isWorthIt else { return nil }
    // What it returns is the deflater's own memory.
    return withExtendedLifetime(deflater) {
      content.withUnsafeBufferPointer { all in
        deflater.deflate(all, level: 1, limit: all.count * 7 / 8).map { deflated in
          var writer = RecordWriter()
          writer.put(UInt32(content.count))
          writer.put(bytes: deflated)
          return writer.bytes
        }
      }
    }
  }

  /// nil where it can't be.
  static func inflate(_ payload: [UInt8]) -> [UInt8]? {
    guard payload.count > 4 else { return nil }
    return payload.withUnsafeBytes { raw -> [UInt8]? in
      let length = Int(LogFrame.field(raw, 0, UInt32.self))
      guard length <= most else { return nil }
      let deflated = UnsafeRawBufferPointer(rebasing: raw[4...]).bindMemory(to: UInt8.self)
      // What it returns is the inflater's own memory.
      return withExtendedLifetime(BlockInflater()) { inflater in
        (try? inflater.inflate(deflated, rawLength: length)).map { Array($0) }
      }
    }
  }
}
