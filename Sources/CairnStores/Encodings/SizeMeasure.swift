// How long bytes would be as a payload, to choose between forms.

import Foundation

/// Confined to its encoder.
final class SizeMeasure {
  private let deflater: BlockDeflater
  /// One for each measure that is under way: what is measured may itself choose by measuring.
  private var sinks: [ByteSink] = []
  private var depth = 0
  /// nil where nothing is deflated to see.
  private let level: Int?
  /// Whether what Huffman codes would take is counted from how often bytes occur.
  private let countsBytes: Bool

  init(effort: EncodingEffort, deflater: BlockDeflater) {
    self.deflater = deflater
    level = effort.triesForms ? (effort == .smallest ? 6 : 1) : nil
    countsBytes = effort == .quick
  }

  /// The length of what `body` writes, after deflating where that is shorter.
  func callAsFunction(_ body: (ByteSink) -> Void) -> Int {
    if depth == sinks.count { sinks.append(ByteSink()) }
    let sink = sinks[depth]
    sink.removeAll()
    depth += 1
    body(sink)
    depth -= 1
    guard let level else { return countsBytes ? SizeMeasure.codedLength(sink.buffer) : sink.count }
    return deflater.deflate(sink.buffer, level: level, limit: sink.count)?.count ?? sink.count
  }

  /// What the bytes take with codes as long as they are rare, and the table of those; no more than they take as they
  /// are.
  private static func codedLength(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    withUnsafeTemporaryAllocation(of: Int32.self, capacity: 256) { counts in
      counts.initialize(repeating: 0)
      for byte in bytes { counts[Int(byte)] &+= 1 }
      var bits = 0.0
      var kinds = 0
      for count in counts where count > 0 {
        bits += Double(count) * (log2(Double(bytes.count)) - log2(Double(count)))
        kinds += 1
      }
      return min(Int(bits / 8) + kinds / 2 + 16, bytes.count)
    }
  }
}
