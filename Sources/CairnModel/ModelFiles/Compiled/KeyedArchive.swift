// What NSKeyedArchiver wrote, as objects with classes and fields, without unarchiving any of them.

import Foundation

/// The objects of a keyed archive by their numbers. References may go in circles; nobody follows them here.
struct KeyedArchive {
  let file: String
  private let plist: BinaryPlist
  /// The property list's object of each archived object.
  private let places: [Int]
  /// The fields of each dictionary of the property list, by its place.
  private let fields: [Int: [String: Int]]
  let root: Int
  let cost: ArchiveCost

  /// Longer ones are no key that a model has; they would be hashed for each dictionary that refers to them.
  private static let keyByteLimit = 255

  init(_ data: Data, file: String) throws {
    self.file = file
    cost = ArchiveCost(limit: data.count, file: file)
    let plist = try BinaryPlist(data, file: file)
    self.plist = plist
    var fields: [Int: [String: Int]] = [:]
    for (place, object) in plist.objects.enumerated() {
      guard case .dictionary(let keys, let values) = object else { continue }
      var members: [String: Int] = [:]
      for (key, value) in zip(keys, values) {
        if case .string(let name) = plist.objects[key], name.utf8.count <= KeyedArchive.keyByteLimit {
          members[name] = value
        }
      }
      fields[place] = members
    }
    self.fields = fields
    guard let top = fields[plist.top], let objects = top["$objects"],
      let roots = top["$top"].flatMap({ fields[$0] }),
      case .array(let places) = plist.objects[objects], let place = roots["root"],
      case .uid(let root) = plist.objects[place], root < places.count
    else {
      throw ModelFileError(
        .unknownFormat, file: file, "it is a property list, but no keyed archive",
        remedy: "give a .mom that momc or `cairn model convert` made")
    }
    self.places = places
    self.root = root
  }

  /// A property list's value as a field of an archived object has it.
  enum Field {
    case null
    case bool(Bool)
    case number(Int64)
    case real(Double)
    case data(Data)
    case string(String)
    case reference(Int)
    case list([Int])
    case other
  }

  /// An object of the archive: a plain value, or `other` for one of a class. The first object is null.
  func value(_ number: Int) -> Field { number == 0 ? .null : field(places[number]) }

  /// The text at that number; nil for what is none.
  func text(_ number: Int) throws -> String? {
    guard case .string(let text) = value(number) else { return nil }
    try cost.charge(text, object: number)
    return text
  }

  private func field(_ place: Int) -> Field {
    switch plist.objects[place] {
    case .null: .null
    case .bool(let x): .bool(x)
    case .integer(let x): .number(x)
    case .real(let x): .real(x)
    case .date: .other
    case .data(let x): .data(x)
    case .string(let x): .string(x)
    case .uid(let x): x < places.count ? .reference(x) : .other
    case .array(let members): .list(members)
    case .dictionary: .other
    }
  }

  /// The object of a class at that number; nil for a plain value, or for null.
  func object(_ number: Int) -> ArchivedObject? {
    guard let members = fields[places[number]], let place = members["$class"],
      case .uid(let classNumber) = plist.objects[place], classNumber < places.count,
      let description = fields[places[classNumber]], let name = description["$classname"],
      case .string(let className) = plist.objects[name]
    else { return nil }
    return ArchivedObject(archive: self, number: number, className: className, members: members)
  }

  func fault(_ message: String, _ object: Int) -> ModelFileError {
    ModelFileError(
      .corrupt, file: file, message, remedy: "compile the model again from its source", object: object)
  }

  /// The archived objects that a list of the property list refers to.
  fileprivate func references(_ members: [Int]) -> [Int]? {
    var result: [Int] = []
    result.reserveCapacity(members.count)
    for place in members {
      guard case .uid(let number) = plist.objects[place], number < places.count else { return nil }
      result.append(number)
    }
    return result
  }

  fileprivate func field(_ members: [String: Int], _ name: String) -> Field {
    members[name].map { field($0) } ?? .null
  }
}

/// An object of an archive, with typed access to its fields. A field that isn't there is null, false, 0 or empty;
/// one of another type throws.
struct ArchivedObject {
  let archive: KeyedArchive
  let number: Int
  let className: String
  fileprivate let members: [String: Int]

  func has(_ name: String) -> Bool { members[name] != nil }

  /// The field itself, or what it refers to.
  func field(_ name: String) -> KeyedArchive.Field {
    let field = archive.field(members, name)
    if case .reference(let number) = field { return archive.value(number) }
    return field
  }

  /// The number of the object that a field refers to; nil where that is null.
  func reference(_ name: String) throws -> Int? {
    switch archive.field(members, name) {
    case .null: return nil
    case .reference(let number):
      if case .null = archive.value(number) { return nil }
      return number
    default: throw wrong(name, "a reference")
    }
  }

  func object(_ name: String) throws -> ArchivedObject? {
    guard let number = try reference(name) else { return nil }
    guard let object = archive.object(number) else { throw wrong(name, "an object") }
    try archive.cost.charge(1, object: number)
    return object
  }

  func string(_ name: String) throws -> String? {
    switch field(name) {
    case .null: return nil
    case .string(let text):
      try archive.cost.charge(text, object: number)
      return text
    case .other:
      // NSMutableString is an object of its own.
      if let object = try object(name), object.className.hasSuffix("String") {
        return try object.string("NS.string") ?? ""
      }
      throw wrong(name, "a text")
    default: throw wrong(name, "a text")
    }
  }

  func required(_ name: String) throws -> String {
    guard let text = try string(name) else { throw archive.fault("\(className) has no \(name)", number) }
    return text
  }

  func integer(_ name: String) throws -> Int {
    switch field(name) {
    case .null: return 0
    case .number(let number): return Int(number)
    case .bool(let flag): return flag ? 1 : 0
    default: throw wrong(name, "a whole number")
    }
  }

  func flag(_ name: String) throws -> Bool {
    switch field(name) {
    case .null: return false
    case .bool(let flag): return flag
    case .number(let number): return number != 0
    default: throw wrong(name, "a truth value")
    }
  }

  /// The numbers of the members of an array or set; empty for null.
  func list(_ name: String) throws -> [Int] {
    guard let object = try object(name) else { return [] }
    return try object.members()
  }

  func strings(_ name: String) throws -> [String] {
    try list(name).map { number in
      guard let text = try archive.text(number) else { throw wrong(name, "a list of texts") }
      return text
    }
  }

  /// The members of this array or set.
  func members(of field: String = "NS.objects") throws -> [Int] {
    guard case .list(let places) = archive.field(members, field) else {
      throw archive.fault("\(className) should be a list", number)
    }
    try archive.cost.charge(places.count, object: number)
    guard let numbers = archive.references(places) else {
      throw archive.fault("\(className) should be a list", number)
    }
    return numbers
  }

  /// The keys and values of a dictionary, in the archive's order; empty for null. Keys that aren't text are left
  /// out.
  func dictionary(_ name: String) throws -> [(key: String, value: Int)] {
    guard let object = try object(name) else { return [] }
    let keys: [Int]
    let values: [Int]
    if object.className.hasPrefix("NSKnownKeysDictionary") {
      // Core Data's own dictionary, in the model that a store keeps. An empty place holds a token.
      keys = try object.object("searchMapping")?.list("keys") ?? []
      values = try object.list("values")
    } else {
      keys = try object.members(of: "NS.keys")
      values = try object.members()
    }
    guard keys.count == values.count else {
      throw archive.fault(
        "\(object.className) has \(keys.count) keys and \(values.count) values", object.number)
    }
    let token = try object.reference("emptyToken")
    return try zip(keys, values).compactMap { key, value in
      guard value != token, let text = try archive.text(key) else { return nil }
      return (text, value)
    }
  }

  func wrong(_ name: String, _ what: String) -> ModelFileError {
    archive.fault("\(name) of \(className) should be \(what)", number)
  }
}
