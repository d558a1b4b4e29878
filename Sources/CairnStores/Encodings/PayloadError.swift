// Why bytes aren't a block of values. Whoever reads a file adds which file, where in it, and whose column.

/// What is wrong with a payload, and where in it.
package struct PayloadError: Error, Equatable, CustomStringConvertible {
  package let what: String
  /// In the payload as stored if `isInflated` is false, else in the payload after inflating.
  package let byteOffset: Int
  package var isInflated = true

  package var description: String {
    "\(what), at byte \(byteOffset) of the payload\(isInflated ? "" : " as stored")"
  }
}
