// What reading an archive may cost: objects may be referred to any number of times, so that a small file could stand
// for more than memory holds.

/// Counts what is taken out of an archive, each time that it is: one for an object, a member of a list or a text, and
/// one more for every 16 bytes of the text.
///
/// An honest file has at least seven bytes for each reference (its place in a list, the reference itself and its place
/// in the file), so that the file's bytes are enough.
final class ArchiveCost {
  private let file: String
  private let limit: Int
  private(set) var spent = 0

  init(limit: Int, file: String) {
    self.limit = limit
    self.file = file
  }

  /// Throws `tooLarge` beyond the limit. `object` is the one that is blamed.
  func charge(_ count: Int, object: Int?) throws {
    spent += count
    if spent > limit {
      throw ModelFileError(
        .tooLarge, file: file,
        "its objects are referred to so often that they stand for far more than the file",
        remedy: "compile the model again from its source", object: object)
    }
  }

  func charge(_ text: String, object: Int?) throws {
    try charge(1 + text.utf8.count / 16, object: object)
  }
}
