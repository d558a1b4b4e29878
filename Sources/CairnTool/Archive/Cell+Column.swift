// A value of a store's column as a cell of a table.

import Cairn

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
