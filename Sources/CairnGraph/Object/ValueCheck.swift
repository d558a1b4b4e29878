// One validation predicate of an attribute, with the error code that Core Data has for its kind.

import CairnModel
import Foundation

/// A condition on an attribute's value.
struct ValueCheck {
  struct Failure {
    let code: Int
    let reason: String
    let predicate: NSPredicate
  }

  private let predicate: NSPredicate
  private let warning: String?

  static func all(_ attribute: NSAttributeDescription) -> [ValueCheck] { [] }

  /// What is wrong with the value, or nil.
  func failure(_ value: Any) -> Failure? {
    nil
  }
}
