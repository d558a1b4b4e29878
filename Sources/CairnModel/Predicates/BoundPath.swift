// A key path fitted to an entity: names become hops over to-one relationships and a slot.

/// A way from a row over to-one relationships to a slot or a key.
public struct BoundPath: Sendable {
  package enum Target: Sendable, Hashable {
    case slot(Int)
    /// The key of the row that the hops lead to.
    case ownKey
  }

  /// The row that the path starts from: 0 is the one that is asked, the others are elements of collections
  /// around the path (`BoundExpression`).
  package internal(set) var base = 0
  /// To-one relationships, in order. Entities follow from them.
  package internal(set) var hops: [RelationshipID]
  package internal(set) var target: Target
  package internal(set) var type: ValueType
}

extension BoundPath {
  /// Finds the slot that a path names. Throws `unknownProperty`, or `unbindablePredicate` for a to-many step: the
  /// error is of the step, and names the path.
  public init(_ names: [String], from entity: EntityID, in schema: Schema) throws {
    do {
      try self.init(steps: names, from: entity, in: schema)
    } catch let error as StoreError {
      throw error.inKeyPath(names.joined(separator: "."), from: schema[entity].name)
    }
  }

  /// The same with errors that don't name the path, for who follows a part of one.
  init(steps names: [String], from entity: EntityID, in schema: Schema) throws {
    var current = schema[entity]
    hops = []
    for (index, name) in names.enumerated() {
      if let id = current.relationship(named: name) {
        let relationship = schema[id]
        guard !relationship.isToMany, relationship.storage != .none else {
          throw StoreError(
            .unbindablePredicate,
            relationship.isToMany
              ? "a to-many relationship has no single value" : "a transient relationship isn't stored",
            entity: current.name, property: name)
        }
        if index == names.count - 1, case .key(let slot) = relationship.storage {
          target = .slot(slot)
          type = .key
          return
        }
        hops.append(id)
        current = schema[relationship.destination]
        continue
      }
      let rest = names[index...].joined(separator: ".")
      guard let slot = current.slot(named: rest), case .attribute = current.slots[slot].role else {
        throw BoundPath.unknown(name, rest, current)
      }
      target = .slot(slot)
      type = current.slots[slot].type
      return
    }
    target = .ownKey
    type = .key
  }

  private static func unknown(_ name: String, _ rest: String, _ entity: SchemaEntity) -> StoreError {
    guard let attribute = entity.attribute(named: name) else {
      return StoreError(
        .unknownProperty, "no property of that name", entity: entity.name, property: name,
        remedy: "its properties are: "
          + (entity.attributes.map(\.name) + entity.relationshipsByName.keys).sorted().joined(separator: ", ")
      )
    }
    let message =
      attribute.isTransient
      ? "a transient attribute isn't stored, so a store can't compare or sort by it"
      : attribute.isComposite
        ? "a composite attribute is compared by one of its elements" : "has no such element"
    return StoreError(
      attribute.isTransient || !attribute.isComposite ? .unknownProperty : .unbindablePredicate, message,
      entity: entity.name, property: rest)
  }
}

extension StoreError {
  /// The same with the whole of the key path that it is about a step of, where there are others.
  package func inKeyPath(_ path: String, from entity: String) -> StoreError {
    guard path != property else { return self }
    return StoreError(
      code, "\(message), in the key path \(path) from \(entity)", entity: self.entity, property: property,
      file: file, offset: offset, remedy: remedy, systemError: systemError)
  }
}
