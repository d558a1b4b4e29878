// Reads the `contents` file of an `.xcdatamodel`: the model element and what stands right below it.

public import Foundation

extension ModelDocument {
  /// Reads Xcode's XML.
  ///
  /// Only XML that isn't well-formed, isn't a model, or is too deep or large throws. Whatever else is wrong or
  /// unknown stands in `notes`, and the rest is read.
  /// - Parameter file: the name of the file in errors.
  public init(contents data: Data, file: String) throws {
    let root = try SourceElement.parse(data, file: file)
    guard root.name == "model" else {
      throw ModelFileError(
        .unknownFormat, file: file, "its root element is \(root.name), and a model's is \"model\"",
        remedy: "give the contents file of an .xcdatamodel", line: root.line, column: 1)
    }
    var reader = ContentsReader()
    self = reader.model(root)
    notes = reader.notes
    try checkLimits(file: file)
  }
}

struct ContentsReader {
  var notes: [ModelNote] = []

  mutating func model(_ element: SourceElement) -> ModelDocument {
    var document = ModelDocument()
    var reader = AttributeReader(element, SourcePlace())
    document.editor = ModelDocument.EditorSettings(
      name: reader.text("name"), type: reader.text("type"), documentVersion: reader.text("documentVersion"),
      lastSavedToolsVersion: reader.text("lastSavedToolsVersion"),
      systemVersion: reader.text("systemVersion"),
      minimumToolsVersion: reader.text("minimumToolsVersion"), sourceLanguage: reader.text("sourceLanguage"),
      isUsedWithCloudKit: reader.flag("usedWithCloudKit"),
      isUsedWithSwiftData: reader.flag("usedWithSwiftData"), macOSVersion: reader.text("macOSVersion"),
      iOSVersion: reader.text("iOSVersion"))
    document.editor.clean()
    document.versionIdentifiers = reader.text("userDefinedModelVersionIdentifier").map { [$0] } ?? []
    for child in element.children {
      switch child.name {
      case "entity": document.entities.append(entity(child))
      case "composite": document.composites.append(composite(child))
      case "configuration": document.configurations.append(configuration(child))
      case "fetchRequest": document.fetchRequests.append(fetchRequest(child, SourcePlace()))
      case "elements": break  // where the editor draws the entities
      default: reader.unknown(child)
      }
    }
    finish(&reader)
    return document
  }

  private mutating func composite(_ element: SourceElement) -> ModelDocument.Composite {
    var reader = AttributeReader(element, SourcePlace())
    var composite = ModelDocument.Composite(reader.required("name"), elements: [])
    reader.place.entity = composite.name
    for child in element.children {
      if child.name == "attribute" {
        composite.elements.append(attribute(child, reader.place))
      } else {
        reader.unknown(child)
      }
    }
    finish(&reader)
    return composite
  }

  private mutating func configuration(_ element: SourceElement) -> ModelDocument.Configuration {
    var reader = AttributeReader(element, SourcePlace())
    var configuration = ModelDocument.Configuration(
      reader.required("name"), entityNames: [], isUsedWithCloudKit: reader.flag("usedWithCloudKit"))
    reader.place.entity = configuration.name
    for child in element.children {
      if child.name == "memberEntity" {
        configuration.entityNames.append(named("name", child, reader.place))
      } else {
        reader.unknown(child)
      }
    }
    finish(&reader)
    return configuration
  }

  mutating func fetchRequest(_ element: SourceElement, _ place: SourcePlace) -> ModelDocument.FetchRequest {
    var reader = AttributeReader(element, place)
    var request = ModelDocument.FetchRequest(reader.required("name"), entity: "")
    if place.entity == nil { reader.place.entity = request.name }
    request.entity = reader.required("entity")
    request.predicate = reader.text("predicateString")
    request.fetchLimit = reader.integer("fetchLimit") ?? 0
    request.fetchBatchSize = reader.integer("fetchBatchSize") ?? 0
    request.includesSubentities = reader.optionalFlag("includeSubentities") ?? true
    request.includesPropertyValues = reader.optionalFlag("includePropertyValues") ?? true
    request.includesPendingChanges = reader.optionalFlag("includesPendingChanges") ?? true
    request.returnsObjectsAsFaults = reader.optionalFlag("returnObjectsAsFaults") ?? true
    request.returnsDistinctResults = reader.optionalFlag("returnDistinctResults") ?? false
    if let number = reader.integer("resultType") {
      if let type = ModelDocument.FetchRequest.ResultType(rawValue: number) {
        request.resultType = type
      } else {
        reader.note(.error, "resultType=\"\(number)\" should be 0, 1, 2 or 4")
      }
    }
    for child in element.children { reader.unknown(child) }
    finish(&reader)
    return request
  }

  // MARK: Parts of all of them

  mutating func userInfo(_ element: SourceElement, _ place: SourcePlace) -> [String: String] {
    var result: [String: String] = [:]
    var outer = AttributeReader(element, place)
    for child in element.children {
      guard child.name == "entry" else {
        outer.unknown(child)
        continue
      }
      var reader = AttributeReader(child, place)
      let key = reader.raw("key") ?? ""
      if result.updateValue(reader.raw("value") ?? "", forKey: key) != nil {
        reader.note(.warning, "the user info has two entries \"\(key)\", and the last one counts")
      }
      for grandchild in child.children { reader.unknown(grandchild) }
      finish(&reader)
    }
    finish(&outer)
    return result
  }

  /// An element that has one attribute and nothing else.
  mutating func named(_ attribute: String, _ element: SourceElement, _ place: SourcePlace) -> String {
    var reader = AttributeReader(element, place)
    let name = reader.required(attribute)
    for child in element.children { reader.unknown(child) }
    finish(&reader)
    return name
  }

  mutating func finish(_ reader: inout AttributeReader) {
    reader.finish()
    notes += reader.notes
  }
}
