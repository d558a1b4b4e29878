// Which bases and segments a log keeps for its history.

import CairnModel
import Foundation

struct LogRetention {
  let policy: HistoryPolicy
  let days: Double?
  /// Milliseconds since 1970.
  let now: Int64

  /// The newest base and the oldest, and between them as many.
  private static let basesBetween = 2

  init(_ options: LogStore.Options, now: Date) {
    policy = options.history
    days = options.historyDays
    self.now = now.clampedMilliseconds
  }

  /// The commit after which all are told.
  func toldAfter(_ manifest: LogManifest, newest: Int64) -> Int64 {
    let byPolicy: Int64 =
      switch policy {
      case .none: newest
      case .newest(let limit): newest - min(Int64(max(limit, 0)), newest)
      case .all: 0
      }
    return max(manifest.purgedThrough, byPolicy, manifest.segments[0].generationBefore)
  }

  /// What a manifest doesn't name any more.
  struct Dropped {
    var names: [String] = []

    /// What can't be removed stays until the store is opened again.
    func remove(_ directory: LogDirectory) {
      for name in names { try? directory.fileSystem.remove(directory.path(name)) }
    }
  }

  /// Takes out what no history needs: segments before the newest base whose commits aren't told, and bases that no
  /// segment follows. A base stays before the oldest segment, so that the state after each commit can be had.
  func prune(_ manifest: inout LogManifest, newest: Int64) -> Dropped {
    let toldAfter = toldAfter(manifest, newest: newest)
    let needed = manifest.newestBase.firstSequence
    var first = 0
    var time = Int64.min
    while manifest.segments[first].firstSequence < needed {
      time = max(time, manifest.segments[first].newestTime)
      let isTold = manifest.segments[first + 1].generationBefore > toldAfter
      let isOld = days.map { Double(now) - Double(time) > $0 * 86_400_000 } ?? false
      if isTold && !isOld { break }
      first += 1
    }
    let start = manifest.segments[first].firstSequence
    let base = manifest.bases.lastIndex { $0.firstSequence <= start } ?? 0
    var bases = Array(manifest.bases[base...])
    while bases.count > LogRetention.basesBetween + 2 {
      // The one whose neighbours are closest to each other.
      let spans = bases.indices.dropFirst().dropLast().map { place in
        (span: bases[place + 1].firstSequence - bases[place - 1].firstSequence, place: place)
      }
      bases.remove(at: spans.min { $0.span < $1.span }!.place)
    }
    let segments = manifest.segments.filter { $0.firstSequence >= bases[0].firstSequence }
    var dropped = Dropped()
    dropped.names += manifest.bases.filter { !bases.contains($0) }.map { LogNames.base($0.number) }
    dropped.names += manifest.segments.filter { !segments.contains($0) }.map { LogNames.segment($0.number) }
    manifest.bases = bases
    manifest.segments = segments
    return dropped
  }
}
