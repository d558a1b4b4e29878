// What an encoder hands out, and what a decoder needs besides the bytes.

/// How the bytes of a payload are stored.
package enum BlockCodec: UInt8, Sendable {
  case stored = 0
  /// Raw deflate (RFC 1951).
  case deflate = 1
}

/// How much time an encoder takes to make a block small.
package enum EncodingEffort: Sendable, CaseIterable {
  /// No candidate is tried and nothing deflated: one look at the values says the form. For a log, whose bytes
  /// are written anew soon.
  case untried
  /// No candidate is tried: one look at the values says the form, and their bytes get Huffman codes, or deflate at
  /// level 1 where they are many. For blocks in which little has changed, and which the next change replaces.
  case quick
  /// Few candidates, deflate at level 1.
  case fastest
  /// Most candidates, tried on a sample of the rows; deflate at level 6.
  case `default`
  /// All candidates, the best of them measured on all rows; deflate at level 9 with three strategies.
  case smallest
}

extension EncodingEffort {
  /// Whether candidates are tried.
  var triesForms: Bool { self != .untried && self != .quick }
}

/// The values of one slot for the rows of a row group, as bytes. `Formats/encodings.md` says which.
package struct EncodedBlock: Equatable, Sendable {
  /// The payload as stored.
  package let bytes: [UInt8]
  package let codec: BlockCodec
  /// How long the payload is after inflating; `bytes.count` where it is stored.
  package let rawLength: Int
}

/// What a decoder lets a payload cost.
package struct DecodingLimits: Sendable {
  /// The longest payload after inflating.
  package var rawLength: Int
  /// Whether texts may grow out of their common fronts, to 64 times what they take in the payload.
  package var allowsFronts: Bool
  /// The most rows that a block may have, all parts together. A dictionary's codes are 16 bits wide.
  package static let rows = 65_535

  package init(rawLength: Int = 1 << 30, allowsFronts: Bool = true) {
    self.rawLength = rawLength
    self.allowsFronts = allowsFronts
  }
}
