// A table of the input: rows of fields under column names, whatever it was written in.

import Cairn

struct Records {
  /// Of the file, as messages name it.
  let file: String
  /// May be given other titles.
  var columns: [String]
  let bytes: [UInt8]
  private let body: Body
  /// The elements of JSON's arrays, by where the array's field begins.
  private let lists: [Int: [Field]]

  private enum Body {
    case lines(CSVLines)
    case objects([(line: Int, fields: [Field])])
  }

  init(file: String, csv: CSVLines, columns: [String], bytes: [UInt8]) {
    (self.file, self.columns, self.bytes, body, lists) = (file, columns, bytes, .lines(csv), [:])
  }

  init(
    file: String, columns: [String], objects: [(line: Int, fields: [Field])], lists: [Int: [Field]],
    bytes: [UInt8]
  ) {
    (self.file, self.columns, self.bytes, body) = (file, columns, bytes, .objects(objects))
    self.lists = lists
  }

  /// Those of an array; nil for anything else.
  func elements(of field: Field) -> [Field]? { field.form == .structure ? lists[field.start] : nil }

  /// Each row with the number of its line. The bytes end before a zero.
  /// Throws `InputError` for a malformed row, and what `visit` throws.
  func forEach(_ visit: (_ line: Int, _ fields: [Field], _ bytes: Field.Bytes) throws -> Void) throws {
    try bytes.withUnsafeBufferPointer { bytes in
      switch body {
      case .objects(let rows): for row in rows { try visit(row.line, row.fields, bytes) }
      case .lines(let lines):
        try lines.forEach(bytes) { line, fields in try visit(line, fields, bytes) }
      }
    }
  }

  /// The line of the row of that number; 0 where there are fewer.
  func line(ofRow number: Int) throws -> Int {
    var (row, found) = (0, 0)
    try forEach { line, _, _ in
      if row == number { found = line }
      row += 1
    }
    return found
  }
}
