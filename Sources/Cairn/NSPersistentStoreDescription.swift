// What a container is told about the store it is to open.

public import Foundation

/// A store to open: what type, and where.
///
/// Not Sendable: make it where the container is made.
open class NSPersistentStoreDescription: NSObject {
  /// In memory for `/dev/null` and without a URL. A URL of a real file makes it `NSSQLiteStoreType`, as Core
  /// Data has it; there is no such store yet, so that loading it throws instead of losing what is saved.
  public final var type: String
  public final var url: URL?
  public final var configuration: String?
  private final var givenOptions: [String: NSObject] = [:]

  public init(url: URL) {
    self.url = url
    type = url.path == "/dev/null" ? NSInMemoryStoreType : NSSQLiteStoreType
  }

  public convenience override init() {
    self.init(url: URL(fileURLWithPath: "/dev/null"))
  }

  public final var options: [String: NSObject] { givenOptions }

  /// Sets an option, or removes it when `option` is nil.
  public final func setOption(_ option: NSObject?, forKey key: String) {
    givenOptions[key] = option
  }
}
