// What the columns of a table are of its entity, by their titles.

import Cairn

enum ImportTarget: Equatable {
  /// A slot of the row itself.
  case attribute(slot: Int)
  /// A to-one relationship, kept in `slot`, whose column has values of the destination's slot `key`.
  case link(RelationshipID, slot: Int, key: Int)

  var linkSlot: Int? {
    if case .link(_, let slot, _) = self { slot } else { nil }
  }

  /// One a column; nil for a column that the entity has no property for. Throws `InputError` for a title that
  /// can't be meant so, or means what another does.
  static func all(_ records: Records, _ entity: SchemaEntity, _ schema: Schema) throws -> [ImportTarget?] {
    var seen: [Int: String] = [:]
    return try records.columns.map { title in
      let target = try target(title, records.file, entity, schema)
      let slot: Int
      switch target {
      case .attribute(let found): slot = found
      case .link(_, let found, _): slot = found
      case nil: return nil
      }
      if let other = seen.updateValue(title, forKey: slot) {
        throw InputError(
          "\(records.file): the columns \"\(other)\" and \"\(title)\" are both \(entity.name).\(entity.slots[slot].name)"
        )
      }
      return target
    }
  }

  private static func target(
    _ title: String, _ file: String, _ entity: SchemaEntity, _ schema: Schema
  ) throws -> ImportTarget? {
    if let slot = slot(title, of: entity) {
      switch entity.slots[slot].role {
      case .attribute: return .attribute(slot: slot)
      case .order: return nil
      case .toOne(let relationship): return try link(relationship, slot, nil, title, file, entity, schema)
      }
    }
    let parts = title.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let slot = slot(parts[0], of: entity),
      case .toOne(let relationship) = entity.slots[slot].role
    else {
      if let name = parts.first, let id = entity.relationship(named: name) {
        throw InputError(
          "\(file): the column \"\(title)\": \(entity.name).\(name) leads to many objects or is kept on their side; "
            + "name the to-one side, \(inverse(schema[id], schema)), in the table of \(schema[schema[id].destination].name)"
        )
      }
      return nil
    }
    return try link(relationship, slot, parts[1], title, file, entity, schema)
  }

  private static func inverse(_ relationship: SchemaRelationship, _ schema: Schema) -> String {
    relationship.inverse.map { "\"\(schema[$0].name)\"" } ?? "if it has one"
  }

  private static func link(
    _ relationship: RelationshipID, _ slot: Int, _ key: String?, _ title: String, _ file: String,
    _ entity: SchemaEntity, _ schema: Schema
  ) throws -> ImportTarget {
    let destination = schema[schema[relationship].destination]
    if let key {
      if let keySlot = self.slot(key, of: destination), destination.slots[keySlot].role == .attribute {
        return .link(relationship, slot: slot, key: keySlot)
      }
      throw InputError("\(file): the column \"\(title)\": \(destination.name) has no attribute \"\(key)\"")
    }
    let constraints = destination.uniquenessConstraints.filter { $0.slots.count == 1 }
    guard constraints.count == 1 else {
      throw InputError(
        "\(file): the column \"\(title)\" leads to \(destination.name); say by which of its attributes, as in "
          + "\"\(title).\(destination.slots.first { $0.role == .attribute }?.name ?? "name")\"")
    }
    return .link(relationship, slot: slot, key: constraints[0].slots[0])
  }

  /// By name, or else by the only name that differs in case and underscores alone: dep_delay is depDelay.
  private static func slot(_ title: String, of entity: SchemaEntity) -> Int? {
    if let slot = entity.slot(named: title) { return slot }
    func plain(_ name: String) -> String { name.filter { $0 != "_" && $0 != " " }.lowercased() }
    let wanted = plain(title)
    let fits = entity.slots.indices.filter { plain(entity.slots[$0].name) == wanted }
    return fits.count == 1 ? fits[0] : nil
  }
}
