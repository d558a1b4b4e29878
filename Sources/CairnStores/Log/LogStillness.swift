// What a follower remembers of its last look, so that a look at a log that nobody writes to costs three calls and a page.

import CairnModel
import Foundation

/// What a whole look found that found nothing new: short looks only ask whether that is still so.
///
/// A whole look reads the manifest, and the segment from the place of the next frame up to its end, which may be a
/// megabyte of zeros. A short one compares the segment's size, the page that begins at that place, and which file the
/// manifest is.
///
/// **No whole frame is missed.** Behind the last frame are zeros. A frame begins with its length, which is never zero,
/// so the page changes at the latest when the frame is whole. What is written in parts, in any order, may be seen
/// behind zeros before that, or behind a beginning that stays as it is: that is no frame yet, and what a whole look
/// would find there, a torn tail, is waited for as well. A frame that begins as it should and isn't whole may become
/// whole far behind its first page. So a torn tail gets short looks only when many whole ones have found it
/// the same, which is one that its writer died over, and whole ones in between soon.
///
/// **Damage is found.** Of what was acknowledged, whatever it is, a frame may be gone with its whole page, and others that
/// prove that it was there may stand behind it: then nothing changes where a short look looks. So not more than so many
/// follow on each other; and a writer that goes on changes the size before long, when what it keeps ready is used up, or
/// the manifest, by a checkpoint or at its close.
///
/// **The manifest is the same file** as long as its name leads to the one that is held open here: a number isn't given to
/// another file before that. It is replaced and never written to; who does that all the same, by copying over it, is noticed
/// by the size or by the next whole look.
struct LogStillness {
  /// What a look sees of a segment.
  struct Place: Equatable {
    var offset: UInt64
    /// Of the file.
    var size: UInt64
    /// What stands at `offset`, up to the end of the file or the page's length.
    var page: [UInt8]

    static let pageSize = 4096

    init(of file: any OpenFile, at offset: UInt64) throws {
      self.offset = offset
      size = try file.information().size
      page = offset < size ? try file.bytes(Place.pageSize, at: offset) : []
    }

    /// The same place of the file where nothing but zeros begins at `offset`.
    func zeros(from offset: UInt64) -> Place {
      var place = self
      place.offset = offset
      let rest = size > offset ? size - offset : 0
      place.page = [UInt8](repeating: 0, count: min(Place.pageSize, Int(clamping: rest)))
      return place
    }
  }

  /// How many short looks follow on each other.
  static let shortLooks = 255
  /// The same where a torn tail is there, and how many whole looks have to find it first.
  static let shortLooksAtTorn = 15
  static let wholeLooksAtTorn = 16

  private let place: Place
  private let isTorn: Bool
  private let manifest: any OpenFile
  private let identity: FileInformation
  private var wholeLooks = 1
  private var looksLeft: Int

  /// What a whole look found; nil where the next has to be a whole one again. `place` was read before it, `offset` is
  /// where its reader stopped and `manifest` the file that it read.
  init?(
    _ stop: LogSegmentReader.Step, _ place: Place, offset: UInt64, manifest: any OpenFile,
    after last: LogStillness?
  ) throws {
    switch stop {
    case .end:
      self.place = place.zeros(from: offset)
      isTorn = false
      looksLeft = LogStillness.shortLooks
    case .torn where offset == place.offset:
      self.place = place
      isTorn = true
      if let last, last.isTorn, last.place == place { wholeLooks = last.wholeLooks + 1 }
      looksLeft = wholeLooks < LogStillness.wholeLooksAtTorn ? 0 : LogStillness.shortLooksAtTorn
    case .torn, .damaged, .group: return nil
    }
    self.manifest = manifest
    identity = try manifest.information()
  }

  /// Whether a short look is enough, and finds what was there at the last whole one. `place` is what it sees.
  mutating func lasts(_ place: Place, _ directory: LogDirectory) throws -> Bool {
    guard looksLeft > 0, place == self.place,
      let present = try directory.fileSystem.information(directory.path(LogNames.manifest)),
      present.isSameFile(as: identity), present.size == identity.size
    else { return false }
    looksLeft -= 1
    return true
  }
}
