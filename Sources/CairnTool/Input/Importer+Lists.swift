// Members of to-many relationships: arrays in JSON, and tables of their own, of which each row is a pair.

import Cairn

extension Importer {
  /// The arrays of a table.
  func readLists(_ table: Table, into lists: ImportedLists) throws {
    let records = table.records
    for (column, target) in table.targets.enumerated() {
      guard case .list(let id, let keySlot) = target else { continue }
      let relationship = schema[id]
      let lookup = try lookup(Lookup.Name(destination: relationship.destination, slot: keySlot))
      var key = table.keys.lowerBound
      try records.forEach { line, fields, bytes in
        let owner = RowKey(entity: table.rows.entity.id, id: key)
        key += 1
        let field = fields[column]
        if field.isNull(bytes, mark: nullMark) { return }
        guard let elements = records.elements(of: field) else {
          let name = "\(schema[relationship.owner].name).\(relationship.name)"
          throw InputError(
            "\(records.file):\(line): column \(records.columns[column]): \(name) leads to many objects, which are an array "
              + "in JSON and a table of their own, \(name).csv, in CSV")
        }
        for element in elements {
          let member = try self.key(element, bytes, lookup, records, line, column)
          try add(member, to: owner, relationship, place: nil, lists, "\(records.file):\(line)")
        }
      }
    }
  }

  /// A table of pairs, as `cairn export` writes it.
  func readLinkTable(
    _ records: Records, _ relationship: SchemaRelationship, into lists: ImportedLists
  ) throws {
    let columns = try LinkColumns(records, relationship, schema)
    let owners = try lookup(Lookup.Name(destination: relationship.owner, slot: columns.ownerKey))
    let members = try lookup(Lookup.Name(destination: relationship.destination, slot: columns.memberKey))
    try records.forEach { line, fields, bytes in
      func key(_ column: Int, _ lookup: Lookup) throws -> Int64 {
        if fields[column].isNull(bytes, mark: nullMark) { throw missing(records, line, column, "a pair") }
        return try self.key(fields[column], bytes, lookup, records, line, column)
      }
      func place(_ column: Int?) throws -> Int64? {
        guard let column, !fields[column].isNull(bytes, mark: nullMark) else { return nil }
        if let place = FieldReader.integer(fields[column], bytes) { return place }
        throw wrong(
          records, line, column, fields[column], bytes, FieldReader(.int64, nullMark: nullMark), "a place")
      }
      let (owner, member) = try (key(columns.owner, owners), key(columns.member, members))
      let at = "\(records.file):\(line)"
      guard let ownerRows = rows(with: owner, of: relationship.owner) else { return }
      let ownerKey = RowKey(entity: ownerRows.entity.id, id: owner)
      try add(member, to: ownerKey, relationship, place: place(columns.place), lists, at)
      if let inverse = relationship.inverse, let inversePlace = try place(columns.inversePlace),
        let memberRows = rows(with: member, of: relationship.destination)
      {
        let memberKey = RowKey(entity: memberRows.entity.id, id: member)
        try add(owner, to: memberKey, schema[inverse], place: inversePlace, lists, at)
      }
    }
  }

  /// Puts members of ordered lists that have no place behind those that have one. Where none has one, the store numbers
  /// them as they come.
  func completePlaces(in inserts: inout [ChangeSet.Inserts]) {
    /// The lists that a slot for orders is of, and the slot of their owners.
    func list(_ slot: Slot, of entity: EntityID) -> (relationship: RelationshipID, owner: Int)? {
      guard case .order(let owner) = slot.role, case .toOne(let id) = schema[entity].slots[owner].role else {
        return nil
      }
      return (id, owner)
    }
    var greatest: [RelationshipID: [Int64: Int64]] = [:]
    for batch in inserts {
      for (slot, described) in schema[batch.entity].slots.enumerated() {
        guard let (id, owner) = list(described, of: batch.entity), let owners = batch.columns[owner],
          let places = batch.columns[slot]
        else { continue }
        for row in batch.keys.indices where !owners.isNull(row) && !places.isNull(row) {
          greatest[id, default: [:]][owners.integer(row), default: .min] =
            max(greatest[id]?[owners.integer(row)] ?? .min, places.integer(row))
        }
      }
    }
    for (number, batch) in inserts.enumerated() {
      for (slot, described) in schema[batch.entity].slots.enumerated() {
        guard let (id, owner) = list(described, of: batch.entity), greatest[id] != nil,
          let owners = batch.columns[owner], let places = batch.columns[slot]
        else { continue }
        let builder = ColumnBuilder(.int64)
        for row in batch.keys.indices {
          if !places.isNull(row) {
            builder.append(places.integer(row))
          } else if !owners.isNull(row) {
            let next = (greatest[id]?[owners.integer(row)] ?? 0) &+ 1
            greatest[id]?[owners.integer(row)] = next
            builder.append(next)
          } else {
            builder.appendNull()
          }
        }
        inserts[number].columns[slot] = builder.finish()
      }
    }
  }

  /// `at` is the file and line that say it.
  private func add(
    _ member: Int64, to owner: RowKey, _ relationship: SchemaRelationship, place: Int64?,
    _ lists: ImportedLists, _ at: String
  ) throws {
    guard let rows = rows(with: member, of: relationship.destination), let row = rows.row(of: member) else {
      return
    }
    let count = try lists.add(
      RowKey(entity: rows.entity.id, id: member), to: owner, relationship.id, place: place, at: at)
    guard case .inverse(let slot, let order) = relationship.storage else { return }
    if let other = rows.listed(slot: slot, row: row), other != owner.id {
      throw InputError("\(at): an object of \(rows.entity.name) is in two lists of \(relationship.name)")
    }
    rows.list(owner.id, slot: slot, row: row)
    if let order { rows.list(place ?? Int64(count), slot: order, row: row) }
  }
}

/// What the columns of a table of pairs are.
struct LinkColumns {
  let owner: Int
  let ownerKey: Int?
  let member: Int
  let memberKey: Int?
  /// The place of the member in the owner's list.
  private(set) var place: Int?
  /// The place of the owner in the member's list.
  private(set) var inversePlace: Int?

  /// Throws `InputError` for titles that aren't those that `cairn export` writes.
  init(_ records: Records, _ relationship: SchemaRelationship, _ schema: Schema) throws {
    let owning = schema[relationship.owner]
    let inverse = relationship.inverse.map { schema[$0].name }
    var found: (owner: (Int, Int?)?, member: (Int, Int?)?) = (nil, nil)
    for (column, text) in records.columns.enumerated() {
      let title = ColumnTitle(text, records.file, owning, schema)
      let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = parts.count == 2 ? parts[1] : nil
      switch parts[0] {
      case relationship.name where name == ImportTarget.placeTitle: place = column
      case inverse where name == ImportTarget.placeTitle: inversePlace = column
      case owning.name where found.owner == nil: found.owner = (column, try title.key(name, of: owning))
      case relationship.name where found.member == nil:
        found.member = (column, try title.key(name, relationship.id))
      default:
        throw InputError(
          "\(records.file): the column \"\(text)\" is none of a table of \(owning.name).\(relationship.name), which has "
            + "\(owning.name).KEY, \(relationship.name).KEY and \(relationship.name).\(ImportTarget.placeTitle), KEY being "
            + "an attribute or \(ImportTarget.idTitle)")
      }
    }
    guard let owner = found.owner, let member = found.member else {
      throw InputError(
        "\(records.file): a table of \(owning.name).\(relationship.name) has a column for each side, such as "
          + "\(owning.name).\(ImportTarget.idTitle) and \(relationship.name).\(ImportTarget.idTitle)")
    }
    (self.owner, ownerKey, self.member, memberKey) = (owner.0, owner.1, member.0, member.1)
  }
}
