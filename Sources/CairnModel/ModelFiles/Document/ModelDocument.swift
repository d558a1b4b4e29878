// A model file as a value: what `contents` and `.mom` files say, before anything is compiled from it. What a file
// can say about one kind of thing stands in the `ModelDocument+` file of that kind.

/// Everything that a model file can say, in the file's order.
///
/// A document may be wrong (a relationship to no entity, two properties of one name): `check()` finds that,
/// and only what can't be understood at all makes reading throw. `nil` means that the file doesn't say.
/// Predicates and expressions are format text.
public struct ModelDocument: Sendable, Hashable {
  public var versionIdentifiers: [String]
  public var entities: [Entity]
  /// Named groups of elements, which attributes of the type `composite` refer to.
  public var composites: [Composite]
  public var configurations: [Configuration]
  /// Fetch request templates, each with its name.
  public var fetchRequests: [FetchRequest]
  /// What Xcode keeps for itself. A compiled model has none of it.
  public var editor: EditorSettings
  /// What the file said that this document can't hold, or holds otherwise. Not written back.
  public var notes: [ModelNote]

  public init(
    entities: [Entity] = [], composites: [Composite] = [], configurations: [Configuration] = [],
    fetchRequests: [FetchRequest] = [], versionIdentifiers: [String] = [],
    editor: EditorSettings = EditorSettings(), notes: [ModelNote] = []
  ) {
    self.versionIdentifiers = versionIdentifiers
    self.entities = entities
    self.composites = composites
    self.configurations = configurations
    self.fetchRequests = fetchRequests
    self.editor = editor
    self.notes = notes
  }

  /// The first entity of that name. Linear in the number of entities.
  public func entity(named name: String) -> Entity? { entities.first { $0.name == name } }

  public func composite(named name: String) -> Composite? { composites.first { $0.name == name } }

  /// A named list of elements. An element may be composite itself.
  public struct Composite: Sendable, Hashable {
    public var name: String
    public var elements: [Attribute]

    public init(_ name: String, elements: [Attribute]) {
      self.name = name
      self.elements = elements
    }
  }

  /// A named choice of entities.
  public struct Configuration: Sendable, Hashable {
    public var name: String
    public var entityNames: [String]
    public var isUsedWithCloudKit: Bool

    public init(_ name: String, entityNames: [String], isUsedWithCloudKit: Bool = false) {
      self.name = name
      self.entityNames = entityNames
      self.isUsedWithCloudKit = isUsedWithCloudKit
    }
  }

  /// The attributes of a `contents` file's `model` element that don't change what the model means.
  public struct EditorSettings: Sendable, Hashable {
    public var name: String?
    /// nil is the usual one, `com.apple.IDECoreDataModeler.DataModel`.
    public var type: String?
    public var documentVersion: String?
    public var lastSavedToolsVersion: String?
    public var systemVersion: String?
    public var minimumToolsVersion: String?
    /// `Swift` or `Objective-C`: what Xcode generates classes in.
    public var sourceLanguage: String?
    public var isUsedWithCloudKit: Bool
    public var isUsedWithSwiftData: Bool
    public var macOSVersion: String?
    public var iOSVersion: String?

    public init(
      name: String? = nil, type: String? = nil, documentVersion: String? = nil,
      lastSavedToolsVersion: String? = nil, systemVersion: String? = nil, minimumToolsVersion: String? = nil,
      sourceLanguage: String? = nil, isUsedWithCloudKit: Bool = false, isUsedWithSwiftData: Bool = false,
      macOSVersion: String? = nil, iOSVersion: String? = nil
    ) {
      self.name = name
      self.type = type
      self.documentVersion = documentVersion
      self.lastSavedToolsVersion = lastSavedToolsVersion
      self.systemVersion = systemVersion
      self.minimumToolsVersion = minimumToolsVersion
      self.sourceLanguage = sourceLanguage
      self.isUsedWithCloudKit = isUsedWithCloudKit
      self.isUsedWithSwiftData = isUsedWithSwiftData
      self.macOSVersion = macOSVersion
      self.iOSVersion = iOSVersion
    }
  }
}

/// A remark about one place of a model: of a reader about its file, or of `ModelDocument.check()`.
public struct ModelNote: Sendable, Hashable {
  public enum Severity: String, Sendable, Hashable, Comparable {
    /// The model works, though probably not as meant.
    case warning
    /// Core Data refuses this model.
    case error

    public static func < (a: Severity, b: Severity) -> Bool { a == .warning && b == .error }
  }

  public var severity: Severity
  /// The entity, composite, configuration or fetch request.
  public var entity: String?
  public var property: String?
  /// Of the `contents` file, counted from 1.
  public var line: Int?
  public var message: String

  public init(
    _ severity: Severity, _ message: String, entity: String? = nil, property: String? = nil,
    line: Int? = nil
  ) {
    self.severity = severity
    self.entity = entity
    self.property = property
    self.line = line
    self.message = message
  }
}

extension ModelNote: CustomStringConvertible {
  public var description: String {
    var place = entity ?? ""
    if let property { place += "." + property }
    let head = place.isEmpty ? "" : place + ": "
    return "\(severity.rawValue): \(head)\(message)" + (line.map { " (line \($0))" } ?? "")
  }
}
