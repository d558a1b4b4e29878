// How long bytes would be as a payload, to choose between forms.

/// Confined to its encoder.
final class SizeMeasure {
  private let deflater: BlockDeflater
  /// One for each measure that is under way: what is measured may itself choose by measuring.
  private var sinks: [ByteSink] = []
  private var depth = 0
  /// nil where nothing is deflated.
  private let level: Int?

  init(effort: EncodingEffort, deflater: BlockDeflater) {
    self.deflater = deflater
    level = effort == .untried ? nil : effort == .smallest ? 6 : 1
  }

  /// The length of what `body` writes, after deflating where that is shorter.
  func callAsFunction(_ body: (ByteSink) -> Void) -> Int {
    if depth == sinks.count { sinks.append(ByteSink()) }
    let sink = sinks[depth]
    sink.removeAll()
    depth += 1
    body(sink)
    depth -= 1
    guard let level else { return sink.count }
    return deflater.deflate(sink.buffer, level: level, limit: sink.count)?.count ?? sink.count
  }
}
