// A store's options as callers give them, read once in one way.

import Foundation

/// Reads options whose values are Swift's own or NSNumbers.
struct StoreOptions {
  private let values: [AnyHashable: Any]

  init(_ values: [AnyHashable: Any]?) { self.values = values ?? [:] }

  /// Whether an option is set and true.
  func flag(_ key: String) -> Bool {
    switch values[key] {
    case let flag as Bool: flag
    case let number as NSNumber: number.boolValue
    default: false
    }
  }
}
