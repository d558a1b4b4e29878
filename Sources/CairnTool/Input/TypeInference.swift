// What the columns of a table could be declared as, where no model says it.

import Cairn

enum TypeInference {
  /// A model of one entity for each table: whole numbers, numbers, truth values, dates, and texts for the rest, all
  /// of them optional. Throws `InputError` for what has no types.
  static func model(_ tables: [(entity: String, records: Records)], nullMark: [UInt8]) throws
    -> NSManagedObjectModel
  {
    let model = NSManagedObjectModel()
    model.entities = try tables.map { name, records in
      let entity = NSEntityDescription()
      entity.name = name
      let columns = names(records.columns)
      if let taken = columns.indices.first(where: { ReservedNames.all.contains(columns[$0]) }) {
        let title = records.columns[taken]
        throw InputError(
          "\(records.file): no property can be called \"\(columns[taken])\", because every object has something of that "
            + "name: call the column differently, as in --rename '\(title)=\(free(title, columns))'")
      }
      entity.properties = try zip(columns, types(of: records, nullMark: nullMark)).map {
        name, type in
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
      }
      return entity
    }
    return model
  }

  /// Titles of columns as names that predicates can say: letters, digits and underscores.
  static func names(_ titles: [String]) -> [String] {
    var taken: Set<String> = []
    return titles.map { title in
      var name = String(
        title.map { $0.isASCII && ($0.isLetter || $0.isNumber) || !$0.isASCII && $0.isLetter ? $0 : "_" })
      if name.first?.isNumber ?? true { name = "_" + name }
      while !taken.insert(name).inserted { name += "_" }
      return name
    }
  }

  /// A name for a column whose own can't be used.
  private static func free(_ title: String, _ columns: [String]) -> String {
    var name = title + "_"
    while columns.contains(name) || ReservedNames.all.contains(name) { name += "_" }
    return name
  }

  private static func types(of records: Records, nullMark: [UInt8]) throws -> [NSAttributeType] {
    var candidates = records.columns.map { _ in Candidates() }
    try records.forEach { line, fields, bytes in
      for (column, field) in fields.enumerated() where !field.isNull(bytes, mark: nullMark) {
        if field.form == .structure {
          throw InputError(
            "\(records.file):\(line): \(records.columns[column]) is an object or an array, which no attribute holds"
          )
        }
        candidates[column].see(field, bytes)
      }
    }
    return candidates.map(\.type)
  }

  /// What all the values of a column have been so far.
  private struct Candidates {
    private var isEmpty = true
    private var isInteger = true
    private var isNumber = true
    private var isTruth = true
    private var isDate = true

    mutating func see(_ field: Field, _ bytes: Field.Bytes) {
      isEmpty = false
      if isInteger { isInteger = !hasLeadingZero(field, bytes) && FieldReader.integer(field, bytes) != nil }
      if isNumber, !isInteger {
        isNumber = !hasLeadingZero(field, bytes) && FieldReader.double(field, bytes) != nil
      }
      if isTruth { isTruth = isWord(field, bytes) }
      if isDate { isDate = FieldReader.date(field, bytes) != nil }
    }

    /// Codes like 007 are texts.
    private func hasLeadingZero(_ field: Field, _ bytes: Field.Bytes) -> Bool {
      guard field.form != .number, field.end - field.start > 1, bytes[field.start] == 0x30 else {
        return false
      }
      return bytes[field.start + 1] &- 0x30 < 10
    }

    private func isWord(_ field: Field, _ bytes: Field.Bytes) -> Bool {
      if field.form == .truth { return true }
      guard field.form == .plain || field.form == .quoted, (4...5).contains(field.end - field.start) else {
        return false
      }
      return ["true", "false"].contains(field.text(bytes).lowercased())
    }

    var type: NSAttributeType {
      if isEmpty { return .stringAttributeType }
      if isInteger { return .integer64AttributeType }
      if isNumber { return .doubleAttributeType }
      if isTruth { return .booleanAttributeType }
      return isDate ? .dateAttributeType : .stringAttributeType
    }
  }
}
