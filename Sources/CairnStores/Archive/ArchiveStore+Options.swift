// How archives are opened and made.

public import CairnModel
public import Foundation

extension ArchiveStore {
  /// How an archive is opened.
  public struct Options: Sendable {
    /// Nothing is written then, not even a lock.
    public var isReadOnly = false
    public var profile = Profile.default
    /// How many bytes of decoded columns stay in memory that nobody holds.
    public var cacheBudget = 256 << 20
    public var history = HistoryPolicy.none
    /// A whole footer shorter than this, in bytes, is written with each save.
    package var leastFooter = 1024
    /// Values of so many bytes or more are kept apart, where the attribute allows external storage.
    package var leastBlob = ArchiveBlob.leastSize
    /// Blocks of columns aren't longer than so many bytes before they are deflated: readers refuse longer ones.
    package var longestBlock = DecodingLimits().rawLength

    public init() {}
  }

  /// How much time saves take to make the file small.
  public enum Profile: String, Sendable, CaseIterable {
    case fastest, `default`, smallest

    var effort: EncodingEffort {
      switch self {
      case .fastest: .fastest
      case .default: .default
      case .smallest: .smallest
      }
    }
  }

  /// What a new archive is made with.
  public struct Model: Sendable {
    public let schema: Schema
    /// The model as the text of Xcode's `contents` file, so that the archive opens without it.
    public var source: String?
    public var versionHashes: [String: Data] = [:]
    public var versionIdentifiers: [String] = []

    public init(schema: Schema) { self.schema = schema }
  }
}
