// The figures that `--aggregate` and `--having` name, as expressions over the rows of a group.

import Cairn

enum Aggregates {
  private static let functions = ["count", "sum", "min", "max", "average", "median", "mode", "stddev"]

  /// One column: `count`, `max(x)`, `max(x) - min(x) as spread`. Throws `InputError`.
  static func column(_ text: String) throws -> NSExpressionDescription {
    let description = NSExpressionDescription()
    var body = text
    description.name = text
    if let match = text.firstMatch(of: /(?i)^(.*\S)\s+as\s+([A-Za-z_][A-Za-z0-9_]*)$/) {
      body = String(match.1)
      description.name = String(match.2)
    }
    do {
      description.expression = try NSExpression(parsing: rewritten(body))
    } catch {
      throw InputError("--aggregate \(text): \(error)")
    }
    return description
  }

  /// Functions as a predicate's format writes them: `sum(x)` is `sum:(x)`, `count` alone counts rows.
  static func rewritten(_ text: String) -> String {
    var result = ""
    var quote: Character?
    var rest = text[...]
    while let character = rest.first {
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if character.isLetter || character == "_" {
        let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
        rest = rest.dropFirst(word.count)
        let isCall = rest.drop { $0 == " " }.first == "("
        if isCall, functions.contains(word.lowercased()) {
          rest = rest.drop { $0 == " " }.dropFirst()
          result += word.lowercased() + ":("
          let inside = rest.trimmingPrefix(while: { $0 == " " })
          if inside.lowercased().hasPrefix("distinct ") {
            // What Core Data's words for it are.
            rest = inside.dropFirst("distinct ".count).trimmingPrefix(while: { $0 == " " })
            result += "@distinctUnionOfObjects."
          }
        } else if word.lowercased() == "count", rest.first != ":" {
          result += "count:(SELF)"
        } else {
          result += word
        }
        continue
      }
      result.append(character)
      rest = rest.dropFirst()
    }
    return result
  }
}
