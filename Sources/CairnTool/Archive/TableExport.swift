// A store's rows and relationships as tables, in the form that the importer reads, chunk by chunk: no object is made.
//
// To-one relationships are columns. Of to-many ones only what those can't say is written: members of many-to-many
// relationships, and orders. In JSON both are arrays in the owner's row; in CSV pairs are a table of their own, and the
// place in an ordered list whose inverse is to-one is a column beside that.

import Cairn

/// Writes tables of a store. Confined to whoever made it.
final class TableExport {
  enum Table {
    /// Those of an entity itself.
    case rows(SchemaEntity)
    /// The pairs of a many-to-many relationship.
    case pairs(SchemaRelationship, owner: String)

    var name: String {
      switch self {
      case .rows(let entity): entity.name
      case .pairs(let relationship, let owner): "\(owner).\(relationship.name)"
      }
    }
  }

  private let store: any PersistentStore
  private let snapshot: any StoreSnapshot
  private let format: ExportCommand.Format
  private let references: References
  private let strays: StrayLinks

  private var schema: Schema { store.schema }

  /// Throws what reading the values throws that rows are named by.
  init(_ store: any PersistentStore, _ format: ExportCommand.Format) throws {
    (self.store, self.format) = (store, format)
    snapshot = try store.snapshot()
    references = try References(store, snapshot, naming: TableExport.destinations(in: store.schema, format))
    strays = try StrayLinks(store, snapshot)
  }

  /// All that there are, which together say all that there is to say.
  var tables: [Table] {
    let pairs = schema.relationships.filter { TableExport.isJoined($0, .source) }.map(pairs)
    return schema.entities.filter { !$0.isAbstract }.map { .rows($0) } + (format == .csv ? pairs : [])
  }

  private func pairs(_ relationship: SchemaRelationship) -> Table {
    .pairs(relationship, owner: schema[relationship.owner].name)
  }

  private static func isJoined(_ relationship: SchemaRelationship, _ side: JoinSide) -> Bool {
    if case .join(_, side) = relationship.storage { true } else { false }
  }

  /// Whether JSON has an array for it: what no column of a to-one relationship says.
  private static func isListed(_ relationship: SchemaRelationship) -> Bool {
    switch relationship.storage {
    case .join(_, .source): true
    case .join(_, .target): relationship.isOrdered
    case .inverse(_, let order): order != nil
    case .key, .none: false
    }
  }

  /// The entities that rows of tables lead to.
  private static func destinations(in schema: Schema, _ format: ExportCommand.Format) -> Set<EntityID> {
    var found: Set<EntityID> = []
    for relationship in schema.relationships {
      if case .key = relationship.storage { found.insert(relationship.destination) }
      if format == .json, isListed(relationship) { found.insert(relationship.destination) }
      if format == .csv, isJoined(relationship, .source) {
        found.formUnion([relationship.owner, relationship.destination])
      }
    }
    return found
  }

  // MARK: Columns

  private enum Column {
    /// A number that other tables name the row by.
    case id
    case attribute(slot: Int)
    /// What the destination is called.
    case link(slot: Int, RelationshipID)
    /// The place in the list of the object that the to-one relationship leads to.
    case place(slot: Int, RelationshipID)
    case list(RelationshipID)
  }

  private func columns(of entity: SchemaEntity) -> [(title: String, column: Column)] {
    var columns: [(String, Column)] =
      references.isNumbered(entity.id) ? [(ImportTarget.idTitle, .id)] : []
    for (slot, described) in entity.slots.enumerated() {
      switch described.role {
      case .attribute:
        columns.append((described.name, .attribute(slot: slot)))
      case .toOne(let id):
        let destination = schema[id].destination
        columns.append(
          ("\(described.name).\(references.title(of: destination))", .link(slot: slot, id)))
        if format == .csv, let list = schema[id].inverse, schema[list].isOrdered {
          columns.append(
            ("\(described.name).\(ImportTarget.placeTitle)", .place(slot: slot, list)))
        }
      case .order: break
      }
    }
    if format == .json {
      for id in entity.relationships where TableExport.isListed(schema[id]) {
        columns.append(
          ("\(schema[id].name).\(references.title(of: schema[id].destination))", .list(id)))
      }
    }
    // CSV has no table without columns.
    return columns.isEmpty ? [(ImportTarget.idTitle, .id)] : columns
  }

  /// What these tables leave out.
  func warnings(of tables: [Table]) -> [String] {
    let written = Set(tables.map(\.name))
    let entities = tables.compactMap { if case .rows(let entity) = $0 { entity.id } else { nil } }
    return strays.warnings(of: Set(entities))
      + tables.flatMap { table -> [String] in
        guard case .rows(let entity) = table, format == .csv else { return [] }
        return entity.relationships.filter { TableExport.isJoined(schema[$0], .source) }
          .map { pairs(schema[$0]).name }.filter { !written.contains($0) }
          .map { "\($0) leads to many from many, and is a table of its own: --entity \($0)" }
      }
  }

  // MARK: Writing

  /// Every row, in the order of keys; pairs by their owners, and in the order of the owner's list.
  func write(_ table: Table, _ sink: @escaping (String) throws -> Void) throws {
    switch table {
    case .rows(let entity): try write(entity, sink)
    case .pairs(let relationship, _): try write(relationship, sink)
    }
  }

  private func writer(_ titles: [String], _ sink: @escaping (String) throws -> Void) -> ResultWriter {
    ResultWriter(format == .csv ? .csv : .json, columns: titles, write: sink)
  }

  private func write(_ entity: SchemaEntity, _ sink: @escaping (String) throws -> Void) throws {
    let columns = columns(of: entity)
    let rows = try store.fetch(StoreRequest(entity: entity.id, includesSubentities: false), in: snapshot)
    var lists: [RelationshipID: RelatedKeys] = [:]
    var places: [RelationshipID: [Int64: Int64]] = [:]
    for column in columns.map(\.column) {
      switch column {
      case .attribute(let slot), .link(let slot, _):
        for chunk in rows.chunks { if let damage = chunk.columns[slot].damage { throw damage } }
      case .place(_, let list): places[list] = try self.places(in: list)
      case .list(let id):
        lists[id] = try store.related((0..<rows.count).map(rows.key), through: id, in: snapshot)
      case .id: break
      }
    }
    try writer(columns.map(\.title), sink).write(
      rows: (0..<rows.count).lazy.map { [references, strays, schema, lists, places] row in
        let (chunk, place) = (rows.chunk(row), rows.row(row))
        return columns.map { column -> Cell in
          switch column.column {
          case .id: return .integer(rows.key(row).id)
          case .attribute(let slot): return Cell(chunk.columns[slot], place)
          case .link(let slot, let id):
            let keys = chunk.columns[slot]
            return keys.isNull(place) || strays.contains(rows.key(row).id, id)
              ? .none : references.cell(keys.integer(place), of: schema[id].destination)
          case .place(let slot, let list):
            return chunk.columns[slot].isNull(place)
              ? .none : places[list]?[rows.key(row).id].map { .integer($0) } ?? .none
          case .list(let id):
            return .list((lists[id]?[row] ?? []).map { references.cell($0.id, of: schema[id].destination) })
          }
        }
      })
  }

  /// The places of all members of an ordered relationship whose inverse is to-one, from 1 on.
  private func places(in list: RelationshipID) throws -> [Int64: Int64] {
    var places: [Int64: Int64] = [:]
    try forEachList(of: list) { _, members in
      for (number, member) in members.enumerated() { places[member.id] = Int64(number + 1) }
    }
    return places
  }

  private func forEachList(
    of relationship: RelationshipID, _ visit: (_ owner: RowKey, _ members: ArraySlice<RowKey>) throws -> Void
  ) throws {
    let rows = try store.fetch(StoreRequest(entity: schema[relationship].owner), in: snapshot)
    let owners = (0..<rows.count).map(rows.key)
    let related = try store.related(owners, through: relationship, in: snapshot)
    for (row, owner) in owners.enumerated() { try visit(owner, related[row]) }
  }

  private struct Pair: Hashable {
    let owner: Int64
    let member: Int64
  }

  private func write(
    _ relationship: SchemaRelationship, _ sink: @escaping (String) throws -> Void
  ) throws {
    let inverse = relationship.inverse.map { schema[$0] }
    // Of one that is its own inverse, each pair is there both ways round.
    let hasInverseOrder = (inverse?.isOrdered ?? false) && inverse?.id != relationship.id
    var inversePlaces: [Pair: Int64] = [:]
    if let inverse, hasInverseOrder {
      try forEachList(of: inverse.id) { member, owners in
        for (number, owner) in owners.enumerated() {
          inversePlaces[Pair(owner: owner.id, member: member.id)] = Int64(number + 1)
        }
      }
    }
    var titles = [
      "\(schema[relationship.owner].name).\(references.title(of: relationship.owner))",
      "\(relationship.name).\(references.title(of: relationship.destination))",
    ]
    if relationship.isOrdered { titles.append("\(relationship.name).\(ImportTarget.placeTitle)") }
    if let inverse, hasInverseOrder { titles.append("\(inverse.name).\(ImportTarget.placeTitle)") }
    var rows: [[Cell]] = []
    try forEachList(of: relationship.id) { owner, members in
      for (number, member) in members.enumerated() {
        var row = [
          references.cell(owner.id, of: relationship.owner),
          references.cell(member.id, of: relationship.destination),
        ]
        if relationship.isOrdered { row.append(.integer(Int64(number + 1))) }
        if hasInverseOrder {
          row.append(inversePlaces[Pair(owner: owner.id, member: member.id)].map { .integer($0) } ?? .none)
        }
        rows.append(row)
      }
    }
    try writer(titles, sink).write(rows: rows)
  }
}
