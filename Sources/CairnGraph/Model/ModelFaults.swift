// What can be wrong with descriptions that a schema doesn't know of; the rest is `Schema.init(_:)`'s to find.

import CairnModel
import Foundation

/// Collects the faults of a model's descriptions.
struct ModelFaults {
  private var faults: [SchemaError.Fault] = []
  private let model: NSManagedObjectModel
  private let entitiesByName: [String: NSEntityDescription]
  /// Of each entity, with inherited ones; made when it is first asked for.
  private var relationships: [ObjectIdentifier: [String: NSRelationshipDescription]] = [:]

  static func find(in model: NSManagedObjectModel) -> [SchemaError.Fault] {
    var finder = ModelFaults(model: model)
    for entity in model.entities { finder.check(entity) }
    finder.checkConfigurations()
    return finder.faults
  }

  private init(model: NSManagedObjectModel) {
    self.model = model
    entitiesByName = model.entitiesByName
  }

  private mutating func add(_ entity: NSEntityDescription, _ property: String?, _ message: String) {
    faults.append(.init(entity: entity.name ?? "", property: property, message: message))
  }

  private mutating func check(_ entity: NSEntityDescription) {
    for child in entity.subentities where child.model !== model {
      add(entity, nil, "its subentity \"\(child.name ?? "")\" isn't among the model's entities")
    }
    if let parent = entity.superentity, parent.model !== model {
      add(entity, nil, "its superentity \"\(parent.name ?? "")\" isn't among the model's entities")
    }
    if let parent = entity.superentityName {
      add(entity, nil, "inherits from \"\(parent)\", which doesn't exist")
    }
    for property in entity.ownProperties { check(property, of: entity) }
    checkFetchedNames(of: entity)
    for constraint in entity.uniquenessConstraints {
      for element in constraint where NSEntityDescription.propertyName(element) == nil {
        add(entity, nil, "a uniqueness constraint names attributes, not \(element)")
      }
    }
    for index in entity.indexes { check(index, of: entity) }
  }

  // MARK: Properties

  private mutating func check(_ property: NSPropertyDescription, of entity: NSEntityDescription) {
    if ReservedNames.all.contains(property.name) {
      add(
        entity, property.name,
        "every managed object has something of this name already: name the property differently")
    }
    switch property {
    case let attribute as NSAttributeDescription: check(attribute, path: attribute.name, of: entity)
    case let relationship as NSRelationshipDescription: check(relationship, of: entity)
    case let fetched as NSFetchedPropertyDescription: check(fetched, of: entity)
    default:
      add(
        entity, property.name,
        "an entity has attributes, relationships and fetched properties: an expression goes into a fetch "
          + "request's propertiesToFetch, or into an index")
    }
  }

  private mutating func check(
    _ attribute: NSAttributeDescription, path: String, of entity: NSEntityDescription
  ) {
    if attribute.isTransient {
      if attribute is NSDerivedAttributeDescription {
        add(entity, path, "a derived attribute is computed by the store, and can't be transient")
      }
      if let type = ValueType(attribute.type), type != .transformable, let given = attribute.defaultValue,
        Value(given, for: type) == nil
      {
        add(entity, path, "the default value \(given) does not fit the type \(type)")
      }
    }
    if let derived = attribute as? NSDerivedAttributeDescription { checkDerivation(derived, path, entity) }
    checkBounds(attribute, path, entity)
    // What can't be gone through is the compiler's fault already.
    if let composite = attribute as? NSCompositeAttributeDescription, composite.nestingFault() == nil {
      if composite.defaultValue != nil {
        add(entity, path, "the default values of a composite attribute stand with its elements")
      }
      for element in composite.elements {
        let elementPath = path + "." + element.name
        if element.isTransient { add(entity, elementPath, "an element of a composite can't be transient") }
        if element is NSDerivedAttributeDescription {
          add(entity, elementPath, "an element of a composite can't be derived")
        }
        check(element, path: elementPath, of: entity)
      }
    }
  }

  private mutating func checkDerivation(
    _ derived: NSDerivedAttributeDescription, _ path: String, _ entity: NSEntityDescription
  ) {
    guard let expression = derived.derivationExpression else {
      return add(entity, path, "a derived attribute needs a derivationExpression")
    }
    guard derived.filteringPredicate == nil, let derivation = Derivation(expression.tree) else {
      return add(
        entity, path,
        "\(expression.tree.canonicalFormat) is no derivation: a derivation is a key path over to-one "
          + "relationships, canonical:, uppercase: or lowercase: of one, a to-many relationship's @count or "
          + "@sum, or now()")
    }
    if let fault = derivation.fault(of: derived, in: entity) {
      add(entity, path, "\(expression.tree.canonicalFormat) can't be derived: \(fault)")
    } else if derivation.leadsBack(to: derived, in: entity) {
      add(entity, path, "\(expression.tree.canonicalFormat) is in the end computed from the attribute itself")
    }
  }

  private mutating func checkBounds(
    _ attribute: NSAttributeDescription, _ path: String, _ entity: NSEntityDescription
  ) {
    var (low, high): (Value?, Value?)
    var (shortest, longest): (Int?, Int?)
    for predicate in attribute.validationPredicates {
      switch ValidationRule(predicate.tree) {
      case .minimum(let value): low = value
      case .maximum(let value): high = value
      case .minimumLength(let length): shortest = length
      case .maximumLength(let length): longest = length
      default: break
      }
    }
    if let low, let high, Value.compare(low, high) > 0 {
      add(entity, path, "nothing is between the minimum \(low) and the maximum \(high)")
    }
    if let shortest, let longest, shortest > longest {
      add(entity, path, "nothing is between the minimum \(shortest) and the maximum \(longest)")
    }
  }

  private mutating func check(_ relationship: NSRelationshipDescription, of entity: NSEntityDescription) {
    guard let inverse = relationship.inverseRelationship, let destination = relationship.destinationEntity,
      destination.model === model
    else { return }
    let id = ObjectIdentifier(destination)
    let known = relationships[id] ?? destination.relationshipsByName
    relationships[id] = known
    guard known[inverse.name] === inverse else {
      add(
        entity, relationship.name,
        "its inverse \"\(inverse.name)\" isn't among the properties of its destination "
          + "\"\(destination.name ?? "")\"")
      return
    }
  }

  private mutating func check(_ fetched: NSFetchedPropertyDescription, of entity: NSEntityDescription) {
    guard let request = fetched.fetchRequest else {
      add(entity, fetched.name, "a fetched property needs a fetchRequest")
      return
    }
    guard let name = request.entityName else {
      add(entity, fetched.name, "its fetch request has no entity")
      return
    }
    if entitiesByName[name] == nil {
      add(entity, fetched.name, "its fetch request asks for \"\(name)\", which doesn't exist")
    }
  }

  /// The schema finds attributes and relationships of one name; it doesn't know fetched properties.
  private mutating func checkFetchedNames(of entity: NSEntityDescription) {
    let fetchedProperties = entity.ownProperties.filter { $0 is NSFetchedPropertyDescription }
    if fetchedProperties.isEmpty { return }
    let counts = Dictionary(entity.properties.map { ($0.name, 1) }, uniquingKeysWith: +)
    for fetched in fetchedProperties {
      if fetched.name.isEmpty { add(entity, "", "a fetched property has a name") }
      if counts[fetched.name, default: 0] > 1 {
        add(entity, fetched.name, "is declared more than once")
      }
    }
  }

  // MARK: Indexes and configurations

  private mutating func check(_ index: NSFetchIndexDescription, of entity: NSEntityDescription) {
    if Set(index.elements.map(\.collationType)).count > 1 {
      add(entity, nil, "the index \"\(index.name)\" mixes elements of different collation types")
    }
    for element in index.elements where element.collationType == .rTree {
      guard let attribute = element.property as? NSAttributeDescription,
        attribute.type.kind?.fitsRTree == true
      else {
        add(
          entity, element.propertyName,
          "the index \"\(index.name)\" keeps it as an R-tree, which only integers of 16 or 32 bits, floats and "
            + "doubles can be")
        continue
      }
    }
  }

  private mutating func checkConfigurations() {
    for name in model.configurations {
      for entity in model.entitiesByConfiguration[name] ?? [] where entity.model !== model {
        add(entity, nil, "the configuration \"\(name)\" has it, and the model doesn't")
      }
    }
  }
}
