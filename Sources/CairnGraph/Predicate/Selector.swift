// The name of a method, for what takes one in Core Data. Off Apple's platforms there are no selectors, so a name
// is all that it is; what it leads to is found in tables (PredicateSelectors, KeyedMembers, SortOrder).

import Foundation

/// A method's name with its colons, as `"localizedStandardCompare:"`.
///
/// Stands for the type that doesn't exist off Apple's platforms: `#selector(NSString.compare(_:))` doesn't
/// compile there, `.compare` and `"compare:"` do.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  public let name: String

  public init(_ name: String) { self.name = name }
  public init(stringLiteral name: String) { self.init(name) }

  public var description: String { name }
}

extension Selector {
  /// The order of values: what a sort descriptor without a selector uses.
  public static let compare = Selector("compare:")
  public static let caseInsensitiveCompare = Selector("caseInsensitiveCompare:")
  public static let localizedCompare = Selector("localizedCompare:")
  public static let localizedCaseInsensitiveCompare = Selector("localizedCaseInsensitiveCompare:")
  public static let localizedStandardCompare = Selector("localizedStandardCompare:")
}

public func NSStringFromSelector(_ selector: Selector) -> String { selector.name }
public func NSSelectorFromString(_ name: String) -> Selector { Selector(name) }
