// The attributes of one element, taken one after the other, so that what nobody took can be named.

import Foundation

/// What stands where, for notes.
struct SourcePlace {
  var entity: String?
  var property: String?
}

/// Takes attributes from an element. An attribute that is there but empty is one that isn't there, except where a
/// method says otherwise.
struct AttributeReader {
  private let element: SourceElement
  private var rest: [String: String]
  var place: SourcePlace
  private(set) var notes: [ModelNote] = []

  init(_ element: SourceElement, _ place: SourcePlace) {
    self.element = element
    self.place = place
    rest = element.attributes
  }

  /// As written, empty or not.
  mutating func raw(_ name: String) -> String? { rest.removeValue(forKey: name) }

  mutating func text(_ name: String) -> String? {
    raw(name).flatMap { $0.isEmpty ? nil : $0 }
  }

  mutating func required(_ name: String) -> String {
    if let text = text(name) { return text }
    note(.error, "\(element.name) has no \(name)")
    return ""
  }

  mutating func flag(_ name: String) -> Bool { optionalFlag(name) ?? false }

  mutating func optionalFlag(_ name: String) -> Bool? {
    guard let text = text(name) else { return nil }
    switch text.lowercased() {
    case "yes", "true", "1": return true
    case "no", "false", "0": return false
    default:
      note(.error, "\(name)=\"\(text)\" should be YES or NO")
      return nil
    }
  }

  mutating func integer(_ name: String) -> Int? {
    guard let text = text(name) else { return nil }
    if let number = Int(text) { return number }
    note(.error, "\(name)=\"\(text)\" should be a whole number")
    return nil
  }

  mutating func number(_ name: String) -> Double? {
    guard let text = text(name) else { return nil }
    if let number = Double(text) { return number }
    note(.error, "\(name)=\"\(text)\" should be a number")
    return nil
  }

  /// Says of every attribute that nobody took that it isn't kept.
  mutating func finish() {
    for (name, value) in rest.sorted(by: { $0.key < $1.key }) {
      note(.warning, "\(element.name) has an attribute that isn't known: \(name)=\"\(value)\"")
    }
    rest = [:]
  }

  mutating func note(_ severity: ModelNote.Severity, _ message: String, line: Int? = nil) {
    notes.append(
      ModelNote(
        severity, message, entity: place.entity, property: place.property, line: line ?? element.line))
  }

  /// Says of a child element that it isn't kept.
  mutating func unknown(_ child: SourceElement) {
    note(.warning, "\(element.name) has an element that isn't known: \(child.name)", line: child.line)
  }
}
