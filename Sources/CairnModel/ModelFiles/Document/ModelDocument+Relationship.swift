// Relationships of a model file.

extension ModelDocument {
  public struct Relationship: Sendable, Hashable {
    public var name: String
    public var destination: String
    public var inverseName: String?
    /// The entity that has the inverse: the destination, or one of its superentities. nil where the file
    /// doesn't say.
    public var inverseEntity: String?
    public var isOptional: Bool
    public var isTransient: Bool
    public var minCount: Int
    /// 1 makes it to-one, 0 means without limit.
    public var maxCount: Int
    public var isOrdered: Bool
    public var deleteRule: SchemaDeleteRule
    public var isIndexedBySpotlight: Bool
    public var isStoredInTruthFile: Bool
    /// The mark for an index that Xcode 8 and earlier wrote.
    public var isIndexed: Bool
    public var isSyncable: Bool
    /// nil where it is the name.
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    public var userInfo: [String: String]

    public init(
      _ name: String, to destination: String, inverse inverseName: String? = nil,
      inverseEntity: String? = nil, isOptional: Bool = false, isTransient: Bool = false, minCount: Int = 0,
      maxCount: Int = 0, isOrdered: Bool = false, deleteRule: SchemaDeleteRule = .nullify,
      isIndexedBySpotlight: Bool = false, isStoredInTruthFile: Bool = false, isIndexed: Bool = false,
      isSyncable: Bool = false, renamingIdentifier: String? = nil, versionHashModifier: String? = nil,
      userInfo: [String: String] = [:]
    ) {
      self.name = name
      self.destination = destination
      self.inverseName = inverseName
      self.inverseEntity = inverseEntity
      self.isOptional = isOptional
      self.isTransient = isTransient
      self.minCount = minCount
      self.maxCount = maxCount
      self.isOrdered = isOrdered
      self.deleteRule = deleteRule
      self.isIndexedBySpotlight = isIndexedBySpotlight
      self.isStoredInTruthFile = isStoredInTruthFile
      self.isIndexed = isIndexed
      self.isSyncable = isSyncable
      self.renamingIdentifier = renamingIdentifier
      self.versionHashModifier = versionHashModifier
      self.userInfo = userInfo
    }

    public var isToMany: Bool { maxCount != 1 }
  }
}
