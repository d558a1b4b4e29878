// Where in a log's segments which transaction is: a place every so many bytes, so that memory stays small.

import CairnModel

/// Places of transactions, from which reading can begin.
final class LogIndex: Sendable {
  struct Place: Sendable {
    var generation: Int64
    var sequence: UInt64
    var offset: UInt64
  }

  /// Ascending, by number of the segment.
  private let places = Lock<[UInt64: [Place]]>([:])

  /// How many bytes lie between two places at least.
  static let spacing: UInt64 = 1 << 16

  func note(_ group: LogGroup, in segment: UInt64) {
    note(
      Place(generation: group.generation, sequence: group.firstSequence, offset: group.offset), in: segment)
  }

  /// Places of one segment come in order, or are known already.
  func note(_ place: Place, in segment: UInt64) {
    places.withLock { places in
      if let last = places[segment]?.last, place.offset < last.offset + LogIndex.spacing { return }
      places[segment, default: []].append(place)
    }
  }

  /// The last known place at or before a transaction; nil for the beginning of the segment.
  func place(of generation: Int64, in segment: UInt64) -> Place? {
    places.withLock { $0[segment]?.last { $0.generation <= generation } }
  }

  func keepOnly(_ segments: some Sequence<UInt64>) {
    let kept = Set(segments)
    places.withLock { $0 = $0.filter { kept.contains($0.key) } }
  }
}
