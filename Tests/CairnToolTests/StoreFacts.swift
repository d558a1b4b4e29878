// All that a store says, as lines that can be compared.

import Cairn
import Foundation
import Testing

enum StoreFacts {
  /// The store at `path`, an archive or a log by its suffix.
  static func open(
    _ path: String, of model: ModelDocument, _ body: (NSPersistentContainer) throws -> Void
  ) throws {
    let container = NSPersistentContainer(
      name: "Facts", managedObjectModel: try NSManagedObjectModel(document: model))
    container.persistentStoreDescriptions[0].url = URL(fileURLWithPath: path)
    container.persistentStoreDescriptions[0].type =
      path.hasSuffix(".cairn") ? CairnArchiveStoreType : CairnLogStoreType
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    try body(container)
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }

  /// A line for each fact: objects are called by their entity and their number in the order of keys, lists are in their
  /// order, and sets in that of names.
  static func all(_ path: String, of model: ModelDocument) throws -> [String] {
    var facts: [String] = []
    try open(path, of: model) { container in
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first?.store)
      let (schema, snapshot) = (store.schema, try store.snapshot())
      var names: [RowKey: String] = [:]
      let tables = try schema.entities.filter { !$0.isAbstract }.map { entity in
        (
          entity,
          try store.fetch(StoreRequest(entity: entity.id, includesSubentities: false), in: snapshot)
        )
      }
      for (entity, rows) in tables {
        for row in 0..<rows.count { names[rows.key(row)] = "\(entity.name)\(row)" }
      }
      for (entity, rows) in tables {
        let keys = (0..<rows.count).map(rows.key)
        for (slot, described) in entity.slots.enumerated() where described.role == .attribute {
          for row in 0..<rows.count {
            facts.append(
              "\(names[keys[row]] ?? "?").\(described.name) = \(text(rows.value(row, slot: slot)))")
          }
        }
        for id in entity.relationships {
          let related = try store.related(keys, through: id, in: snapshot)
          for (row, key) in keys.enumerated() {
            let members = related[row].map { names[$0] ?? "?" }
            let shown = schema[id].isOrdered ? members : members.sorted()
            facts.append("\(names[key] ?? "?").\(schema[id].name) = \(shown.joined(separator: " "))")
          }
        }
      }
    }
    return facts
  }

  /// Every bit of a value.
  private static func text(_ value: Value) -> String {
    switch value {
    case .double(let number): "\(number), bits \(String(number.bitPattern, radix: 16))"
    case .float(let number): "\(number), bits \(String(number.bitPattern, radix: 16))"
    case .date(let date): text(.double(date.timeIntervalSinceReferenceDate)) + " since 2001"
    case .string(let text): "\"\(text)\" of \(text.unicodeScalars.map { String($0.value, radix: 16) })"
    case .data(let data): "\(data.count) bytes \(data.base64EncodedString())"
    default: "\(value)"
    }
  }
}
