// The rows of the input as they are read, and how they are found by what other rows call them.

import Cairn

/// The rows of one entity as they are read.
final class EntityRows {
  let entity: SchemaEntity
  let columns: [ColumnBuilder]
  /// Ascending.
  var keys: [Int64] = []
  /// The keys of rows that have an `@id`, by that; `Lookup.several` where several have it.
  private(set) var keysByID: [Int64: Int64] = [:]
  /// By slot; null where there is none. Of an attribute that is the time of a save it is the time of the import.
  let defaults: [Value]
  /// The slots of derived attributes, which nobody has to give a value.
  let derived: Set<Int>
  /// What lists say of slots of their members, by slot and row.
  private var listed: [Int: [Int: Int64]] = [:]

  /// `time` is what attributes are that have the time of a save.
  init(_ entity: SchemaEntity, _ derivation: DerivedImport, time: Date) {
    self.entity = entity
    derived = derivation.slots(of: entity.id)
    columns = entity.slots.map { ColumnBuilder($0.type) }
    var defaults = [Value](repeating: .null, count: entity.slots.count)
    for attribute in entity.attributes {
      for (slot, value) in zip(attribute.slots, attribute.defaultValues) { defaults[slot] = value }
    }
    for slot in derivation.times(of: entity.id) { defaults[slot] = .date(time) }
    self.defaults = defaults
  }

  /// Whether the slot of a row has to have a value that the input gives.
  func isRequired(_ slot: Int) -> Bool { entity.slots[slot].isRequired && !derived.contains(slot) }

  /// Whether that can't be had without a column.
  func isMissing(_ slot: Int) -> Bool { isRequired(slot) && defaults[slot].isNull }

  func add(id: Int64, of key: Int64) { keysByID[id] = keysByID[id] == nil ? key : Lookup.several }

  /// The number of the row with that key; nil where it is none of these.
  func row(of key: Int64) -> Int? {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < keys.count && keys[low] == key ? low : nil
  }

  func list(_ value: Int64, slot: Int, row: Int) { listed[slot, default: [:]][row] = value }

  /// What a list says of a row's slot.
  func listed(slot: Int, row: Int) -> Int64? { listed[slot]?[row] }

  /// Puts what lists say, or nothing, at the end of a column, for `count` rows.
  func appendListed(slot: Int, count: Int) {
    for row in columns[slot].count..<columns[slot].count + count {
      if let value = listed(slot: slot, row: row) {
        columns[slot].append(value)
      } else {
        columns[slot].appendNull()
      }
    }
  }

  /// Brings columns that the input doesn't have to the number of rows.
  func fill(_ slots: [Int]) throws {
    for slot in slots {
      while columns[slot].count < keys.count { try columns[slot].append(value: defaults[slot]) }
    }
  }

  var inserts: ChangeSet.Inserts {
    ChangeSet.Inserts(
      entity: entity.id, keys: keys,
      columns: columns.enumerated().map { slot, column in
        if entity.slots[slot].role != .attribute {
          appendListed(slot: slot, count: keys.count - column.count)
        }
        for _ in column.count..<keys.count {
          // It fits: it is the slot's own.
          try? column.append(value: defaults[slot])
        }
        return column.finish()
      })
  }
}

/// The rows of an entity's family by the value of one slot, or by their `@id`.
final class Lookup {
  struct Name: Hashable {
    let destination: EntityID
    /// nil is the `@id`.
    let slot: Int?
  }

  /// Stands for the key where several rows have the value.
  static let several: Int64 = -1

  let name: Name
  let reader: FieldReader
  var keys: [Value: Int64] = [:]

  init(_ name: Name, _ reader: FieldReader) {
    (self.name, self.reader) = (name, reader)
  }

  func add(_ value: Value, _ key: Int64) { keys[value] = keys[value] == nil ? key : Lookup.several }

  /// What values are of, for messages.
  func title(_ schema: Schema) -> String {
    name.slot.map { schema[name.destination].slots[$0].name } ?? ImportTarget.idTitle
  }
}

extension Slot {
  /// Whether a row has to have a value.
  fileprivate var isRequired: Bool {
    if case .order = role { false } else { !isOptional }
  }
}
