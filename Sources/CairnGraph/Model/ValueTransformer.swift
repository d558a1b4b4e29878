// `ValueTransformer`, which Foundation has on Apple's platforms only, and the names it registers under.

#if !canImport(Darwin)
  import CairnModel
  public import Foundation

  /// The name of a registered value transformer.
  public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
    public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
    public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
    public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
    public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName(
      "NSKeyedUnarchiveFromData")
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
      "NSSecureUnarchiveFromData")
  }

  /// Turns values of one class into values of another, and perhaps back.
  ///
  /// A transformer is registered under a name before the model that names it is used, and may be called from any
  /// queue, several at once: subclasses keep no state that changes.
  open class ValueTransformer: NSObject, NamedValueTransformer {
    public required override init() {}

    /// The class of what `transformedValue` returns.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    open class func allowsReverseTransformation() -> Bool { false }

    /// The value as it is given, until a subclass says otherwise.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// What `transformedValue` turns into `value`. A transformer that doesn't go back has none: asking it is a
    /// programmer error.
    open func reverseTransformedValue(_ value: Any?) -> Any? {
      guard type(of: self).allowsReverseTransformation() else {
        fatalError("\(type(of: self)) doesn't allow reverse transformation: override it and say that it does")
      }
      return transformedValue(value)
    }

    /// Registers a transformer under a name; nil takes the name back.
    public class func setValueTransformer(
      _ transformer: ValueTransformer?, forName name: NSValueTransformerName
    ) {
      ValueTransformerTable.shared.withLock { $0[name] = transformer.map(ValueTransformerTable.Entry.init) }
    }

    /// The names that transformers are registered under, the built-in ones first, then in alphabetical order.
    public class func valueTransformerNames() -> [NSValueTransformerName] {
      let registered = ValueTransformerTable.shared.withLock { Array($0.keys) }
      let builtIn = BuiltInTransformers.names
      return builtIn
        + registered.filter { !builtIn.contains($0) }.sorted { $0.rawValue < $1.rawValue }
    }
  }

  /// What gives `ValueTransformer` its initialiser by name, which returns the one that is registered.
  public protocol NamedValueTransformer {}

  extension NamedValueTransformer where Self: ValueTransformer {
    /// The transformer that is registered under the name, or else one of the class of that name; nil if there is
    /// neither, or it isn't of the class that is asked.
    public init?(forName name: NSValueTransformerName) {
      guard let found = ValueTransformerTable.transformer(named: name) as? Self else { return nil }
      self = found
    }
  }

  /// The registered transformers.
  private enum ValueTransformerTable {
    /// Sendable: a registered transformer may be called from any queue, as its class says.
    struct Entry: @unchecked Sendable {
      let transformer: ValueTransformer
    }

    static let shared = Lock<[NSValueTransformerName: Entry]>([:])

    static func transformer(named name: NSValueTransformerName) -> ValueTransformer? {
      if let found = shared.withLock({ $0[name] }) { return found.transformer }
      if let builtIn = BuiltInTransformers.make(name) { return builtIn }
      return (NSClassFromString(name.rawValue) as? ValueTransformer.Type)?.init()
    }
  }

  /// The transformers that are there without anybody registering them.
  private enum BuiltInTransformers {
    static let names: [NSValueTransformerName] = [
      .negateBooleanTransformerName, .isNilTransformerName, .isNotNilTransformerName,
      .unarchiveFromDataTransformerName, .keyedUnarchiveFromDataTransformerName,
      .secureUnarchiveFromDataTransformerName,
    ]

    static func make(_ name: NSValueTransformerName) -> ValueTransformer? {
      switch name {
      case .negateBooleanTransformerName: NegateBoolean()
      case .isNilTransformerName: IsNil(expected: true)
      case .isNotNilTransformerName: IsNil(expected: false)
      case .unarchiveFromDataTransformerName, .keyedUnarchiveFromDataTransformerName,
        .secureUnarchiveFromDataTransformerName:
        NSSecureUnarchiveFromDataTransformer()
      default: nil
      }
    }
  }

  private final class NegateBoolean: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSNumber.self }
    override class func allowsReverseTransformation() -> Bool { true }

    override func transformedValue(_ value: Any?) -> Any? {
      NSNumber(value: !((value as? NSNumber)?.boolValue ?? false))
    }
  }

  private final class IsNil: ValueTransformer {
    private let expected: Bool

    init(expected: Bool) { self.expected = expected }
    required init() { expected = true }

    override class func transformedValueClass() -> AnyClass { NSNumber.self }

    override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: (value == nil) == expected) }
  }

  /// From data to what was archived in it, and back.
  ///
  /// Back, a property list becomes a binary property list, and any other object that supports secure coding a keyed
  /// archive. Subclasses name the classes that may be at the top of an archive.
  open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    open class var allowedTopLevelClasses: [AnyClass] {
      [
        NSArray.self, NSDictionary.self, NSSet.self, NSOrderedSet.self, NSString.self, NSNumber.self,
        NSDate.self, NSData.self, NSURL.self, NSUUID.self, NSNull.self,
      ]
    }

    public override class func allowsReverseTransformation() -> Bool { true }

    /// nil for nil, and for bytes that are no archive of the allowed classes.
    open override func transformedValue(_ value: Any?) -> Any? {
      guard let data = value as? Data else { return nil }
      return ArchivedObject.read(data, allowed: type(of: self).allowedTopLevelClasses)
    }

    /// nil for nil, and for what can't be archived.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
      value.flatMap(ArchivedObject.write)
    }
  }
#endif
