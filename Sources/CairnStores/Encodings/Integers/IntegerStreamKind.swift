// The forms in which a stream of integers may be written. `Formats/encodings.md` specifies them.

/// The first byte of a stream of integers. Forms that hold other streams make up the rest: a dictionary whose
/// values are delta-coded and whose codes are packed in bits is three of them.
enum IntegerStreamKind: UInt8 {
  /// One value.
  case constant = 1
  /// Offsets from a base, each in 1 to 8 bytes.
  case frame = 2
  /// Offsets from a base in 2 to 8 bytes, all lowest bytes first.
  case planes = 3
  /// Offsets from a base in 1 to 56 bits.
  case bits = 4
  /// Zigzag varints.
  case varints = 5
  /// The first value, and a stream of differences.
  case delta = 6
  /// A stream of values and one of how often each is repeated.
  case runs = 7
  /// A stream of distinct values, and one of indexes into it.
  case dictionary = 8
  /// A base, a factor, and a stream of multiples.
  case scaled = 9
  /// A stream, and a list of places where another value stands.
  case patched = 10

  /// How deep streams may be nested in each other.
  static let depth = 5
}
