// The short initialisers of descriptions. What they leave out can still be set afterwards.

import Foundation

extension NSEntityDescription {
  /// An entity with its properties.
  ///
  /// `type` is the class of its objects, nested and private ones too. `parent` names the entity that it inherits
  /// from, and `configurations` the configurations that it is in; both work inside a model's builder. `unique`
  /// lists the attributes that together are unique, and `indexes` the properties of each index. `originalName` is
  /// the name that the entity had in an earlier version of the model.
  public convenience init(
    _ name: String, _ type: NSManagedObject.Type = NSManagedObject.self, parent: String? = nil,
    abstract isAbstract: Bool = false, unique: [[String]] = [], indexes: [[String]] = [],
    configurations: [String] = [], originalName: String? = nil,
    @PropertyListBuilder<NSPropertyDescription> _ properties: () -> [NSPropertyDescription] = { [] }
  ) {
    self.init()
    self.name = name
    if type != NSManagedObject.self { setManagedObjectClass(type) }
    superentityName = parent
    self.isAbstract = isAbstract
    self.properties = properties()
    let single = ownProperties.filter(\.isMarkedUnique).map { [$0.name] }
    uniquenessConstraints = single + unique
    compoundIndexes = indexes
    configurationNames = configurations
    if let originalName { renamingIdentifier = originalName }
  }
}

extension NSAttributeDescription {
  /// An attribute. `unique` makes its values unique in its entity; `min` and `max` bound a number or a date, or the
  /// length of a string, and a string matches `regex` as a whole, all of that being checked when objects are saved.
  /// `originalName` is the name that it had in an earlier version of the model.
  public convenience init(
    _ name: String, _ type: AttributeType, optional isOptional: Bool = true, default defaultValue: Any? = nil,
    unique isUnique: Bool = false, indexed isIndexed: Bool = false, transient isTransient: Bool = false,
    min: Any? = nil, max: Any? = nil, regex: String? = nil, transformer: String? = nil,
    originalName: String? = nil
  ) {
    self.init()
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.defaultValue = defaultValue
    self.isIndexed = isIndexed
    self.isTransient = isTransient
    isMarkedUnique = isUnique
    valueTransformerName = transformer
    addValidation(min: min, max: max, regex: regex)
    if let originalName { renamingIdentifier = originalName }
  }
}

extension NSDerivedAttributeDescription {
  /// An attribute that is computed when an object is saved, from a format such as `"items.@count"`. A malformed one
  /// is a programmer error.
  public convenience init(_ name: String, _ type: AttributeType, from format: String) {
    self.init()
    self.name = name
    self.type = type
    derivationExpression = NSExpression(format: format)
  }
}

extension NSCompositeAttributeDescription {
  /// An attribute made of others.
  public convenience init(
    _ name: String, optional isOptional: Bool = true,
    @PropertyListBuilder<NSAttributeDescription> elements: () -> [NSAttributeDescription]
  ) {
    self.init()
    self.name = name
    self.isOptional = isOptional
    self.elements = elements()
  }
}

extension NSRelationshipDescription {
  /// A relationship to one object of the entity that `destination` names. `inverse` names the relationship that
  /// leads back; one side's naming it suffices.
  public convenience init(
    _ name: String, to destination: String, inverse: String? = nil, optional isOptional: Bool = true,
    deleteRule: NSDeleteRule = .nullify, transient isTransient: Bool = false, originalName: String? = nil
  ) {
    self.init()
    set(name, destination, inverse, deleteRule, originalName)
    maxCount = 1
    self.isOptional = isOptional
    self.isTransient = isTransient
  }

  /// A relationship to many objects, at most `max` if that isn't 0, and at least `min` if there are any.
  public convenience init(
    _ name: String, toMany destination: String, inverse: String? = nil, optional isOptional: Bool = true,
    ordered isOrdered: Bool = false, min: Int = 0, max: Int = 0, deleteRule: NSDeleteRule = .nullify,
    transient isTransient: Bool = false, originalName: String? = nil
  ) {
    self.init()
    set(name, destination, inverse, deleteRule, originalName)
    self.isOptional = isOptional
    self.isOrdered = isOrdered
    minCount = min
    maxCount = max
    self.isTransient = isTransient
  }

  private final func set(
    _ name: String, _ destination: String, _ inverse: String?, _ deleteRule: NSDeleteRule,
    _ originalName: String?
  ) {
    self.name = name
    destinationName = destination
    inverseName = inverse
    self.deleteRule = deleteRule
    if let originalName { renamingIdentifier = originalName }
  }
}

extension NSFetchedPropertyDescription {
  /// A property whose value is what the request finds.
  public convenience init(_ name: String, fetching request: NSFetchRequest<NSFetchRequestResult>) {
    self.init()
    self.name = name
    fetchRequest = request
  }
}

extension NSDeleteRule {
  /// The rules in the spelling of `@Managed` and of the builder.
  public static var noAction: NSDeleteRule { .noActionDeleteRule }
  public static var nullify: NSDeleteRule { .nullifyDeleteRule }
  public static var cascade: NSDeleteRule { .cascadeDeleteRule }
  public static var deny: NSDeleteRule { .denyDeleteRule }
}
