// What the columns of a table are of its entity, by their titles.

import Cairn

enum ImportTarget: Equatable {
  /// A slot of the row itself.
  case attribute(slot: Int)
  /// A to-one relationship, kept in `slot`, whose column has values of the destination's slot `key`; of its `@id` where
  /// that is nil.
  case link(RelationshipID, slot: Int, key: Int?)
  /// The place in the ordered list of the object that a to-one relationship leads to: a slot for orders.
  case place(slot: Int)
  /// The members of a to-many relationship, as an array of values of the destination's slot `key`, or of its `@id`.
  case list(RelationshipID, key: Int?)
  /// A number that other columns name the row by.
  case id

  /// The title of a column of numbers that rows are named by. No property can be called so.
  static let idTitle = "@id"
  /// The end of the title of a column of places in a list.
  static let placeTitle = "@position"

  var linkSlot: Int? {
    if case .link(_, let slot, _) = self { slot } else { nil }
  }

  /// The slot that values of the column are put into as they are.
  var valueSlot: Int? {
    switch self {
    case .attribute(let slot), .place(let slot): slot
    case .link, .list, .id: nil
    }
  }

  /// One a column; nil for a column that the entity has no property for. Throws `InputError` for a title that
  /// can't be meant so, or means what another does.
  static func all(_ records: Records, _ entity: SchemaEntity, _ schema: Schema) throws -> [ImportTarget?] {
    var seen: [Int: String] = [:]
    return try records.columns.map { title in
      let target = try ColumnTitle(title, records.file, entity, schema).target
      if let slot = target?.valueSlot ?? target?.linkSlot,
        let other = seen.updateValue(title, forKey: slot)
      {
        throw InputError(
          "\(records.file): the columns \"\(other)\" and \"\(title)\" are both \(entity.name).\(entity.slots[slot].name)"
        )
      }
      return target
    }
  }
}

/// A column's title, and where it stands.
struct ColumnTitle {
  private let text: String
  private let file: String
  private let entity: SchemaEntity
  private let schema: Schema

  init(_ text: String, _ file: String, _ entity: SchemaEntity, _ schema: Schema) {
    (self.text, self.file, self.entity, self.schema) = (text, file, entity, schema)
  }

  /// What it is of the entity. Throws as `ImportTarget.all`.
  var target: ImportTarget? {
    get throws {
      if text == ImportTarget.idTitle { return .id }
      if let slot = ColumnTitle.slot(text, of: entity) {
        switch entity.slots[slot].role {
        case .attribute: return .attribute(slot: slot)
        case .order: return nil
        case .toOne(let relationship): return .link(relationship, slot: slot, key: try key(nil, relationship))
        }
      }
      // An element of a composite attribute has a point in its name.
      let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      if parts.count == 2, let slot = ColumnTitle.slot(parts[0], of: entity),
        case .toOne(let relationship) = entity.slots[slot].role
      {
        if parts[1] == ImportTarget.placeTitle { return try place(slot, relationship) }
        return .link(relationship, slot: slot, key: try key(parts[1], relationship))
      }
      guard let name = parts.first, let id = entity.relationship(named: name) else { return nil }
      guard schema[id].isToMany, schema[id].storage != .none else {
        throw InputError(
          "\(file): the column \"\(text)\": \(entity.name).\(name) is kept on the other side; name that, \(inverse(id)), "
            + "in the table of \(schema[schema[id].destination].name)")
      }
      return .list(id, key: try key(parts.count == 2 ? parts[1] : nil, id))
    }
  }

  private func inverse(_ id: RelationshipID) -> String {
    schema[id].inverse.map { "\"\(schema[$0].name)\"" } ?? "if it has one"
  }

  /// The place in the list that the to-one relationship in `slot` is the inverse of.
  private func place(_ slot: Int, _ relationship: RelationshipID) throws -> ImportTarget {
    if let place = entity.slots.firstIndex(where: { $0.role == .order(of: slot) }) {
      return .place(slot: place)
    }
    throw InputError(
      "\(file): the column \"\(text)\": \(schema[schema[relationship].destination].name) has no ordered list of its "
        + entity.name)
  }

  /// The slot of a relationship's destination that is meant by a name; nil is its `@id`.
  func key(_ name: String?, _ relationship: RelationshipID) throws -> Int? {
    try key(name, of: schema[schema[relationship].destination])
  }

  /// The slot of an entity that is meant by a name, or its unique one; nil is its `@id`.
  func key(_ name: String?, of destination: SchemaEntity) throws -> Int? {
    if name == ImportTarget.idTitle { return nil }
    if let name {
      if let slot = ColumnTitle.slot(name, of: destination), destination.slots[slot].role == .attribute {
        return slot
      }
      throw InputError("\(file): the column \"\(text)\": \(destination.name) has no attribute \"\(name)\"")
    }
    let constraints = destination.uniquenessConstraints.filter { $0.slots.count == 1 }
    guard constraints.count == 1 else {
      throw InputError(
        "\(file): the column \"\(text)\" leads to \(destination.name); say by which of its attributes, as in "
          + "\"\(text).\(destination.slots.first { $0.role == .attribute }?.name ?? "name")\"")
    }
    return constraints[0].slots[0]
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
