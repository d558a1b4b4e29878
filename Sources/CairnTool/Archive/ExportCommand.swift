// `cairn export`: an archive's rows as CSV or JSON, chunk by chunk: no object is made.

import Cairn

struct ExportCommand: Equatable {
  enum Format: String, Equatable, CaseIterable { case csv, json }

  let path: String
  let entity: String?
  let format: Format
  /// For one file an entity; nil is standard output.
  let folder: String?
  /// The commit after which a log's rows are shown; nil for the newest.
  var generation: Int64?

  /// Throws `InputError`, `ModelFileError` and `StoreError`.
  func run(_ console: Console) throws {
    guard ArchivePath.isStore(path) else {
      // Says why: that it isn't there, or what it is instead.
      _ = try ArchiveFiles.metadata(at: ArchivePath.full(path))
      throw InputError("\(path) is neither an archive nor a log store")
    }
    if let folder {
      try OutputKind.require(
        .folder, at: folder, by: "cairn export --to",
        instead: "leave the suffix out; one entity's rows go to standard output without --to")
      try ArchivePath.requireNothing(at: folder)
    }
    let input = try InputStore(store: path, at: generation)
    let entities =
      try entity.map { [try input.entity(named: $0)] } ?? input.schema.entities.filter { !$0.isAbstract }
    if folder == nil, format == .csv, entities.count != 1 {
      throw InputError(
        "which rows? --entity is one of \(InputStore.list(input.schema)), or --to names a folder for all", 64)
    }
    let export = try TableExport(input.store)
    if let folder {
      try write(entities, export, input, to: folder)
    } else if format == .json, entity == nil, entities.count > 1 {
      try writeAll(entities, export, console)
    } else {
      for entity in entities { try export.write(entity, format, console.write) }
    }
    for warning in export.warnings(of: entities) { Console.printError("cairn: warning: \(warning)\n") }
  }

  /// One object with an array for each entity.
  private func writeAll(_ entities: [SchemaEntity], _ export: TableExport, _ console: Console) throws {
    for (number, entity) in entities.enumerated() {
      try console.write((number == 0 ? "{" : ", ") + Cell.quoted(entity.name) + ": ")
      try export.write(entity, .json, console.write)
    }
    try console.write("}\n")
  }

  private func write(
    _ entities: [SchemaEntity], _ export: TableExport, _ input: InputStore, to folder: String
  ) throws {
    let url = URL(fileURLWithPath: folder)
    let line = ProgressLine()
    defer { line.clear() }
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      try ModelFile.write(
        input.container.managedObjectModel.document, to: url.appendingPathComponent("Model.xcdatamodel"))
      for entity in entities {
        line.show("writing \(entity.name)")
        let file = url.appendingPathComponent("\(entity.name).\(format.rawValue)")
        try Data().write(to: file, options: .withoutOverwriting)
        let handle = try FileHandle(forWritingTo: file)
        try export.write(entity, format) { try handle.write(contentsOf: Data($0.utf8)) }
        try handle.close()
      }
    } catch let error as CocoaError {
      throw InputError("\(folder) can't be written: \(error.localizedDescription)", 73)
    }
  }
}

/// Writes the rows of a store's entities as the importer reads them. Confined to whoever made it.
final class TableExport {
  private let store: any PersistentStore
  private let snapshot: any StoreSnapshot
  /// What destinations are called in tables, by their keys.
  private var names: [RelationshipID: [Int64: Cell]] = [:]

  private var schema: Schema { store.schema }

  init(_ store: any PersistentStore) throws {
    self.store = store
    snapshot = try store.snapshot()
  }

  private enum Column {
    case attribute(slot: Int)
    /// The destination's value of its slot `key`.
    case link(RelationshipID, slot: Int, key: Int)
  }

  private func columns(of entity: SchemaEntity) -> [(title: String, column: Column)] {
    entity.slots.enumerated().compactMap { slot, described in
      switch described.role {
      case .attribute:
        return described.type == .transformable ? nil : (described.name, .attribute(slot: slot))
      case .order: return nil
      case .toOne(let id):
        guard let key = uniqueSlot(of: schema[id].destination) else { return nil }
        let title = "\(described.name).\(schema[schema[id].destination].slots[key].name)"
        return (title, .link(id, slot: slot, key: key))
      }
    }
  }

  /// The attribute that rows of an entity are told apart by; nil where there is none, or more than one.
  private func uniqueSlot(of entity: EntityID) -> Int? {
    let entity = schema[entity]
    let single = entity.uniquenessConstraints.filter { $0.slots.count == 1 }.map { $0.slots[0] }
    guard single.count == 1, case .attribute = entity.slots[single[0]].role else { return nil }
    return single[0]
  }

  /// What tables can't say of these entities.
  func warnings(of entities: [SchemaEntity]) -> [String] {
    entities.flatMap { entity -> [String] in
      let slots = entity.slots.compactMap { slot -> String? in
        switch slot.role {
        case .attribute:
          return slot.type == .transformable
            ? "\(entity.name).\(slot.name) is transformable, which no text can say, and is left out" : nil
        case .order: return "\(entity.name).\(slot.name): the order of a list is left out"
        case .toOne(let id):
          let destination = schema[schema[id].destination]
          return uniqueSlot(of: destination.id) == nil
            ? "\(entity.name).\(slot.name) is left out: no single attribute of \(destination.name) is unique"
            : nil
        }
      }
      let joins = entity.relationships.filter { schema[$0].owner == entity.id }.compactMap { id -> String? in
        guard case .join(_, .source) = schema[id].storage else { return nil }
        return "\(entity.name).\(schema[id].name) leads to many from many, and is left out"
      }
      return slots + joins
    }
  }

  /// Every row of the entity itself, in the order of keys.
  func write(
    _ entity: SchemaEntity, _ format: ExportCommand.Format, _ sink: @escaping (String) throws -> Void
  ) throws {
    let columns = columns(of: entity)
    for case .link(let id, _, let key) in columns.map(\.column) where names[id] == nil {
      names[id] = try cells(of: schema[id].destination, slot: key)
    }
    let rows = try store.fetch(StoreRequest(entity: entity.id, includesSubentities: false), in: snapshot)
    for chunk in rows.chunks {
      for column in columns {
        if let damage = chunk.columns[slot(column.column)].damage { throw damage }
      }
    }
    let writer = ResultWriter(format == .csv ? .csv : .json, columns: columns.map(\.title), write: sink)
    try writer.write(
      rows: (0..<rows.count).lazy.map { [names] row in
        let (chunk, place) = (rows.chunk(row), rows.row(row))
        return columns.map { column -> Cell in
          switch column.column {
          case .attribute(let slot): return Cell(chunk.columns[slot], place)
          case .link(let id, let slot, _):
            let keys = chunk.columns[slot]
            return keys.isNull(place) ? .none : names[id]?[keys.integer(place)] ?? .none
          }
        }
      })
  }

  private func slot(_ column: Column) -> Int {
    switch column {
    case .attribute(let slot): slot
    case .link(_, let slot, _): slot
    }
  }

  private func cells(of entity: EntityID, slot: Int) throws -> [Int64: Cell] {
    let rows = try store.fetch(StoreRequest(entity: entity), in: snapshot)
    var cells: [Int64: Cell] = [:]
    cells.reserveCapacity(rows.count)
    for row in 0..<rows.count {
      cells[rows.key(row).id] = Cell(rows.chunk(row).columns[slot], rows.row(row))
    }
    return cells
  }
}

extension Cell {
  /// A value as a column has it.
  init(_ column: Column, _ row: Int) {
    if column.isNull(row) {
      self = .none
      return
    }
    switch column.type {
    case .int16, .int32, .int64, .key: self = .integer(column.integer(row))
    case .bool: self = .truth(column.integer(row) != 0)
    case .double: self = .double(column.double(row))
    case .float: self = .float(Float(column.double(row)))
    case .date: self = .date(Date(timeIntervalSinceReferenceDate: column.double(row)))
    case .decimal: self = .decimal(column.decimal(row))
    case .uuid: self = .text(column.uuid(row).uuidString)
    case .string, .uri: self = .text(column.string(row))
    case .data, .transformable: self = .data(column.data(row))
    }
  }
}
