// Comma-separated values as RFC 4180 has them: fields in quotes may hold separators, line ends and doubled quotes, and
// zero bytes, which stand nowhere else, so that what is no text isn't read as one.

import Cairn

/// Where the lines of a table begin, and what stands between fields.
struct CSVLines {
  private let file: String
  private let separator: UInt8
  /// Behind the header.
  private let start: Int
  private let firstLine: Int
  private let columnCount: Int

  private static let quote = UInt8(ascii: "\"")
  private static let feed = UInt8(ascii: "\n")
  private static let carriage = UInt8(ascii: "\r")

  /// Reads the header. Throws `InputError` for bytes that are no UTF-8, and for a table without a header.
  static func read(_ input: InputFile) throws -> Records {
    var bytes = input.bytes
    let name = input.name
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
    if String(validating: bytes, as: UTF8.self) == nil {
      throw InputError("\(name):\(badLine(bytes)): the bytes are no UTF-8; convert the file to UTF-8")
    }
    bytes.append(0)
    let separator = UInt8(ascii: input.fileExtension == "tsv" ? "\t" : ",")
    return try bytes.withUnsafeBufferPointer { buffer in
      var scanner = Scanner(buffer, file: name, separator: separator)
      guard try scanner.next(), scanner.fields.count > 1 || scanner.fields[0].end > scanner.fields[0].start
      else { throw InputError("\(name): it has no header: the first line holds the names of the columns") }
      let columns = scanner.fields.map { $0.text(buffer) }
      if let twice = columns.indices.first(where: { columns[..<$0].contains(columns[$0]) }) {
        throw InputError("\(name):1: two columns are called \"\(columns[twice])\"")
      }
      let lines = CSVLines(
        file: name, separator: separator, start: scanner.position, firstLine: scanner.line,
        columnCount: columns.count)
      return Records(file: name, csv: lines, columns: columns, bytes: bytes)
    }
  }

  /// Each row, with the number of the line that it begins in. Throws `InputError` for a row that isn't as long as
  /// the header, and for quotes that make no sense.
  func forEach(_ bytes: Field.Bytes, _ visit: (_ line: Int, _ fields: [Field]) throws -> Void) throws {
    var scanner = Scanner(bytes, file: file, separator: separator)
    (scanner.position, scanner.line) = (start, firstLine)
    while true {
      let line = scanner.line
      guard try scanner.next() else { return }
      // A blank line is a row only where a row is one field.
      if columnCount > 1, scanner.isBlank { continue }
      guard scanner.fields.count == columnCount else {
        throw InputError(
          "\(file):\(line): \(scanner.fields.count) field\(scanner.fields.count == 1 ? "" : "s"), where the header "
            + "has \(columnCount)")
      }
      try visit(line, scanner.fields)
    }
  }

  private static func badLine(_ bytes: [UInt8]) -> Int {
    let lines = bytes.split(separator: feed, omittingEmptySubsequences: false)
    return (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
  }

  private struct Scanner {
    private let bytes: Field.Bytes
    private let file: String
    private let separator: UInt8
    var position = 0
    var line = 1
    private(set) var fields: [Field] = []

    init(_ bytes: Field.Bytes, file: String, separator: UInt8) {
      (self.bytes, self.file, self.separator) = (bytes, file, separator)
    }

    var isBlank: Bool { fields.count == 1 && fields[0].form == .plain && fields[0].start == fields[0].end }

    /// Reads a row into `fields`; false at the end. The bytes end with a zero.
    mutating func next() throws -> Bool {
      fields.removeAll(keepingCapacity: true)
      if try isAtEnd() { return false }
      while true {
        if bytes[position] == CSVLines.quote {
          try readQuoted()
        } else {
          let start = position
          while !isEnd(bytes[position]) { position += 1 }
          fields.append(Field(start: start, end: position, form: .plain))
        }
        let end = bytes[position]
        if end == separator {
          position += 1
          continue
        }
        if try isAtEnd() { return true }
        if end == CSVLines.carriage, bytes[position + 1] == CSVLines.feed { position += 1 }
        position += 1
        line += 1
        return true
      }
    }

    /// Throws `InputError` at a zero that isn't the last byte.
    @inline(__always)
    private func isAtEnd() throws -> Bool {
      if bytes[position] != 0 { return false }
      if position == bytes.count - 1 { return true }
      throw InputError("\(file):\(line): a zero byte, which no text has but in quotes")
    }

    @inline(__always)
    private func isEnd(_ byte: UInt8) -> Bool {
      byte == separator || byte == CSVLines.feed || byte == CSVLines.carriage || byte == 0
    }

    private mutating func readQuoted() throws {
      let begin = line
      position += 1
      let start = position
      var form = Field.Form.quoted
      while true {
        let byte = bytes[position]
        if byte == 0, position == bytes.count - 1 {
          throw InputError("\(file):\(begin): a quote that nothing closes")
        }
        if byte == CSVLines.feed { line += 1 }
        position += 1
        if byte != CSVLines.quote { continue }
        if bytes[position] != CSVLines.quote { break }
        form = .escaped
        position += 1
      }
      fields.append(Field(start: start, end: position - 1, form: form))
      guard isEnd(bytes[position]) else {
        throw InputError(
          "\(file):\(line): text behind a closing quote; quotes within a field are written twice")
      }
    }
  }
}
