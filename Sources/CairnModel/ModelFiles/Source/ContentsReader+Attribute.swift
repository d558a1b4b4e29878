// Reads attributes of a `contents` file, and the text of their values.

import Foundation

extension ContentsReader {
  mutating func attribute(_ element: SourceElement, _ place: SourcePlace) -> ModelDocument.Attribute {
    var reader = AttributeReader(element, place)
    let name = reader.required("name")
    reader.place.property = name
    let kind = kind(&reader, "attributeType")
    var attribute = ModelDocument.Attribute(
      name, kind, isOptional: reader.flag("optional"), isTransient: reader.flag("transient"),
      usesScalarValueType: reader.optionalFlag("usesScalarValueType"),
      defaultValue: value(&reader, kind, "default"), validation: validation(&reader, kind),
      allowsExternalBinaryDataStorage: reader.flag("allowsExternalBinaryDataStorage"),
      preservesValueInHistoryOnDeletion: reader.flag("preserveAfterDeletion"),
      isIndexedBySpotlight: reader.flag("spotlightIndexingEnabled"),
      allowsCloudEncryption: reader.flag("allowsCloudEncryption"),
      isStoredInTruthFile: reader.flag("storedInTruthFile"), isIndexed: reader.flag("indexed"),
      isSyncable: reader.flag("syncable"), valueTransformerName: reader.text("valueTransformerName"),
      customClassName: reader.text("customClassName"), customClassModule: reader.text("customClassModule"),
      compositeName: reader.text("composite"), renamingIdentifier: renamingIdentifier(&reader, name),
      versionHashModifier: reader.text("versionHashModifier"))
    let isDerived = reader.flag("derived")
    let expression = reader.text("derivationExpression")
    if isDerived {
      attribute.derivation = .init(expression ?? "")
      if expression == nil { reader.note(.error, "the derived attribute has no derivationExpression") }
    } else if expression != nil {
      reader.note(.warning, "it has a derivationExpression but isn't derived")
    }
    for child in element.children {
      if child.name == "userInfo" {
        attribute.userInfo.merge(userInfo(child, reader.place)) { $1 }
      } else {
        reader.unknown(child)
      }
    }
    finish(&reader)
    return attribute
  }

  mutating func kind(_ reader: inout AttributeReader, _ name: String) -> ModelDocument.AttributeKind {
    guard let text = reader.text(name) else { return .undefined }
    if let kind = ModelDocument.AttributeKind(sourceName: text) { return kind }
    reader.note(.error, "\(name)=\"\(text)\" is no type of attribute")
    return .undefined
  }

  private mutating func validation(
    _ reader: inout AttributeReader, _ kind: ModelDocument.AttributeKind
  ) -> ModelDocument.Validation {
    var result = ModelDocument.Validation(regularExpression: reader.text("regularExpressionString"))
    if kind == .string {
      result.minimumLength = reader.integer("minValueString")
      result.maximumLength = reader.integer("maxValueString")
    } else {
      result.minimum = value(&reader, kind, "min")
      result.maximum = value(&reader, kind, "max")
    }
    return result
  }

  /// What `<prefix>ValueString`, or for a date `<prefix>DateTimeInterval`, says. The text beside a date's
  /// interval is for people, in whatever language and time zone the writer had, and isn't read.
  private mutating func value(
    _ reader: inout AttributeReader, _ kind: ModelDocument.AttributeKind, _ prefix: String
  ) -> Value {
    let text = reader.raw(prefix + "ValueString")
    if kind == .date {
      if let interval = reader.number(prefix + "DateTimeInterval") {
        return .date(Date(timeIntervalSinceReferenceDate: interval))
      }
      if let text, !text.isEmpty {
        reader.note(
          .warning,
          "\(prefix)ValueString=\"\(text)\" has no \(prefix)DateTimeInterval beside it, and isn't read")
      }
      return .null
    }
    guard let text else { return .null }
    if let value = kind.value(sourceText: text) { return value }
    if !text.isEmpty { reader.note(.error, "\(prefix)ValueString=\"\(text)\" is no \(kind.sourceName)") }
    return .null
  }
}

extension ModelDocument.AttributeKind {
  private static let sourceNames: [(ModelDocument.AttributeKind, String)] = [
    (.undefined, "Undefined"), (.integer16, "Integer 16"), (.integer32, "Integer 32"),
    (.integer64, "Integer 64"), (.decimal, "Decimal"), (.double, "Double"), (.float, "Float"),
    (.string, "String"), (.boolean, "Boolean"), (.date, "Date"), (.binaryData, "Binary"), (.uuid, "UUID"),
    (.uri, "URI"), (.transformable, "Transformable"), (.objectID, "Object ID"), (.composite, "Composite"),
  ]

  /// As `attributeType` spells it. `Object ID` is never seen in files.
  public init?(sourceName: String) {
    guard let pair = Self.sourceNames.first(where: { $0.1 == sourceName }) else { return nil }
    self = pair.0
  }

  public var sourceName: String {
    Self.sourceNames.first { $0.0 == self }?.1 ?? "Undefined"
  }

  /// A value from its text in a `contents` file; nil where it is none of this type.
  func value(sourceText text: String) -> Value? {
    switch self {
    case .string: return .string(text)
    case .integer16, .integer32, .integer64:
      // An attribute that was a double before keeps its "0.0" in Xcode.
      guard let number = Int64(text) ?? Double(text).flatMap({ Int64(exactly: $0) }) else { return nil }
      let range = self == .integer16 ? ValueType.int16 : self == .integer32 ? .int32 : .int64
      return range.integerRange?.contains(number) == true ? .int(number) : nil
    case .double: return Double(text).map { .double($0) }
    case .float: return Float(text).map { .float($0) }
    case .decimal:
      guard text.allSatisfy({ $0.isASCII && ($0.isNumber || "+-.eE".contains($0)) }) else { return nil }
      return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map { .decimal($0) }
    case .boolean:
      switch text.lowercased() {
      case "yes", "true", "1": return .bool(true)
      case "no", "false", "0": return .bool(false)
      default: return nil
      }
    case .uuid: return UUID(uuidString: text).map { .uuid($0) }
    case .uri: return text.isEmpty ? nil : .uri(text)
    case .date, .binaryData, .transformable, .objectID, .composite, .undefined: return nil
    }
  }

  /// The text of a limit, which Xcode writes without a fraction where there is none.
  func sourceText(limit value: Value) -> String? {
    let text = sourceText(value)
    return text?.hasSuffix(".0") == true ? text.map { String($0.dropLast(2)) } : text
  }

  /// The text of a value of this type; nil where a `contents` file can't hold it.
  func sourceText(_ value: Value) -> String? {
    switch (self, value) {
    case (.decimal, .decimal(0)): return "0.0"
    case (.string, .string(let x)), (.uri, .uri(let x)): return x
    case (.boolean, .bool(let x)): return x ? "YES" : "NO"
    case (.boolean, .int(let x)): return x != 0 ? "YES" : "NO"
    case (.uuid, .uuid(let x)): return x.uuidString
    case (.integer16, .int(let x)), (.integer32, .int(let x)), (.integer64, .int(let x)),
      (.double, .int(let x)), (.float, .int(let x)), (.decimal, .int(let x)):
      return String(x)
    case (.double, .double(let x)): return String(x)
    case (.float, .float(let x)): return String(x)
    case (.decimal, .decimal(let x)): return x.isNaN ? nil : x.description
    default: return nil
    }
  }
}
