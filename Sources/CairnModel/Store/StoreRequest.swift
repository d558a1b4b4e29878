// What a store can be asked.

/// A question about the rows of one entity.
public struct StoreRequest: Sendable {
  public var entity: EntityID
  /// Whether rows of entities that inherit from `entity` count too.
  public var includesSubentities: Bool
  /// nil selects every row.
  public var predicate: PredicateTree?
  /// Terms in order of weight. Rows that tie come in the order of their keys within an entity.
  public var sort: [SortTerm]
  /// Rows to skip, after sorting.
  public var offset: Int
  /// Rows to return at most; nil for all.
  public var limit: Int?

  public init(
    entity: EntityID, includesSubentities: Bool = true, predicate: PredicateTree? = nil,
    sort: [SortTerm] = [], offset: Int = 0, limit: Int? = nil
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.predicate = predicate
    self.sort = sort
    self.offset = offset
    self.limit = limit
  }
}

/// One key to sort by: an attribute, or a path over to-one relationships to one. Nil comes first ascending.
public struct SortTerm: Sendable, Hashable {
  public var path: [String]
  public var ascending: Bool

  public init(path: [String], ascending: Bool = true) {
    self.path = path
    self.ascending = ascending
  }

  public init(_ dotted: String, ascending: Bool = true) {
    self.init(
      path: dotted.split(separator: ".", omittingEmptySubsequences: false).map(String.init),
      ascending: ascending)
  }
}

/// A question whose answer is figures instead of rows.
public struct AggregateRequest: Sendable {
  public enum Function: Sendable, Hashable {
    /// How many values aren't nil.
    case count
    /// Of the numbers among the values; 0 where there are none. Integers add exactly, and become a double
    /// where Int64 is too small. A date is no number.
    case sum
    /// Of the numbers among the values, as a double; nil where there are none.
    case average
    /// The least or greatest value in the one order; nil where there are none.
    case min, max
  }

  public struct Term: Sendable, Hashable {
    public var function: Function
    /// nil only with `count`: then rows are counted.
    public var path: [String]?

    public init(_ function: Function, _ dotted: String?) {
      self.function = function
      path = dotted.map { $0.split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
    }
  }

  public var entity: EntityID
  public var includesSubentities: Bool
  public var predicate: PredicateTree?
  /// Paths whose values together make a group; none makes one group of everything.
  public var groupBy: [[String]]
  public var terms: [Term]

  public init(
    entity: EntityID, includesSubentities: Bool = true, predicate: PredicateTree? = nil,
    groupBy: [String] = [], terms: [Term]
  ) {
    self.entity = entity
    self.includesSubentities = includesSubentities
    self.predicate = predicate
    self.groupBy = groupBy.map { $0.split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
    self.terms = terms
  }
}

/// One group of an aggregate's answer.
public struct AggregateRow: Sendable, Hashable {
  public let group: [Value]
  public let values: [Value]

  public init(group: [Value], values: [Value]) {
    self.group = group
    self.values = values
  }
}

/// The destinations of a relationship for a batch of sources, end to end.
public struct RelatedKeys: Sendable, Hashable {
  /// `keys[offsets[i]..<offsets[i + 1]]` are the destinations of source i: in list order for an ordered
  /// relationship, ascending otherwise.
  public let offsets: [Int]
  public let keys: [RowKey]

  public init(offsets: [Int], keys: [RowKey]) {
    self.offsets = offsets
    self.keys = keys
  }

  public subscript(source: Int) -> ArraySlice<RowKey> { keys[offsets[source]..<offsets[source + 1]] }
}
