// From tables of the input to rows of a store, columns first: no object is made.
//
// In passes, so that tables may come in any order: the first reads attributes, and afterwards it is known which rows
// there are; the others find what relationships lead to, first those that are lists, then those that are columns.

import Cairn

/// Fills one store with the tables that belong to its entities.
final class Importer {
  private let store: any PersistentStore
  private let derivation: DerivedImport
  private let time = Date()
  let nullMark: [UInt8]
  private(set) var entities: [EntityID: EntityRows] = [:]
  /// The rows by the value of a slot, for relationships that name them by it.
  private var lookups: [Lookup.Name: Lookup] = [:]
  /// Columns that are left out, and values that aren't taken, as warnings.
  private(set) var warnings: [String] = []

  var schema: Schema { store.schema }

  init(_ store: NSPersistentStore, nullMark: [UInt8]) throws {
    (self.store, self.nullMark) = (store.store, nullMark)
    derivation = try DerivedImport(into: store)
  }

  /// One table, with what its columns are.
  struct Table {
    let records: Records
    let rows: EntityRows
    let targets: [ImportTarget?]
    let keys: Range<Int64>
  }

  /// Commits everything at once. Throws `InputError` that names file, line, column and value.
  func run(
    _ tables: [(entity: SchemaEntity, records: Records)],
    _ linkTables: [(relationship: SchemaRelationship, records: Records)]
  ) throws {
    var read: [Table] = []
    for (entity, records) in tables {
      let targets = try ImportTarget.all(records, entity, schema)
      for (title, target) in zip(records.columns, targets) where target == nil {
        warnings.append(
          "\(records.file): \(entity.name) has no property \"\(title)\", and the column is left out")
      }
      read.append(try readAttributes(records, targets, entity))
    }
    let lists = ImportedLists(schema)
    for table in read { try readLists(table, into: lists) }
    for (relationship, records) in linkTables { try readLinkTable(records, relationship, into: lists) }
    for table in read { try readLinks(table) }
    try completeOneToOne(read)
    var changes = ChangeSet(author: "cairn")
    changes.inserts = entities.values.sorted { $0.entity.id.index < $1.entity.id.index }.map(\.inserts)
    completePlaces(in: &changes.inserts)
    changes.links = lists.links()
    do {
      warnings += try corrected(derivation.commit(changes), read)
    } catch let conflict as CommitConflict {
      throw try explain(conflict, read)
    }
  }

  private func rows(of entity: SchemaEntity) -> EntityRows {
    if let known = entities[entity.id] { return known }
    let made = EntityRows(entity, derivation, time: time)
    entities[entity.id] = made
    return made
  }

  // MARK: Attributes

  private func readAttributes(
    _ records: Records, _ targets: [ImportTarget?], _ entity: SchemaEntity
  ) throws -> Table {
    if entity.isAbstract {
      throw InputError("\(records.file): \(entity.name) is abstract; name the entity whose rows these are")
    }
    let rows = rows(of: entity)
    var readers: [(column: Int, slot: Int, reader: FieldReader, builder: ColumnBuilder)] = []
    for (column, target) in targets.enumerated() {
      guard let slot = target?.valueSlot else { continue }
      readers.append(
        (column, slot, FieldReader(entity.slots[slot].type, nullMark: nullMark), rows.columns[slot]))
    }
    let given = Set(readers.map(\.slot)).union(targets.compactMap { $0?.linkSlot })
    let rest = entity.slots.indices.filter { !given.contains($0) }
    if let slot = rest.first(where: rows.isMissing) {
      throw InputError(
        "\(records.file): \(entity.name).\(entity.slots[slot].name) has to have a value, and there is no column for it"
      )
    }
    var count = 0
    let idColumn = targets.firstIndex(of: .id)
    var ids: [Int64?] = []
    try records.forEach { line, fields, bytes in
      if let idColumn { ids.append(try id(records, line, idColumn, fields[idColumn], bytes)) }
      for (column, slot, reader, builder) in readers {
        let field = fields[column]
        if field.isNull(bytes, mark: nullMark) {
          let value = field.form == .absent ? rows.defaults[slot] : .null
          if value.isNull, rows.isRequired(slot) {
            throw missing(records, line, column, "\(entity.name).\(entity.slots[slot].name)")
          }
          value.isNull ? builder.appendNull() : try builder.append(value: value)
        } else if !reader.append(field, bytes, to: builder) {
          throw wrong(
            records, line, column, field, bytes, reader, "\(entity.name).\(entity.slots[slot].name)")
        }
      }
      count += 1
    }
    let keys = try store.reserveKeys(count, root: entity.root)
    rows.keys += keys
    for (id, key) in zip(ids, keys) { if let id { rows.add(id: id, of: key) } }
    try rows.fill(rest.filter { entity.slots[$0].role == .attribute })
    return Table(records: records, rows: rows, targets: targets, keys: keys)
  }

  private func id(
    _ records: Records, _ line: Int, _ column: Int, _ field: Field, _ bytes: Field.Bytes
  ) throws -> Int64? {
    if field.isNull(bytes, mark: nullMark) { return nil }
    if let id = FieldReader.integer(field, bytes) { return id }
    throw wrong(
      records, line, column, field, bytes, FieldReader(.int64, nullMark: nullMark), ImportTarget.idTitle)
  }

  func missing(_ records: Records, _ line: Int, _ column: Int, _ property: String) -> InputError {
    InputError(
      "\(records.file):\(line): column \(records.columns[column]): no value, which \(property) has to have")
  }

  func wrong(
    _ records: Records, _ line: Int, _ column: Int, _ field: Field, _ bytes: Field.Bytes,
    _ reader: FieldReader,
    _ property: String
  ) -> InputError {
    let text = field.form == .structure ? "an object or an array" : "\"\(field.text(bytes).prefix(80))\""
    return InputError(
      "\(records.file):\(line): column \(records.columns[column]): \(text) is no \(reader.type.sourceName), which "
        + "\(property) is: \(reader.expectation)")
  }

  // MARK: Relationships

  /// To-one relationships, and places in lists that no column has.
  private func readLinks(_ table: Table) throws {
    let rows = table.rows
    let given = Set(table.targets.compactMap { $0?.linkSlot ?? $0?.valueSlot })
    for slot in rows.entity.slots.indices
    where rows.entity.slots[slot].role != .attribute && !given.contains(slot) {
      rows.appendListed(slot: slot, count: table.keys.count)
    }
    for (column, target) in table.targets.enumerated() {
      guard case .link(let relationship, let slot, let keySlot) = target else { continue }
      let lookup = try lookup(Lookup.Name(destination: schema[relationship].destination, slot: keySlot))
      let builder = rows.columns[slot]
      let isRequired = rows.isRequired(slot)
      let property = "\(rows.entity.name).\(rows.entity.slots[slot].name)"
      try table.records.forEach { line, fields, bytes in
        let field = fields[column]
        let listed = rows.listed(slot: slot, row: builder.count)
        if field.isNull(bytes, mark: nullMark) {
          if let listed { return builder.append(listed) }
          if isRequired { throw missing(table.records, line, column, property) }
          return builder.appendNull()
        }
        let key = try key(field, bytes, lookup, table.records, line, column)
        if let listed, listed != key {
          throw InputError(
            "\(table.records.file):\(line): column \(table.records.columns[column]): the object is in the list of another "
              + schema[relationship].destinationName(in: schema))
        }
        builder.append(key)
      }
    }
  }

  /// The row that a field names. One that no table has is made.
  func key(
    _ field: Field, _ bytes: Field.Bytes, _ lookup: Lookup, _ records: Records, _ line: Int, _ column: Int
  ) throws -> Int64 {
    let destination = schema[lookup.name.destination]
    guard let value = lookup.reader.value(field, bytes) else {
      throw wrong(
        records, line, column, field, bytes, lookup.reader, "\(destination.name).\(lookup.title(schema))")
    }
    switch lookup.keys[value] {
    case nil: return try makeRow(value, lookup, records, line)
    case Lookup.several?:
      throw InputError(
        "\(records.file):\(line): column \(records.columns[column]): several objects of \(destination.name) have "
          + "\"\(field.text(bytes))\" as \(lookup.title(schema))")
    case let key?: return key
    }
  }

  func lookup(_ name: Lookup.Name) throws -> Lookup {
    if let known = lookups[name] { return known }
    let destination = schema[name.destination]
    let type = name.slot.map { destination.slots[$0].type } ?? .int64
    let lookup = Lookup(name, FieldReader(type, nullMark: nullMark))
    for entity in destination.concreteFamily {
      guard let rows = entities[entity] else { continue }
      guard let slot = name.slot else {
        for (id, key) in rows.keysByID { lookup.add(.int(id), key) }
        continue
      }
      let column = rows.columns[slot].finish()
      for (row, key) in rows.keys.enumerated() where !column.isNull(row) {
        lookup.add(column.value(row), key)
      }
    }
    lookups[name] = lookup
    return lookup
  }

  /// What no table has is made when something leads to it.
  private func makeRow(_ value: Value, _ lookup: Lookup, _ records: Records, _ line: Int) throws -> Int64 {
    let destination = schema[lookup.name.destination]
    let lead = "\(records.file):\(line): no \(destination.name) has \(value) as \(lookup.title(schema))"
    guard let slot = lookup.name.slot else { throw InputError(lead) }
    if destination.isAbstract { throw InputError("\(lead), and it is abstract, so that none can be made") }
    let rows = rows(of: destination)
    if rows.derived.contains(slot) { throw InputError("\(lead), which is derived, so that none can be made") }
    let rest = destination.slots.indices.filter { $0 != slot }
    if let missing = rest.first(where: rows.isMissing) {
      throw InputError(
        "\(lead), and none can be made, because \(destination.name).\(destination.slots[missing].name) has to have a "
          + "value")
    }
    let key = try store.reserveKeys(1, root: destination.root).lowerBound
    try rows.columns[slot].append(value: value)
    rows.keys.append(key)
    lookup.keys[value] = key
    return key
  }

  /// The rows that one with this key is among; nil for a key of none of the entity's family.
  func rows(with key: Int64, of entity: EntityID) -> EntityRows? {
    for member in schema[entity].concreteFamily {
      if let rows = entities[member], rows.row(of: key) != nil { return rows }
    }
    return nil
  }
}

extension SchemaRelationship {
  fileprivate func destinationName(in schema: Schema) -> String { schema[destination].name }
}
