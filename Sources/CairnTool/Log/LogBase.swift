// Where the objects of a log are whose transactions aren't kept: in an archive inside of it.

import Cairn

/// A base archive of a log, and what it stands for.
struct LogBase: Encodable {
  /// The file's name in the log.
  let base: String
  /// The last commit that is in it, and can't be listed.
  let keptAfter: Int64
  let rows: Int
  /// When it was written.
  let time: String

  /// That with the objects of the commits which aren't kept. Throws what reading it throws.
  init(ofLogAt path: String, keptAfter: Int64) throws {
    let bases = try LogSummary(ofLogAt: path).bases
    guard let base = bases.last(where: { $0.generation <= keptAfter }) ?? bases.first else {
      throw InputError("\(path) has no base archive")
    }
    let archive = try ArchiveSummary(
      ofArchiveAt: URL(fileURLWithPath: path).appendingPathComponent(base.name).path)
    self.base = base.name
    self.keptAfter = keptAfter
    rows = archive.tables.filter(\.isEntity).reduce(0) { $0 + $1.rows }
    time = DateText.rounded(archive.saved)
  }

  var text: String {
    "transactions up to \(keptAfter) aren't kept: the objects as of then, \(Console.grouped(rows)), are in the base "
      + "archive \(base), written at \(time)"
  }
}
