// What the importer says of input that isn't taken as it is.

import Cairn

extension Importer {
  /// A warning for each derived attribute of which something else was given than what follows from the objects.
  func corrected(_ all: [DerivedImport.Correction], _ tables: [Table]) throws -> [String] {
    let bySlot = Dictionary(grouping: all) { [$0.row.entity.index, $0.slot] }
    return try bySlot.sorted { $0.key.lexicographicallyPrecedes($1.key) }.compactMap { _, corrections in
      let first = corrections[0]
      let entity = schema[first.row.entity]
      let place = try place(of: first.row, tables).map { $0 + ": " } ?? ""
      let others = corrections.count - 1
      let more =
        others == 0 ? "" : ", and so in \(Console.grouped(others)) more row\(others == 1 ? "" : "s")"
      return
        "\(place)\(entity.name).\(entity.slots[first.slot].name) is derived, and is \(first.written) there, not "
        + "\(first.given)\(more)"
    }
  }

  /// The file and the line of a row that a table has.
  func place(of row: RowKey, _ tables: [Table]) throws -> String? {
    guard
      let table = tables.first(where: { $0.keys.contains(row.id) && $0.rows.entity.id == row.entity })
    else { return nil }
    return "\(table.records.file):\(try table.records.line(ofRow: Int(row.id - table.keys.lowerBound)))"
  }

  /// What the store refuses.
  func explain(_ conflict: CommitConflict, _ tables: [Table]) throws -> InputError {
    guard let duplicate = conflict.duplicates.first else { return InputError("\(conflict)") }
    let entity = schema[duplicate.constraint.entity]
    let what = zip(duplicate.constraint.slots, duplicate.values).map { "\(entity.slots[$0].name) \($1)" }
    let places = try duplicate.keys.prefix(2).compactMap { try place(of: $0, tables) }
    return InputError(
      "\(places.joined(separator: " and ")): two objects of \(entity.name) have \(what.joined(separator: ", ")), which "
        + "has to be unique")
  }
}

extension ValueType {
  /// As Core Data's model editor names it.
  var sourceName: String {
    switch self {
    case .int16: "Integer 16"
    case .int32: "Integer 32"
    case .int64: "Integer 64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .string: "String"
    case .bool: "Boolean"
    case .date: "Date"
    case .data: "Binary Data"
    case .uuid: "UUID"
    case .uri: "URI"
    case .transformable: "Transformable"
    case .key: "object"
    }
  }
}
