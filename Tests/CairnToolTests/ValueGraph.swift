// Random graphs of a model with attributes of every type, whose values are those that texts say with the greatest trouble.

import Cairn
import Foundation

enum ValueGraph {
  /// Attributes of every type, in an entity and one that inherits from it, and rows that are called by a value of each
  /// type that can be a name.
  static let model = ModelDocument(
    entities: [
      .init(
        "Number",
        properties: [
          .attribute(.init("int16", .integer16, isOptional: true)),
          .attribute(.init("int32", .integer32, isOptional: true)),
          .attribute(.init("int64", .integer64, isOptional: true)),
          .attribute(.init("decimal", .decimal, isOptional: true)),
          .attribute(.init("double", .double, isOptional: true)),
          .attribute(.init("float", .float, isOptional: true)),
          .attribute(.init("boolean", .boolean, isOptional: true)),
          // In order, each of the other, and of itself.
          .relationship(.init("peers", to: "Number", inverse: "peers", isOptional: true, isOrdered: true)),
        ]),
      .init(
        "Thing", superentity: "Number",
        properties: [
          .attribute(.init("string", .string, isOptional: true, defaultValue: "a default")),
          .attribute(.init("date", .date, isOptional: true)),
          .attribute(.init("data", .binaryData, isOptional: true, allowsExternalBinaryDataStorage: true)),
          .attribute(.init("uuid", .uuid, isOptional: true)),
          .attribute(.init("uri", .uri, isOptional: true)),
          .attribute(.init("object", .transformable, isOptional: true)),
          .attribute(.init("place", .composite, isOptional: true, compositeName: "Place")),
          // In order and without an inverse.
          .relationship(.init("numbers", to: "Number", isOptional: true, isOrdered: true)),
          .relationship(.init("byString", to: "Named", isOptional: true, maxCount: 1)),
          .relationship(.init("byNumber", to: "Numbered", isOptional: true, maxCount: 1)),
          .relationship(.init("byUUID", to: "Marked", isOptional: true, maxCount: 1)),
          .relationship(.init("byURI", to: "Linked", isOptional: true, maxCount: 1)),
          .relationship(.init("byElement", to: "Placed", isOptional: true, maxCount: 1)),
        ]),
      .init("Named", properties: [.attribute(.init("key", .string))], uniquenessConstraints: [["key"]]),
      .init("Numbered", properties: [.attribute(.init("key", .integer64))], uniquenessConstraints: [["key"]]),
      .init("Marked", properties: [.attribute(.init("key", .uuid))], uniquenessConstraints: [["key"]]),
      .init("Linked", properties: [.attribute(.init("key", .uri))], uniquenessConstraints: [["key"]]),
      .init(
        "Placed", properties: [.attribute(.init("place", .composite, compositeName: "Place"))],
        uniquenessConstraints: [["place.point.name"]]),
      // Its rows are all that it says.
      .init("Bare", properties: [.relationship(.init("things", to: "Thing", isOptional: true))]),
      .init("Nothing", properties: []),
    ],
    composites: [
      .init(
        "Place",
        elements: [
          .init("height", .double, isOptional: true), .init("seen", .date, isOptional: true),
          .init("point", .composite, isOptional: true, compositeName: "Point"),
        ]),
      .init(
        "Point", elements: [.init("name", .string, isOptional: true), .init("x", .float, isOptional: true)]),
    ])

  /// Makes a store with a random graph.
  static func make(_ path: String, seed: UInt64) throws {
    var dice = Dice(seed: seed)
    try StoreFacts.open(path, of: model) { container in
      let context = container.newBackgroundContext()
      try context.performAndWait {
        func add(_ name: String, _ count: Int) -> [NSManagedObject] {
          (0..<count).map { _ in NSEntityDescription.insertNewObject(forEntityName: name, into: context) }
        }
        let (numbers, things) = (add("Number", 15), add("Thing", 25))
        let ends = try ["Named", "Numbered", "Marked", "Linked", "Placed"].map { name in
          let objects = add(name, 6)
          for (number, object) in objects.enumerated() { try setKey(object, number, &dice) }
          return objects
        }
        for object in numbers + things {
          for (name, value) in dice.values(of: object.entity) { object.setValue(value, forKey: name) }
          object.setValue(NSOrderedSet(array: dice.some(of: numbers + things)), forKey: "peers")
        }
        for thing in things {
          thing.setValue(NSOrderedSet(array: dice.some(of: numbers + things)), forKey: "numbers")
          for (name, ends) in zip(["byString", "byNumber", "byUUID", "byURI", "byElement"], ends) {
            if dice.isHead() { thing.setValue(ends.randomElement(using: &dice), forKey: name) }
          }
        }
        for bare in add("Bare", 4) { bare.setValue(Set(dice.some(of: things)), forKey: "things") }
        _ = add("Nothing", 3)
        try context.save()
      }
    }
  }

  /// A value that no other has.
  private static func setKey(_ object: NSManagedObject, _ number: Int, _ dice: inout Dice) throws {
    switch object.entity.name {
    case "Named": object.setValue(dice.oddText() + "\(number)", forKey: "key")
    case "Numbered":
      object.setValue(number == 0 ? Int64.min : number == 1 ? .max : Int64(number), forKey: "key")
    case "Marked": object.setValue(dice.uuid(), forKey: "key")
    case "Linked": object.setValue(URL(string: "x-\(number):" + dice.path()), forKey: "key")
    default:
      object.setValue(["point": ["name": dice.oddText() + "\(number)"] as [String: Any]], forKey: "place")
    }
  }
}

extension Dice {
  /// Values for all of an entity's attributes, a sixth of them nil.
  fileprivate mutating func values(of entity: NSEntityDescription) -> [(String, Any?)] {
    entity.attributesByName.sorted { $0.key < $1.key }
      .map { name, attribute in (name, isSixth() ? nil : value(of: attribute)) }
  }

  private mutating func isSixth() -> Bool { Int.random(in: 0..<6, using: &self) == 0 }

  private mutating func value(of attribute: NSAttributeDescription) -> Any? {
    switch attribute.attributeType {
    case .integer16AttributeType: integer(of: Int16.self)
    case .integer32AttributeType: integer(of: Int32.self)
    case .integer64AttributeType: integer(of: Int64.self)
    case .decimalAttributeType: NSDecimalNumber(decimal: decimal())
    case .doubleAttributeType: double()
    case .floatAttributeType: float()
    case .booleanAttributeType: isHead()
    case .stringAttributeType: oddText()
    case .dateAttributeType: date()
    case .binaryDataAttributeType: data()
    case .UUIDAttributeType: uuid()
    case .URIAttributeType: URL(string: "https://example.org/" + path())
    case .transformableAttributeType: object()
    default:
      Dictionary(
        uniqueKeysWithValues: (attribute as? NSCompositeAttributeDescription)?.elements.compactMap {
          element in
          value(of: element).map { (element.name, $0) }
        } ?? [])
    }
  }

  private mutating func integer<T: FixedWidthInteger & Sendable>(of type: T.Type) -> T {
    isHead()
      ? .random(in: .min ... .max, using: &self) : [.min, .max, 0, -1, 1].randomElement(using: &self) ?? 0
  }

  /// Of up to 38 digits, and what is no number.
  private mutating func decimal() -> Decimal {
    if isSixth() { return .nan }
    let digits = (0..<Int.random(in: 1...38, using: &self))
      .map { _ in String(Int.random(in: 0...9, using: &self)) }.joined()
    let power = Int.random(in: -128...89, using: &self)
    return Decimal(string: (isHead() ? "-" : "") + digits + "e\(power)") ?? 0
  }

  private mutating func double() -> Double {
    if isHead() { return Double(bitPattern: next()) }
    return [
      0, -0.0, .nan, -.nan, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1,
      1e22, 1e23,
      9_007_199_254_740_992,
    ].randomElement(using: &self) ?? 0
  }

  /// Stores quiet what signals, so that none does here.
  private mutating func float() -> Float {
    if isHead() { return Float(Double(Float(bitPattern: UInt32(truncatingIfNeeded: next())))) }
    return [
      0, -0.0, .nan, -.nan, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1,
      16_777_216,
    ].randomElement(using: &self) ?? 0
  }

  private mutating func date() -> Date {
    let seconds: Double =
      switch Int.random(in: 0..<6, using: &self) {
      case 0: Double(bitPattern: next())
      case 1: .random(in: 0...1e9, using: &self)
      case 2: .random(in: -7e10...3e11, using: &self)
      case 3: .random(in: -10...10, using: &self)
      case 4: (Double.random(in: 0...1e9, using: &self) * 1e6).rounded() / 1e6
      default:
        [
          0, -0.0, .nan, .infinity, -.infinity, 1e-300, -1e-20, -0.5, 1e15, 63_113_904_000, -63_114_076_800,
          252_423_993_599.99997,
        ].randomElement(using: &self) ?? 0
      }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  /// With what a line of a table, a string of JSON and a comparison of characters stumble over.
  fileprivate mutating func oddText() -> String {
    let parts = [
      "", "\0", "\"", "\"\u{301}", "\"\"", "\r", "\n", "\r\n", "\u{2028}", "\u{FEFF}", "e\u{301}", "é",
      "\u{301}",
      "👩‍👧", "nan", "null", "NA", " ", "\\", "\\u0041", "\u{FFFF}", "\u{10FFFF}", "\t", "\u{7F}", ",", "Å",
      "\u{212B}",
    ]
    return (0..<Int.random(in: 0...5, using: &self)).map { _ in parts.randomElement(using: &self) ?? "" }
      .joined()
  }

  private mutating func data() -> Data {
    Data((0..<Int.random(in: 0...40, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) })
  }

  /// What the transformer of secure archives takes.
  private mutating func object() -> Any {
    switch Int.random(in: 0..<3, using: &self) {
    case 0: oddText()
    case 1: [oddText(), oddText()]
    default: ["a": data(), "b": NSNumber(value: integer(of: Int64.self))] as [String: Any]
    }
  }

  fileprivate mutating func uuid() -> UUID {
    UUID(uuid: withUnsafeBytes(of: (next(), next())) { $0.load(as: uuid_t.self) })
  }

  fileprivate mutating func path() -> String {
    ["a/b", "%C3%A4", "?q=1&r=%20#f", "a%2Fb", "~x;y=(z)", ""].randomElement(using: &self) ?? ""
  }
}
