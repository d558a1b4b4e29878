// Relationships that are to-one both ways, of which a column can say what no graph of objects has: that two objects
// lead to the same one, or that one of itself leads elsewhere than it is led from.

import Cairn

extension Importer {
  /// Holds each object to one partner, and gives the partners of relationships that are their own inverses what their own
  /// rows don't say. Throws `InputError` for an object with two.
  func completeOneToOne(_ tables: [Table]) throws {
    for relationship in schema.relationships where !relationship.isToMany {
      guard let inverse = relationship.inverse, !schema[inverse].isToMany,
        case .key(let slot) = relationship.storage
      else { continue }
      let owners = try owners(of: relationship, slot, tables)
      guard inverse == relationship.id else { continue }
      for (partner, owner) in owners.sorted(by: { $0.key < $1.key }) {
        guard let rows = rows(with: partner, of: relationship.destination),
          let row = rows.row(of: partner)
        else { continue }
        let column = rows.columns[slot]
        if column.isNull(row) {
          column.set(owner.id, at: row)
        } else if column.integer(row) != owner.id {
          let key = RowKey(entity: rows.entity.id, id: partner)
          throw InputError(
            "\(try places(of: [key, owner], tables))\(owningName(relationship)) leads back to each object from the one that "
              + "it leads to, and here to another")
        }
      }
    }
  }

  /// Who leads to each destination.
  private func owners(of relationship: SchemaRelationship, _ slot: Int, _ tables: [Table]) throws
    -> [Int64: RowKey]
  {
    var owners: [Int64: RowKey] = [:]
    for entity in schema[relationship.owner].concreteFamily {
      guard let rows = entities[entity] else { continue }
      let column = rows.columns[slot]
      // What was made because something leads to it has no value yet.
      rows.appendListed(slot: slot, count: rows.keys.count - column.count)
      for (row, key) in rows.keys.enumerated() where !column.isNull(row) {
        let owner = RowKey(entity: entity, id: key)
        if let other = owners.updateValue(owner, forKey: column.integer(row)) {
          throw InputError(
            "\(try places(of: [other, owner], tables))two objects have the same \(owningName(relationship)), which is to-one "
              + "both ways")
        }
      }
    }
    return owners
  }

  private func owningName(_ relationship: SchemaRelationship) -> String {
    "\(schema[relationship.owner].name).\(relationship.name)"
  }

  private func places(of rows: [RowKey], _ tables: [Table]) throws -> String {
    let places = try rows.compactMap { try place(of: $0, tables) }
    return places.isEmpty ? "" : places.joined(separator: " and ") + ": "
  }
}
