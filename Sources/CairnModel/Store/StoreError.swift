// What a store throws: one error type that says what went wrong, where, and what to do about it.

public import Foundation

/// An error of a store, of a request, or of a change set.
///
/// Switch on `code`, which is open: later versions add codes. Two errors are equal when their codes are, so a
/// test can construct the one it expects. `description` holds no values of the user's rows except the one
/// that the sentence is about.
public struct StoreError: Error, Sendable {
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Name: String, Sendable {
      case unknownEntity, abstractEntity, unknownProperty, wrongType, unknownKey, duplicateKey,
        danglingReference
      case foreignSnapshot, unbindablePredicate, unsupportedRequest, malformedChangeSet, storeClosed
      case historyPurged, corrupt, incompatibleSchema, fileSystem, locked, outcomeUnknown
    }

    private let name: Name
    private init(_ name: Name) { self.name = name }

    public var description: String { name.rawValue }

    /// No entity of that name or id in the store's schema.
    public static let unknownEntity = Code(.unknownEntity)
    /// A row of an abstract entity was asked for or inserted.
    public static let abstractEntity = Code(.abstractEntity)
    /// No slot or relationship of that name on the entity.
    public static let unknownProperty = Code(.unknownProperty)
    /// A value that the slot's type can't hold.
    public static let wrongType = Code(.wrongType)
    /// A key that this store never reserved, or of another hierarchy.
    public static let unknownKey = Code(.unknownKey)
    /// A key that is used already, in the store or twice in one change set.
    public static let duplicateKey = Code(.duplicateKey)
    /// A relationship to a row that isn't there after the commit.
    public static let danglingReference = Code(.danglingReference)
    /// A snapshot of another store.
    public static let foreignSnapshot = Code(.foreignSnapshot)
    /// A predicate whose names or types don't fit the entity.
    public static let unbindablePredicate = Code(.unbindablePredicate)
    /// A request that this kind of store can't answer.
    public static let unsupportedRequest = Code(.unsupportedRequest)
    /// A change set whose parts contradict each other.
    public static let malformedChangeSet = Code(.malformedChangeSet)
    public static let storeClosed = Code(.storeClosed)
    /// History older than what the store keeps.
    public static let historyPurged = Code(.historyPurged)
    /// Bytes that no writer of this format made.
    public static let corrupt = Code(.corrupt)
    /// A store that was made with another version of the model.
    public static let incompatibleSchema = Code(.incompatibleSchema)
    /// The operating system refused.
    public static let fileSystem = Code(.fileSystem)
    /// Someone else writes to the store: another process, or another store object of this one.
    public static let locked = Code(.locked)
    /// It was done, but whether it survives a power cut isn't known. The store has to be opened again to go on.
    public static let outcomeUnknown = Code(.outcomeUnknown)
  }

  public let code: Code
  public let message: String
  public let entity: String?
  public let property: String?
  public let file: String?
  /// Bytes from the start of `file`.
  public let offset: UInt64?
  /// What a person can do about it.
  public let remedy: String?
  /// The operating system's number for its reason (`errno`), where it gave one.
  public let systemError: Int32?

  public init(
    _ code: Code, _ message: String, entity: String? = nil, property: String? = nil, file: String? = nil,
    offset: UInt64? = nil, remedy: String? = nil, systemError: Int32? = nil
  ) {
    self.code = code
    self.message = message
    self.entity = entity
    self.property = property
    self.file = file
    self.offset = offset
    self.remedy = remedy
    self.systemError = systemError
  }
}

extension StoreError: Equatable {
  public static func == (a: StoreError, b: StoreError) -> Bool { a.code == b.code }
}

extension StoreError: CustomStringConvertible, LocalizedError {
  /// What `localizedDescription` says.
  public var errorDescription: String? { description }

  public var description: String {
    var place: [String] = []
    if let file { place.append(file + (offset.map { " at byte \($0)" } ?? "")) }
    if let entity { place.append(entity + (property.map { ".\($0)" } ?? "")) }
    let head = place.isEmpty ? "" : place.joined(separator: ", ") + ": "
    return "\(code): \(head)\(message)" + (remedy.map { "; \($0)" } ?? "")
  }
}
