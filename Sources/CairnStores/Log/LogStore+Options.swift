// How a log is opened.

public import CairnModel
public import Foundation

extension LogStore {
  /// What is on the medium when a save returns.
  public enum Durability: String, Sendable, CaseIterable {
    /// Everything: a save that returned is there after a power cut too.
    case full
    /// A crash of the program loses nothing. A power cut loses at most what was saved in the last second or so, and
    /// never more than the newest saves: what is there afterwards is the state after some save.
    case normal
    /// A crash of the program loses nothing. A power cut may lose any number of the newest saves since the last
    /// checkpoint or close.
    case off
  }

  public struct Options: Sendable {
    /// Nothing is written then, not even a lock.
    public var isReadOnly = false
    public var durability = Durability.full
    /// How much time checkpoints take to make their files small.
    public var profile = ArchiveStore.Profile.default
    /// How many bytes of decoded columns of the last checkpoint stay in memory that nobody holds.
    public var cacheBudget = 256 << 20
    /// Which commits `history(after:)` tells. Those that it tells aren't removed by checkpoints.
    public var history = HistoryPolicy.none
    /// How long commits are kept that `history` would keep, in days; nil for ever. They are let go at a checkpoint or
    /// later, oldest first; a commit is as old as the newest of the clock's times up to it, so a clock that ran
    /// ahead keeps them longer.
    public var historyDays: Double?
    /// How long opening waits for another writer to close, in seconds.
    public var lockTimeout: TimeInterval = 0
    /// Opens the state after this commit, for reading only; nil for the newest.
    public var upTo: Int64?

    /// When checkpoints are made without being asked for.
    package enum Checkpoints: Sendable {
      /// On a queue of their own, when the frames since the last are longer than it, and at closing.
      case automatic
      /// At the same time, by the commit that is one too many.
      case inline
      case never
    }
    package var checkpoints = Checkpoints.automatic
    /// A checkpoint isn't made for fewer bytes of frames.
    package var leastTail: UInt64 = 4 << 20
    package var preallocation = 1 << 20
    package var keySlack: Int64 = 1024
    /// After how many seconds without a save what was saved is synced where that wasn't done before, and said to be
    /// durable in a frame of its own; nil for never.
    package var idleInterval: Double? = 1

    public init() {}
  }
}
