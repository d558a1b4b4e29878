// XML as Xcode writes it: four spaces a level, attributes in a fixed order, no text between elements.

import Foundation

struct SourceWriter {
  private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
  private var depth = 0

  /// An attribute that is nil isn't written.
  typealias Attributes = KeyValuePairs<String, String?>

  mutating func element(_ name: String, _ attributes: Attributes) {
    open(name, attributes, ending: "/>\n")
  }

  /// Writes nothing between the tags if `body` writes nothing.
  mutating func element(_ name: String, _ attributes: Attributes, body: (inout SourceWriter) -> Void) {
    open(name, attributes, ending: ">\n")
    let start = text.utf8.count
    depth += 1
    body(&self)
    depth -= 1
    if text.utf8.count == start {
      text.removeLast(2)
      text += "/>\n"
    } else {
      text += indentation + "</\(name)>\n"
    }
  }

  private mutating func open(_ name: String, _ attributes: Attributes, ending: String) {
    text += indentation + "<" + name
    for (key, value) in attributes {
      if let value { text += " \(key)=\"" + SourceWriter.escaped(value) + "\"" }
    }
    text += ending
  }

  private var indentation: String { String(repeating: "    ", count: depth) }

  static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 < 32 || "&<>\"".utf8.contains($0) }) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n", "\r", "\t": result += "&#\(scalar.value);"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Whether XML 1.0 has this character.
  static func isWritable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 9, 10, 13, 0x20...0xFFFD, 0x10000...0x10FFFF: true
    default: false
    }
  }
}
