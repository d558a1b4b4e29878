// How long bytes would be as a payload, to choose between forms.

/// Confined to its encoder.
final class SizeMeasure {
  private let deflater: BlockDeflater
  private let sink = ByteSink()
  private let level: Int

  init(effort: EncodingEffort, deflater: BlockDeflater) {
    self.deflater = deflater
    level = effort == .smallest ? 6 : 1
  }

  /// The length of what `body` writes, after deflating where that is shorter.
  func callAsFunction(_ body: (ByteSink) -> Void) -> Int {
    sink.removeAll()
    body(sink)
    return deflater.deflate(sink.buffer, level: level, limit: sink.count)?.count ?? sink.count
  }
}
