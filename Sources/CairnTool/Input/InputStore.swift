// What the commands read, as a store: files of tables in memory, with a model or one that they imply, or a store as
// it is.

import Cairn

/// What is to be read, as command lines say it.
struct InputWords: Equatable {
  /// Paths, `-` for standard input, each with `ENTITY=` before it where it was said.
  var inputs: [String] = []
  var model: String?
  var modelVersion: String?
  /// The entity of an input that says none.
  var entity: String?
  /// A word that stands for no value in the input.
  var nullMark = ""
  /// Titles of columns by those in the input.
  var renamed: [String: String] = [:]
  /// The commit after which a log store is shown; nil for the newest.
  var generation: Int64?
}

struct InputStore {
  let container: NSPersistentContainer
  let store: any PersistentStore
  /// The tables that were read, each with the entity that it is of; none for a store.
  private(set) var tables: [(entity: SchemaEntity, records: Records)] = []
  /// The tables of pairs.
  private var linkTables: [(relationship: SchemaRelationship, records: Records)] = []
  private(set) var warnings: [String] = []

  var schema: Schema { store.schema }

  /// Throws `InputError`, `ModelFileError` for the model's file, and the archive's `StoreError`.
  init(_ words: InputWords, progress: (String) -> Void = { _ in }) throws {
    if let path = words.inputs.first(where: ArchivePath.isStore) {
      guard words.inputs.count == 1 else {
        throw InputError("\(path) is a store, and can't be read along with other inputs", 64)
      }
      if words.model != nil { throw InputError("\(path) is a store, and has its model in it", 64) }
      try self.init(store: path, at: words.generation)
    } else {
      if words.generation != nil { throw InputError("--at is of a log store", 64) }
      try self.init(tables: words, progress)
    }
  }

  private init(tables words: InputWords, _ progress: (String) -> Void) throws {
    let mark = Array(words.nullMark.utf8)
    var tables = try InputStore.read(words, progress)
    let model: NSManagedObjectModel
    if let path = words.model {
      model = try InputStore.model(path, words.modelVersion)
    } else {
      tables = try InputStore.named(tables, words.entity)
      model = try TypeInference.model(tables.map { ($0.name ?? "", $0.records) }, nullMark: mark)
      tables = tables.map { $0.titled(TypeInference.names($0.records.columns)) }
    }
    try self.init(empty: model, of: words.model ?? "what the input's columns make")
    let schema = self.schema
    for table in tables {
      if let relationship = InputStore.relationship(of: table, schema) {
        linkTables.append((relationship, table.records))
      } else {
        let only = tables.count == 1 ? words.entity : nil
        self.tables.append((try InputStore.entity(of: table, schema, only: only), table.records))
      }
    }
    progress("putting \(words.inputs.count == 1 ? "it" : "them") together")
    let importer = try Importer(try InputStore.opened(in: container), nullMark: mark)
    try importer.run(self.tables, linkTables)
    warnings = importer.warnings
  }

  /// The archive or log, for reading only: of rows nothing is read before it is asked for. `generation` is of logs
  /// alone: it shows the state after that commit.
  init(store path: String, at generation: Int64? = nil) throws {
    let url = URL(fileURLWithPath: path)
    let isLog = LogFiles.isLog(at: url.path)
    if generation != nil, !isLog { throw InputError("\(path) is an archive: --at is of a log store", 64) }
    let model = try InputStore.model(InputStore.document(inStoreAt: path))
    container = NSPersistentContainer(name: "Input", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: url)
    description.type = isLog ? CairnLogStoreType : CairnArchiveStoreType
    description.isReadOnly = true
    if let generation { description.setOption(NSNumber(value: generation), forKey: CairnGenerationOption) }
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw InputError("\(path): \(failure.localizedDescription)") }
    store = try InputStore.store(of: container)
  }

  /// No rows of a model, which messages call `name`.
  init(empty model: NSManagedObjectModel, of name: String) throws {
    do {
      container = try .inMemory(name: "Input", model: model)
    } catch {
      throw InputError("\(name): \(error.localizedDescription)")
    }
    store = try InputStore.store(of: container)
  }

  private static func store(of container: NSPersistentContainer) throws -> any PersistentStore {
    try opened(in: container).store
  }

  private static func opened(in container: NSPersistentContainer) throws -> NSPersistentStore {
    guard let store = container.persistentStoreCoordinator.persistentStores.first else {
      throw InputError("the store isn't open", 1)
    }
    return store
  }

  // MARK: Tables

  private struct Table {
    var name: String?
    let stem: String?
    var records: Records

    /// `titles` may name a column of one input only, as in `flights.carrier`.
    func renamed(_ titles: [String: String]) -> Table {
      titled(
        records.columns.map { title in
          [name, stem].compactMap { $0.flatMap { titles["\($0).\(title)"] } }.first ?? titles[title] ?? title
        })
    }

    func titled(_ titles: [String]) -> Table {
      var copy = self
      copy.records.columns = titles
      return copy
    }
  }

  private static func read(_ words: InputWords, _ progress: (String) -> Void) throws -> [Table] {
    var tables: [Table] = []
    for word in words.inputs {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let isNamed = parts.count == 2 && !FileManager.default.fileExists(atPath: word)
      let name = isNamed ? parts[0] : nil
      let path = isNamed ? parts[1] : word
      progress("reading \(path)")
      let file = try InputFile(reading: path)
      if isJSON(file) {
        for (entity, records) in try JSONRecords.read(file) {
          tables.append(Table(name: entity ?? name, stem: file.stem, records: records))
        }
      } else {
        tables.append(Table(name: name, stem: file.stem, records: try CSVLines.read(file)))
      }
    }
    return tables.map { $0.renamed(words.renamed) }
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

  /// The model of a file. Its classes stay named, for archives that are made with it, but aren't looked for in this
  /// program, which has some of its own.
  static func model(_ path: String, _ version: String?) throws -> NSManagedObjectModel {
    try model(ModelFile.read(at: URL(fileURLWithPath: path), version: version))
  }

  /// The model that is in an archive or a log.
  static func document(inStoreAt path: String) throws -> ModelDocument {
    let full = ArchivePath.full(path)
    guard
      let source = try LogFiles.isLog(at: full)
        ? LogFiles.modelSource(at: full) : ArchiveFiles.modelSource(at: full)
    else {
      throw InputError("\(path): the store was made without a model, and only Swift code can read it")
    }
    return try ModelDocument(contents: Data(source.utf8), file: path)
  }

  private static func model(_ document: ModelDocument) throws -> NSManagedObjectModel {
    try NSManagedObjectModel(document: document, fileID: "")
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

  /// For messages.
  static func list(_ schema: Schema) -> String {
    schema.entities.map(\.name).sorted().joined(separator: ", ")
  }

  /// The entity of that name; the only one where none is said. Throws `InputError`.
  func entity(named name: String?) throws -> SchemaEntity {
    if let name {
      guard let entity = schema.entity(named: name) else {
        throw InputError("there is no entity \"\(name)\": there are \(InputStore.list(schema))")
      }
      return entity
    }
    guard schema.entities.count == 1 else {
      throw InputError("of which entity? --entity is one of \(InputStore.list(schema))", 64)
    }
    return schema.entities[0]
  }

  /// The to-many relationship that a table has the pairs of: Book.tags, of Book.tags.csv.
  private static func relationship(of table: Table, _ schema: Schema) -> SchemaRelationship? {
    guard let parts = (table.name ?? table.stem)?.split(separator: "."), parts.count == 2,
      let id = schema.entity(named: String(parts[0]))?.relationship(named: String(parts[1])),
      schema[id].isToMany, schema[id].storage != .none
    else { return nil }
    return schema[id]
  }

  /// The entity that a table is of, by what was said or by the file's name.
  private static func entity(of table: Table, _ schema: Schema, only: String?) throws -> SchemaEntity {
    if let name = table.name {
      guard let entity = schema.entity(named: name) else {
        throw InputError("\(table.records.file): there is no entity \"\(name)\": there are \(list(schema))")
      }
      return entity
    }
    if let exact = table.stem.flatMap(schema.entity(named:)) { return exact }
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
}
