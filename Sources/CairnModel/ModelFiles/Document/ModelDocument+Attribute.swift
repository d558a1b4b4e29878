// Attributes of a model file, and the elements of composites, which are attributes too.

extension ModelDocument {
  /// The types of attributes, with the numbers of `NSAttributeType`.
  public enum AttributeKind: Int, Sendable, Hashable, CaseIterable {
    case undefined = 0
    case integer16 = 100
    case integer32 = 200
    case integer64 = 300
    case decimal = 400
    case double = 500
    case float = 600
    case string = 700
    case boolean = 800
    case date = 900
    case binaryData = 1000
    case uuid = 1100
    case uri = 1200
    case transformable = 1800
    case objectID = 2000
    case composite = 2100
  }

  public struct Attribute: Sendable, Hashable {
    public var name: String
    public var kind: AttributeKind
    public var isOptional: Bool
    public var isTransient: Bool
    /// nil where the file doesn't say.
    public var usesScalarValueType: Bool?
    /// Of the attribute's type; null for none.
    public var defaultValue: Value
    public var validation: Validation
    public var allowsExternalBinaryDataStorage: Bool
    public var preservesValueInHistoryOnDeletion: Bool
    public var isIndexedBySpotlight: Bool
    public var allowsCloudEncryption: Bool
    public var isStoredInTruthFile: Bool
    /// The mark for an index that Xcode 8 and earlier wrote.
    public var isIndexed: Bool
    public var isSyncable: Bool
    public var valueTransformerName: String?
    /// The class of a transformable attribute's values.
    public var customClassName: String?
    public var customClassModule: String?
    /// What a derived attribute is computed from; nil for an attribute that is set.
    public var derivation: Derivation?
    /// The document's composite that this attribute's elements are listed in.
    public var compositeName: String?
    /// The elements themselves, where they have no name of their own: in compiled models.
    public var elements: [Attribute]
    /// nil where it is the name.
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    public var userInfo: [String: String]

    public init(
      _ name: String, _ kind: AttributeKind, isOptional: Bool = false, isTransient: Bool = false,
      usesScalarValueType: Bool? = nil, defaultValue: Value = .null, validation: Validation = Validation(),
      allowsExternalBinaryDataStorage: Bool = false, preservesValueInHistoryOnDeletion: Bool = false,
      isIndexedBySpotlight: Bool = false, allowsCloudEncryption: Bool = false,
      isStoredInTruthFile: Bool = false, isIndexed: Bool = false, isSyncable: Bool = false,
      valueTransformerName: String? = nil, customClassName: String? = nil, customClassModule: String? = nil,
      derivation: Derivation? = nil, compositeName: String? = nil, elements: [Attribute] = [],
      renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:]
    ) {
      self.name = name
      self.kind = kind
      self.isOptional = isOptional
      self.isTransient = isTransient
      self.usesScalarValueType = usesScalarValueType
      self.defaultValue = defaultValue
      self.validation = validation
      self.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
      self.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
      self.isIndexedBySpotlight = isIndexedBySpotlight
      self.allowsCloudEncryption = allowsCloudEncryption
      self.isStoredInTruthFile = isStoredInTruthFile
      self.isIndexed = isIndexed
      self.isSyncable = isSyncable
      self.valueTransformerName = valueTransformerName
      self.customClassName = customClassName
      self.customClassModule = customClassModule
      self.derivation = derivation
      self.compositeName = compositeName
      self.elements = elements
      self.renamingIdentifier = renamingIdentifier
      self.versionHashModifier = versionHashModifier
      self.userInfo = userInfo
    }
  }

  /// What a value has to satisfy. Each part is one validation predicate, in this order: minimum, maximum,
  /// regular expression, then the others.
  public struct Validation: Sendable, Hashable {
    /// Of the attribute's type; null for none. Not for strings.
    public var minimum: Value
    public var maximum: Value
    /// Of a string, in characters.
    public var minimumLength: Int?
    public var maximumLength: Int?
    /// A string matches it as a whole.
    public var regularExpression: String?
    /// Conditions that only code, or a compiled model, can set.
    public var others: [Condition]

    public struct Condition: Sendable, Hashable {
      /// Format text; SELF is the value.
      public var predicate: String
      /// What is said of a value that fails: a sentence, or an error code in digits.
      public var warning: String?

      public init(_ predicate: String, warning: String? = nil) {
        self.predicate = predicate
        self.warning = warning
      }
    }

    public init(
      minimum: Value = .null, maximum: Value = .null, minimumLength: Int? = nil, maximumLength: Int? = nil,
      regularExpression: String? = nil, others: [Condition] = []
    ) {
      self.minimum = minimum
      self.maximum = maximum
      self.minimumLength = minimumLength
      self.maximumLength = maximumLength
      self.regularExpression = regularExpression
      self.others = others
    }

    public var isEmpty: Bool { self == Validation() }
  }

  public struct Derivation: Sendable, Hashable {
    /// Format text of an expression, such as `photos.@count`.
    public var expression: String
    /// Which related objects count; format text.
    public var filteringPredicate: String?

    public init(_ expression: String, filteringPredicate: String? = nil) {
      self.expression = expression
      self.filteringPredicate = filteringPredicate
    }
  }

  /// The elements of a composite attribute: its own, or those of the composite that it names. Empty where
  /// there is no such composite.
  public func elements(of attribute: Attribute) -> [Attribute] {
    if !attribute.elements.isEmpty { return attribute.elements }
    return attribute.compositeName.flatMap { composite(named: $0) }?.elements ?? []
  }

  /// The elements of each composite by its name; of two of one name, those of the first.
  package var elementsByName: [String: [Attribute]] {
    Dictionary(composites.map { ($0.name, $0.elements) }) { first, _ in first }
  }
}
