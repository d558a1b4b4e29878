// What the rows of a store are called where other rows lead to them: by a unique attribute, or by a number.

import Cairn

struct References {
  private let schema: Schema
  /// The slot that rows of a destination are named by; no entry where they have numbers.
  private var slots: [EntityID: Int] = [:]
  private var cells: [EntityID: [Int64: Cell]] = [:]
  /// The entities whose rows have numbers.
  private var numbered: Set<EntityID> = []

  /// `destinations` are those that rows lead to. Throws what reading their rows throws.
  init(
    _ store: any PersistentStore, _ snapshot: any StoreSnapshot, naming destinations: Set<EntityID>
  ) throws {
    schema = store.schema
    for id in destinations {
      let rows = try store.fetch(StoreRequest(entity: id), in: snapshot)
      var cells: [Int64: Cell] = [:]
      cells.reserveCapacity(rows.count)
      if let slot = References.uniqueSlot(of: schema[id]), References.hasValues(rows, slot) {
        slots[id] = slot
        for row in 0..<rows.count {
          cells[rows.key(row).id] = Cell(rows.chunk(row).columns[slot], rows.row(row))
        }
      } else {
        numbered.formUnion(schema[id].concreteFamily)
        for row in 0..<rows.count { cells[rows.key(row).id] = .integer(rows.key(row).id) }
      }
      self.cells[id] = cells
    }
  }

  /// The attribute that rows of an entity are told apart by, if there is one, and a text says its values exactly.
  private static func uniqueSlot(of entity: SchemaEntity) -> Int? {
    let single = entity.uniquenessConstraints.filter { $0.slots.count == 1 }.map { $0.slots[0] }
    guard single.count == 1, entity.slots[single[0]].role == .attribute else { return nil }
    switch entity.slots[single[0]].type {
    case .string, .int16, .int32, .int64, .uuid, .uri: return single[0]
    default: return nil
    }
  }

  /// Whether each row has a value. One that can't be read is told when the entity's own table is written.
  private static func hasValues(_ rows: RowBatch, _ slot: Int) -> Bool {
    (0..<rows.count).allSatisfy { !rows.chunk($0).columns[slot].isNull(rows.row($0)) }
  }

  func isNumbered(_ entity: EntityID) -> Bool { numbered.contains(entity) }

  /// What tables call the values that rows of a destination are named by.
  func title(of destination: EntityID) -> String {
    slots[destination].map { schema[destination].slots[$0].name } ?? ImportTarget.idTitle
  }

  /// Nothing for a key without a row.
  func cell(_ key: Int64, of destination: EntityID) -> Cell { cells[destination]?[key] ?? .none }
}
