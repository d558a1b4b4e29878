// Fetch requests of a model file: templates, and what fetched properties ask.

extension ModelDocument {
  /// The defaults are those of a new `NSFetchRequest`, and hold for what a file doesn't say.
  public struct FetchRequest: Sendable, Hashable {
    /// Of a template; a fetched property's request has `fetchedPropertyFetchRequest` in source files.
    public var name: String
    public var entity: String
    /// Format text, with variables such as `$name` in it; nil fetches all.
    public var predicate: String?
    /// 0 means without limit.
    public var fetchLimit: Int
    public var fetchOffset: Int
    public var fetchBatchSize: Int
    public var resultType: ResultType
    public var includesSubentities: Bool
    public var includesPropertyValues: Bool
    public var includesPendingChanges: Bool
    public var returnsObjectsAsFaults: Bool
    public var returnsDistinctResults: Bool
    public var sortDescriptors: [SortKey]
    public var propertiesToFetch: [String]
    public var propertiesToGroupBy: [String]
    /// Format text.
    public var havingPredicate: String?
    public var relationshipKeyPathsForPrefetching: [String]

    /// With the numbers of `NSFetchRequestResultType`.
    public enum ResultType: Int, Sendable, Hashable, CaseIterable {
      case managedObject = 0
      case managedObjectID = 1
      case dictionary = 2
      case count = 4
    }

    public struct SortKey: Sendable, Hashable {
      public var key: String
      public var isAscending: Bool
      /// A method such as `compare:`; nil for the values' own order.
      public var selector: String?

      public init(_ key: String, isAscending: Bool = true, selector: String? = nil) {
        self.key = key
        self.isAscending = isAscending
        self.selector = selector
      }
    }

    public init(
      _ name: String, entity: String, predicate: String? = nil, fetchLimit: Int = 0, fetchOffset: Int = 0,
      fetchBatchSize: Int = 0, resultType: ResultType = .managedObject, includesSubentities: Bool = true,
      includesPropertyValues: Bool = true, includesPendingChanges: Bool = true,
      returnsObjectsAsFaults: Bool = true, returnsDistinctResults: Bool = false,
      sortDescriptors: [SortKey] = [], propertiesToFetch: [String] = [], propertiesToGroupBy: [String] = [],
      havingPredicate: String? = nil, relationshipKeyPathsForPrefetching: [String] = []
    ) {
      self.name = name
      self.entity = entity
      self.predicate = predicate
      self.fetchLimit = fetchLimit
      self.fetchOffset = fetchOffset
      self.fetchBatchSize = fetchBatchSize
      self.resultType = resultType
      self.includesSubentities = includesSubentities
      self.includesPropertyValues = includesPropertyValues
      self.includesPendingChanges = includesPendingChanges
      self.returnsObjectsAsFaults = returnsObjectsAsFaults
      self.returnsDistinctResults = returnsDistinctResults
      self.sortDescriptors = sortDescriptors
      self.propertiesToFetch = propertiesToFetch
      self.propertiesToGroupBy = propertiesToGroupBy
      self.havingPredicate = havingPredicate
      self.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
    }
  }

  /// A property whose value is what a fetch finds.
  public struct FetchedProperty: Sendable, Hashable {
    public var name: String
    public var isOptional: Bool
    public var isSyncable: Bool
    public var request: FetchRequest
    /// nil where it is the name.
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    public var userInfo: [String: String]

    /// The name that source files give to a fetched property's request.
    public static let requestName = "fetchedPropertyFetchRequest"

    public init(
      _ name: String, isOptional: Bool = false, isSyncable: Bool = false, request: FetchRequest,
      renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:]
    ) {
      self.name = name
      self.isOptional = isOptional
      self.isSyncable = isSyncable
      self.request = request
      self.renamingIdentifier = renamingIdentifier
      self.versionHashModifier = versionHashModifier
      self.userInfo = userInfo
    }
  }
}
