// Entities of a model file, with their indexes.

extension ModelDocument {
  public struct Entity: Sendable, Hashable {
    public var name: String
    /// nil is `NSManagedObject`. A dot within it separates a module from a class.
    public var className: String?
    /// Written in Xcode as a leading dot or "Current Product Module": the class is of the module that loads
    /// the model.
    public var isClassInCurrentModule: Bool
    /// The module, where the file names one apart from the class.
    public var classModule: String?
    public var superentity: String?
    public var isAbstract: Bool
    public var isSyncable: Bool
    /// `class` or `category`; nil when classes are written by hand.
    public var codeGenerationType: String?
    /// nil where it is the name.
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    public var coreSpotlightDisplayNameExpression: String?
    /// Own properties only, never inherited ones.
    public var properties: [Property]
    public var fetchIndexes: [FetchIndex]
    /// Indexes as Xcode 8 and earlier wrote them: lists of property names.
    public var compoundIndexes: [[String]]
    /// Each constraint as the names of the attributes that together are unique.
    public var uniquenessConstraints: [[String]]
    public var userInfo: [String: String]

    public init(
      _ name: String, className: String? = nil, isClassInCurrentModule: Bool = false,
      classModule: String? = nil, superentity: String? = nil, isAbstract: Bool = false,
      isSyncable: Bool = false, codeGenerationType: String? = nil, renamingIdentifier: String? = nil,
      versionHashModifier: String? = nil, coreSpotlightDisplayNameExpression: String? = nil,
      properties: [Property] = [], fetchIndexes: [FetchIndex] = [], compoundIndexes: [[String]] = [],
      uniquenessConstraints: [[String]] = [], userInfo: [String: String] = [:]
    ) {
      self.name = name
      self.className = className
      self.isClassInCurrentModule = isClassInCurrentModule
      self.classModule = classModule
      self.superentity = superentity
      self.isAbstract = isAbstract
      self.isSyncable = isSyncable
      self.codeGenerationType = codeGenerationType
      self.renamingIdentifier = renamingIdentifier
      self.versionHashModifier = versionHashModifier
      self.coreSpotlightDisplayNameExpression = coreSpotlightDisplayNameExpression
      self.properties = properties
      self.fetchIndexes = fetchIndexes
      self.compoundIndexes = compoundIndexes
      self.uniquenessConstraints = uniquenessConstraints
      self.userInfo = userInfo
    }

    public var attributes: [Attribute] {
      properties.compactMap { if case .attribute(let attribute) = $0 { attribute } else { nil } }
    }

    public var relationships: [Relationship] {
      properties.compactMap { if case .relationship(let relationship) = $0 { relationship } else { nil } }
    }

    public var fetchedProperties: [FetchedProperty] {
      properties.compactMap { if case .fetched(let property) = $0 { property } else { nil } }
    }

    public func property(named name: String) -> Property? { properties.first { $0.name == name } }

    /// `fetchIndexes`, and after them what `compoundIndexes` and `isIndexed` of its properties ask for, as
    /// fetch indexes. An index that an earlier one repeats is left out.
    public var effectiveFetchIndexes: [FetchIndex] {
      var result = fetchIndexes
      var names = Set(result.map(\.name))
      var known = Set(result.compactMap(\.propertyNames))
      let old = compoundIndexes + properties.filter(\.isIndexed).map { [$0.name] }
      for list in old where !list.isEmpty && known.insert(list).inserted {
        let plain = "by" + list.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "And")
        var name = plain
        var number = 2
        while !names.insert(name).inserted {
          name = plain + String(number)
          number += 1
        }
        result.append(FetchIndex(name, elements: list.map { .init(.property($0)) }))
      }
      return result
    }
  }

  /// One entry of an entity's list of properties.
  public enum Property: Sendable, Hashable {
    case attribute(Attribute)
    case relationship(Relationship)
    case fetched(FetchedProperty)

    public var name: String {
      switch self {
      case .attribute(let property): property.name
      case .relationship(let property): property.name
      case .fetched(let property): property.name
      }
    }

    /// The mark for an index that Xcode 8 and earlier wrote. It was ignored on to-many relationships.
    public var isIndexed: Bool {
      switch self {
      case .attribute(let property): property.isIndexed
      case .relationship(let property): property.isIndexed && !property.isToMany
      case .fetched: false
      }
    }
  }

  public struct FetchIndex: Sendable, Hashable {
    public var name: String
    public var elements: [Element]
    /// Format text; nil for an index of all rows.
    public var partialPredicate: String?

    public init(_ name: String, elements: [Element], partialPredicate: String? = nil) {
      self.name = name
      self.elements = elements
      self.partialPredicate = partialPredicate
    }

    /// The names, if every element is a property in a binary index that ascends and no row is left out:
    /// what a compound index could say.
    var propertyNames: [String]? {
      if partialPredicate != nil { return nil }
      var names: [String] = []
      for element in elements {
        guard case .property(let name) = element.subject, element.kind == .binary, element.isAscending else {
          return nil
        }
        names.append(name)
      }
      return names
    }

    public struct Element: Sendable, Hashable {
      public enum Subject: Sendable, Hashable {
        case property(String)
        /// Format text, and what type its value has.
        case expression(String, AttributeKind)
      }

      /// With the numbers of `NSFetchIndexElementType`.
      public enum Kind: Int, Sendable, Hashable, CaseIterable {
        case binary = 0
        case rTree
      }

      public var subject: Subject
      public var kind: Kind
      public var isAscending: Bool

      public init(_ subject: Subject, kind: Kind = .binary, isAscending: Bool = true) {
        self.subject = subject
        self.kind = kind
        self.isAscending = isAscending
      }
    }
  }
}
