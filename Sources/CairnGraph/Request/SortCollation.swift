// How strings are put in order: the selectors that a sort descriptor may name.

import CairnModel
import Foundation

/// An order of strings.
enum SortCollation: Sendable, Hashable, CaseIterable {
  /// The one order of strings (StringOrder).
  case plain
  /// The same without regard to case.
  case caseInsensitive
  /// By the rules of the current locale.
  case localized
  case localizedCaseInsensitive
  /// As a file manager lists names: runs of digits by their number.
  case localizedStandard

  /// nil for a selector that isn't one of an order.
  init?(_ selector: Selector?) {
    switch selector {
    case nil, .compare: self = .plain
    case .caseInsensitiveCompare: self = .caseInsensitive
    case .localizedCompare: self = .localized
    case .localizedCaseInsensitiveCompare: self = .localizedCaseInsensitive
    case .localizedStandardCompare: self = .localizedStandard
    default: return nil
    }
  }

  /// Negative, zero or positive.
  func compare(_ a: String, _ b: String) -> Int {
    switch self {
    case .plain: StringOrder.compare(a, b)
    case .caseInsensitive:
      StringOrder.compare(
        a.folding(options: .caseInsensitive, locale: nil), b.folding(options: .caseInsensitive, locale: nil))
    case .localized: a.localizedCompare(b).rawValue
    case .localizedCaseInsensitive: a.localizedCaseInsensitiveCompare(b).rawValue
    case .localizedStandard: a.localizedStandardCompare(b).rawValue
    }
  }

  /// Strings by this order, everything else by the one order of values.
  func compare(_ a: Value, _ b: Value) -> Int {
    if self != .plain, case .string(let x) = a, case .string(let y) = b { return compare(x, y) }
    return Value.compare(a, b)
  }
}
