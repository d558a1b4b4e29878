// What is fetched from: a store in memory, with the model, filled with the inputs.

import Cairn

struct FetchInput {
  let container: NSPersistentContainer
  /// The entity whose objects are fetched.
  let entity: SchemaEntity
  /// Columns of the entity's first table as paths of properties; all stored attributes where it has no table.
  let columns: [String]
  let warnings: [String]

  /// Throws `InputError`, and `ModelFileError` for the model's file.
  init(_ command: FetchCommand) throws {
    let inputs = try command.inputs.map { word -> (entity: String?, file: InputFile) in
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let isNamed = parts.count == 2 && !FileManager.default.fileExists(atPath: word)
      return (isNamed ? parts[0] : nil, try InputFile(reading: isNamed ? parts[1] : word))
    }
    var tables: [Table] = []
    for (name, file) in inputs {
      if FetchInput.isJSON(file) {
        for (entity, records) in try JSONRecords.read(file) {
          tables.append(Table(name: entity ?? name, stem: file.stem, records: records))
        }
      } else {
        tables.append(Table(name: name, stem: file.stem, records: try CSVLines.read(file)))
      }
    }
    tables = tables.map { $0.renamed(command.renamed) }
    let mark = Array(command.nullMark.utf8)
    let model: NSManagedObjectModel
    if let path = command.model {
      model = try FetchInput.model(path, command.modelVersion)
    } else {
      tables = try FetchInput.named(tables, command.entity)
      model = try TypeInference.model(tables.map { ($0.name ?? "", $0.records) }, nullMark: mark)
      tables = tables.map { $0.titled(TypeInference.names($0.records.columns)) }
    }
    do {
      container = try .inMemory(name: "Input", model: model)
    } catch {
      throw InputError("\(command.model ?? "what the input's columns make"): \(error.localizedDescription)")
    }
    guard let store = container.persistentStoreCoordinator.persistentStores.first?.store else {
      throw InputError("the store in memory isn't open", 1)
    }
    let schema = store.schema
    entity = try FetchInput.fetched(command.entity, schema)
    let pairs = try tables.map { table in
      (
        try FetchInput.entity(of: table, schema, only: tables.count == 1 ? command.entity : nil),
        table.records
      )
    }
    let importer = Importer(store, nullMark: mark)
    try importer.run(pairs)
    warnings = importer.warnings
    columns = try FetchInput.columns(of: entity, pairs, schema)
  }

  private struct Table {
    var name: String?
    let stem: String?
    var records: Records

    func renamed(_ titles: [String: String]) -> Table { titled(records.columns.map { titles[$0] ?? $0 }) }

    func titled(_ titles: [String]) -> Table {
      var copy = self
      copy.records.columns = titles
      return copy
    }
  }

  /// By the extension, or by the first character.
  private static func isJSON(_ file: InputFile) -> Bool {
    switch file.fileExtension {
    case "json": return true
    case "csv", "tsv": return false
    default:
      let first = file.bytes.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
      return first == UInt8(ascii: "[") || first == UInt8(ascii: "{")
    }
  }

  /// Without the classes that the model names, which this program doesn't have.
  private static func model(_ path: String, _ version: String?) throws -> NSManagedObjectModel {
    var document = try ModelFile.read(at: URL(fileURLWithPath: path), version: version)
    for entity in document.entities.indices { document.entities[entity].className = nil }
    return try NSManagedObjectModel(document: document)
  }

  // MARK: Entities

  /// Gives every table a name of its own.
  private static func named(_ tables: [Table], _ entity: String?) throws -> [Table] {
    var taken: Set<String> = []
    return try tables.map { table in
      var table = table
      let name = table.name ?? (tables.count == 1 ? entity : nil) ?? table.stem
      let words = name.map { TypeInference.names([$0])[0] } ?? "Input"
      guard taken.insert(words).inserted else {
        throw InputError(
          "two inputs are called \"\(words)\": say what they are, as in Flight=\(table.records.file)")
      }
      table.name = words
      return table
    }
  }

  private static func fetched(_ name: String?, _ schema: Schema) throws -> SchemaEntity {
    if let name {
      guard let entity = schema.entity(named: name) else {
        throw InputError("there is no entity \"\(name)\": there are \(list(schema))")
      }
      return entity
    }
    guard schema.entities.count == 1 else {
      throw InputError("of which entity? --entity is one of \(list(schema))", 64)
    }
    return schema.entities[0]
  }

  private static func list(_ schema: Schema) -> String {
    schema.entities.map(\.name).sorted().joined(separator: ", ")
  }

  /// The entity that a table is of, by what was said or by the file's name.
  private static func entity(of table: Table, _ schema: Schema, only: String?) throws -> SchemaEntity {
    if let name = table.name {
      guard let entity = schema.entity(named: name) else {
        throw InputError("\(table.records.file): there is no entity \"\(name)\": there are \(list(schema))")
      }
      return entity
    }
    if let stem = table.stem?.lowercased() {
      let fits = schema.entities.filter { entity in
        let name = entity.name.lowercased()
        let plurals = [name, name + "s", name + "es", name.last == "y" ? name.dropLast() + "ies" : name]
        return plurals.contains(stem)
      }
      if fits.count == 1 { return fits[0] }
    }
    if let only, let entity = schema.entity(named: only) { return entity }
    throw InputError(
      "\(table.records.file): of which entity? write it before the path, as in "
        + "\(schema.entities.first?.name ?? "Entity")=\(table.records.file); there are \(list(schema))", 64)
  }

  private static func columns(
    of entity: SchemaEntity, _ pairs: [(SchemaEntity, Records)], _ schema: Schema
  ) throws -> [String] {
    var names: [String] = []
    for case .some(let target) in try pairs.filter({ $0.0.id == entity.id }).flatMap({
      try ImportTarget.all($0.1, $0.0, schema)
    }) {
      var name: String
      switch target {
      case .attribute(let slot): name = entity.slots[slot].name
      case .link(let id, let slot, let key):
        name = "\(entity.slots[slot].name).\(schema[schema[id].destination].slots[key].name)"
      }
      if !names.contains(name) { names.append(name) }
    }
    for attribute in entity.attributes where !attribute.isTransient {
      for slot in attribute.slots where !names.contains(entity.slots[slot].name) {
        if entity.slots[slot].type != .transformable { names.append(entity.slots[slot].name) }
      }
    }
    return names
  }
}
