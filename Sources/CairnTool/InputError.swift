// What the tool says of input that it can't use.

/// Input that can't be used: a sentence, and the exit code of sysexits.h.
struct InputError: Error, CustomStringConvertible {
  let description: String
  let exitCode: Int32

  /// 65: the input makes no sense. 66: it can't be read.
  init(_ description: String, _ exitCode: Int32 = 65) {
    self.description = description
    self.exitCode = exitCode
  }
}
