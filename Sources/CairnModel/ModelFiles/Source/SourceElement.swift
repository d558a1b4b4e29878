// The XML of a `contents` file as a tree of elements, before anybody asks what they mean.

import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// An element with what the file says in it. Text between elements means nothing in a model, and isn't kept.
struct SourceElement {
  let name: String
  let attributes: [String: String]
  var children: [SourceElement] = []
  /// Counted from 1.
  let line: Int

  /// Model files nest five deep.
  static let depthLimit = 32
  /// The largest known model has about one megabyte.
  static let byteLimit = 64 << 20

  /// The root element. Document types are refused, so nothing is ever expanded or loaded from elsewhere.
  static func parse(_ data: Data, file: String) throws -> SourceElement {
    guard data.count <= byteLimit else {
      throw ModelFileError(
        .tooLarge, file: file, "it has \(data.count) bytes, and \(byteLimit) are read at most",
        remedy: "split the model")
    }
    let text = String(decoding: data, as: UTF8.self)
    if text.isEmpty { throw ModelFileError.notXML(file, "the file is empty", line: 1, column: 1) }
    guard text.utf8.count == data.count, !data.contains(0) else {
      throw ModelFileError.notXML(file, "it isn't text in UTF-8", line: nil, column: nil)
    }
    if let place = text.range(of: "<!DOCTYPE") ?? text.range(of: "<!ENTITY") {
      let line = text[..<place.lowerBound].utf8.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
      throw ModelFileError.notXML(file, "a model has no document type", line: line, column: nil)
    }
    // Foundation's parser on Linux follows a null pointer for a processing instruction without data.
    let body = text.hasPrefix("<?xml ") ? text.dropFirst(2) : text[...]
    if let place = body.range(of: "<?") {
      let line = text[..<place.lowerBound].utf8.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
      throw ModelFileError.notXML(file, "a model has no processing instructions", line: line, column: nil)
    }
    let builder = SourceTreeBuilder()
    let parser = XMLParser(data: data)
    parser.shouldResolveExternalEntities = false
    parser.delegate = builder
    let isWhole = parser.parse()
    if let depth = builder.tooDeepAt {
      throw ModelFileError(
        .tooLarge, file: file, "its elements are nested more than \(depthLimit) deep",
        remedy: "Xcode writes no such file; restore it from version control", line: depth)
    }
    guard isWhole, let root = builder.root else {
      let error = parser.parserError.map { String(describing: ($0 as NSError).localizedDescription) }
      throw ModelFileError.notXML(
        file, "it isn't well-formed XML" + (error.map { " (\($0))" } ?? ""),
        line: max(1, builder.faultAt?.line ?? parser.lineNumber),
        column: max(1, builder.faultAt?.column ?? parser.columnNumber))
    }
    return root
  }
}

extension ModelFileError {
  fileprivate static func notXML(_ file: String, _ message: String, line: Int?, column: Int?)
    -> ModelFileError
  {
    ModelFileError(
      .corrupt, file: file, message,
      remedy: "restore the file from version control, or save the model again in Xcode", line: line,
      column: column)
  }
}

/// Builds the tree from the parser's events.
private final class SourceTreeBuilder: NSObject, XMLParserDelegate {
  private var open: [SourceElement] = []
  private(set) var root: SourceElement?
  /// The line where it was too much.
  private(set) var tooDeepAt: Int?
  private(set) var faultAt: (line: Int, column: Int)?

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    faultAt = faultAt ?? (parser.lineNumber, parser.columnNumber)
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    if open.count == SourceElement.depthLimit {
      tooDeepAt = parser.lineNumber
      parser.abortParsing()
      return
    }
    open.append(SourceElement(name: name, attributes: attributes, line: max(1, parser.lineNumber)))
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    guard let element = open.popLast() else { return }
    if open.isEmpty {
      root = root ?? element
    } else {
      open[open.count - 1].children.append(element)
    }
  }
}
