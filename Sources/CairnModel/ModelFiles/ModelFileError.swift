// What reading and writing model files throws.

public import Foundation

/// A model file that can't be read or written: which file, where in it, why, and what to do about it.
public struct ModelFileError: Error, Sendable, Hashable {
  public enum Code: String, Sendable, Hashable {
    /// There is no such file or folder, or it can't be read.
    case unreadable
    /// A file of another kind.
    case unknownFormat
    /// A model by Xcode 3, which only has `elements`.
    case outdatedFormat
    /// The package has no version of that name.
    case unknownVersion
    /// Bytes that no writer of this format made.
    case corrupt
    /// More than a reader takes on: too deep, or more objects than the file has bytes for.
    case tooLarge
    /// A document that this form of file can't hold.
    case unwritable
  }

  public let code: Code
  public let file: String
  public let message: String
  /// What a person can do about it.
  public let remedy: String
  /// Of an XML file, counted from 1.
  public let line: Int?
  public let column: Int?
  /// Bytes from the start of a binary file.
  public let offset: Int?
  /// The number of an object in a compiled model's archive.
  public let object: Int?

  public init(
    _ code: Code, file: String, _ message: String, remedy: String, line: Int? = nil, column: Int? = nil,
    offset: Int? = nil, object: Int? = nil
  ) {
    self.code = code
    self.file = file
    self.message = message
    self.remedy = remedy
    self.line = line
    self.column = column
    self.offset = offset
    self.object = object
  }
}

extension ModelFileError: CustomStringConvertible, LocalizedError {
  /// What `localizedDescription` says.
  public var errorDescription: String? { description }

  public var description: String {
    var place = file
    if let line { place += ":\(line)" + (column.map { ":\($0)" } ?? "") }
    if let offset { place += " at byte \(offset)" }
    if let object { place += " in object \(object)" }
    return "\(place): \(message); \(remedy)"
  }
}
