// JSON read with its places: what numbers say digit by digit, the members in order, and the line of each value,
// none of which Foundation's reader keeps.

import Cairn

/// A value of the input.
struct JSONInput {
  indirect enum Content {
    case null
    case truth(Bool)
    /// As it is written.
    case number(String)
    case string(String)
    case array([JSONInput])
    case object([(name: String, value: JSONInput)])
  }

  let line: Int
  let content: Content
}

/// Reads RFC 8259. Throws `InputError` with file, line and column.
struct JSONReader {
  private let file: String
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var lineStart = 0

  private static let greatestDepth = 100

  static func read(_ input: InputFile) throws -> JSONInput {
    var reader = JSONReader(file: input.name, bytes: input.bytes)
    guard String(validating: input.bytes, as: UTF8.self) != nil else {
      throw InputError("\(input.name): the bytes are no UTF-8; convert the file to UTF-8")
    }
    if input.bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
    reader.skipSpace()
    let value = try reader.value(depth: 0)
    reader.skipSpace()
    if reader.position < reader.bytes.count { throw reader.error("something behind the end of the JSON") }
    return value
  }

  private init(file: String, bytes: [UInt8]) {
    (self.file, self.bytes) = (file, bytes)
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func error(_ message: String) -> InputError {
    InputError("\(file):\(line):\(position - lineStart + 1): \(message)")
  }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      position += 1
      if byte == 0x0A { (line, lineStart) = (line + 1, position) }
    }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    skipSpace()
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    skipSpace()
    return true
  }

  private mutating func value(depth: Int) throws -> JSONInput {
    if depth > JSONReader.greatestDepth { throw error("nested deeper than \(JSONReader.greatestDepth)") }
    let start = line
    guard let byte = next else { throw error("the JSON ends where a value belongs") }
    switch byte {
    case UInt8(ascii: "{"): return JSONInput(line: start, content: try object(depth))
    case UInt8(ascii: "["): return JSONInput(line: start, content: try array(depth))
    case UInt8(ascii: "\""): return JSONInput(line: start, content: .string(try string()))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return JSONInput(line: start, content: .number(try number()))
    default:
      for (word, content) in [
        ("null", JSONInput.Content.null), ("true", .truth(true)), ("false", .truth(false)),
      ] where bytes[position...].starts(with: word.utf8) {
        position += word.utf8.count
        return JSONInput(line: start, content: content)
      }
      throw error("no JSON value begins so")
    }
  }

  private mutating func object(_ depth: Int) throws -> JSONInput.Content {
    var members: [(name: String, value: JSONInput)] = []
    var names: Set<String> = []
    position += 1
    if take("}") { return .object([]) }
    while true {
      guard next == UInt8(ascii: "\"") else { throw error("a member's name belongs here, in quotes") }
      let name = try string()
      guard names.insert(name).inserted else { throw error("the member \"\(name)\" is there twice") }
      guard take(":") else { throw error("a colon belongs here") }
      members.append((name, try value(depth: depth + 1)))
      if take(",") { continue }
      guard take("}") else { throw error("a comma or a closing brace belongs here") }
      return .object(members)
    }
  }

  private mutating func array(_ depth: Int) throws -> JSONInput.Content {
    var elements: [JSONInput] = []
    position += 1
    if take("]") { return .array([]) }
    while true {
      elements.append(try value(depth: depth + 1))
      if take(",") { continue }
      guard take("]") else { throw error("a comma or a closing bracket belongs here") }
      return .array(elements)
    }
  }

  private mutating func number() throws -> String {
    let start = position
    func digits(_ reader: inout JSONReader) -> Int {
      let from = reader.position
      while let byte = reader.next, byte >= 0x30, byte <= 0x39 { reader.position += 1 }
      return reader.position - from
    }
    if next == UInt8(ascii: "-") { position += 1 }
    let isZero = next == UInt8(ascii: "0")
    let whole = digits(&self)
    var isGood = whole == 1 || whole > 1 && !isZero
    if next == UInt8(ascii: ".") {
      position += 1
      isGood = digits(&self) > 0 && isGood
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      isGood = digits(&self) > 0 && isGood
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard isGood else { throw error("\(text) is no number") }
    return text
  }

  private mutating func string() throws -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case 0..<0x20: throw error("a control character in a string; write it as an escape")
      case UInt8(ascii: "\\"): text += Array(String(try escape()).utf8)
      default: text.append(byte)
      }
    }
    throw error("a string that nothing closes")
  }

  private mutating func escape() throws -> Character {
    guard let byte = next else { throw error("a string that nothing closes") }
    position += 1
    switch byte {
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Character(Unicode.Scalar(byte))
    case UInt8(ascii: "u"):
      let first = try hexadecimal()
      if let scalar = Unicode.Scalar(first) { return Character(scalar) }
      if first < 0xDC00, bytes[position...].starts(with: "\\u".utf8) {
        position += 2
        let second = try hexadecimal()
        if second >= 0xDC00, second < 0xE000,
          let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        {
          return Character(scalar)
        }
      }
      throw error("half of a character: a surrogate without the other one")
    default: throw error("no such escape")
    }
  }

  private mutating func hexadecimal() throws -> UInt32 {
    let digits = bytes[position..<min(position + 4, bytes.count)]
    guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw error("\\u wants four hexadecimal digits") }
    position += 4
    return value
  }
}
