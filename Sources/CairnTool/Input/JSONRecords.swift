// JSON as tables: an array of objects, or an object that has one array of objects an entity.

import Cairn

enum JSONRecords {
  /// Tables with the names of the members that they stood in; nil for the array of an input that is one.
  static func read(_ input: InputFile) throws -> [(entity: String?, records: Records)] {
    let value = try JSONReader.read(input)
    switch value.content {
    case .array(let elements): return [(nil, try records(elements, input.name))]
    case .object(let members):
      return try members.map { name, value in
        guard case .array(let elements) = value.content else {
          throw InputError(
            "\(input.name):\(value.line): \"\(name)\" is no array of objects; the input is an array of objects, or "
              + "an object with one array for each entity")
        }
        return (name, try records(elements, input.name))
      }
    default:
      throw InputError(
        "\(input.name):\(value.line): neither an array of objects nor an object of such arrays")
    }
  }

  private static func records(_ elements: [JSONInput], _ file: String) throws -> Records {
    var columns: [String] = []
    var numbers: [String: Int] = [:]
    var bytes: [UInt8] = []
    var lists: [Int: [Field]] = [:]
    var rows: [(line: Int, fields: [Field])] = []
    for element in elements {
      guard case .object(let members) = element.content else {
        throw InputError("\(file):\(element.line): an element of the array is no object")
      }
      var fields: [Int: Field] = [:]
      for (name, value) in members.flatMap(flattened) {
        let number = numbers[name] ?? columns.count
        if number == columns.count {
          numbers[name] = number
          columns.append(name)
        }
        fields[number] = field(value, &bytes, &lists)
      }
      let absent = Field(start: 0, end: 0, form: .absent)
      rows.append((element.line, columns.indices.map { fields[$0] ?? absent }))
    }
    // Earlier rows don't know of later columns.
    for row in rows.indices {
      let missing = columns.count - rows[row].fields.count
      rows[row].fields += repeatElement(Field(start: 0, end: 0, form: .absent), count: missing)
    }
    bytes.append(0)
    return Records(file: file, columns: columns, objects: rows, lists: lists, bytes: bytes)
  }

  /// `{"airline": {"carrier": "UA"}}` says what `{"airline.carrier": "UA"}` does, and `{"tags": [{"name": "x"}]}` what
  /// `{"tags.name": ["x"]}` does.
  private static func flattened(_ member: (name: String, value: JSONInput)) -> [(String, JSONInput)] {
    if case .array(let elements) = member.value.content, let name = onlyMember(of: elements) {
      let values = elements.compactMap { element -> JSONInput? in
        if case .object(let members) = element.content { members[0].value } else { nil }
      }
      return [(member.name + "." + name, JSONInput(line: member.value.line, content: .array(values)))]
    }
    guard case .object(let inner) = member.value.content, !inner.isEmpty else {
      return [(member.name, member.value)]
    }
    return inner.flatMap { name, value in flattened((member.name + "." + name, value)) }
  }

  /// The name of the one member that each of the elements has.
  private static func onlyMember(of elements: [JSONInput]) -> String? {
    var found: String?
    for element in elements {
      guard case .object(let members) = element.content, members.count == 1,
        found ?? members[0].name == members[0].name
      else { return nil }
      found = members[0].name
    }
    return found
  }

  private static func field(_ value: JSONInput, _ bytes: inout [UInt8], _ lists: inout [Int: [Field]])
    -> Field
  {
    let start = bytes.count
    let form: Field.Form
    switch value.content {
    case .null: form = .null
    case .truth(let truth):
      form = .truth
      bytes += (truth ? "true" : "false").utf8
    case .number(let text):
      form = .number
      bytes += text.utf8
    case .string(let text):
      form = .string
      bytes += text.utf8
    case .array, .object: form = .structure
    }
    let field = Field(start: start, end: bytes.count, form: form)
    bytes.append(UInt8(ascii: " "))
    if case .array(let elements) = value.content {
      lists[start] = elements.map { self.field($0, &bytes, &lists) }
    }
    return field
  }
}
