// A model as text for people.

import Cairn

struct ModelSummary {
  let document: ModelDocument

  init(_ document: ModelDocument) { self.document = document }

  /// Entities in the model's order, each with its own properties in columns.
  var text: String {
    var lines: [String] = []
    let identifiers = document.versionIdentifiers.joined(separator: ", ")
    lines.append(
      "\(document.entities.count) entities" + (identifiers.isEmpty ? "" : ", version \(identifiers)"))
    lines.append("checksum \(document.versionChecksum)")
    let hashes = document.versionHashes
    for entity in document.entities {
      lines.append("")
      lines.append(headline(entity))
      lines.append("  hash \(hashes[entity.name]?.hex ?? "")")
      lines += columns(entity.properties.map(row)).map { "  " + $0 }
      for constraint in entity.uniquenessConstraints {
        lines.append("  unique (\(constraint.joined(separator: ", ")))")
      }
      for index in entity.effectiveFetchIndexes { lines.append("  index \(describe(index))") }
    }
    for composite in document.composites {
      lines.append("")
      lines.append("composite \(composite.name)")
      lines += columns(composite.elements.map { row(.attribute($0)) }).map { "  " + $0 }
    }
    if !document.fetchRequests.isEmpty { lines.append("") }
    for request in document.fetchRequests {
      lines.append(
        "fetch request \(request.name): \(request.entity)" + (request.predicate.map { " where \($0)" } ?? ""))
    }
    if !document.configurations.isEmpty { lines.append("") }
    for configuration in document.configurations {
      lines.append(
        "configuration \(configuration.name): \(configuration.entityNames.joined(separator: ", "))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func headline(_ entity: ModelDocument.Entity) -> String {
    var result = entity.isAbstract ? "abstract entity \(entity.name)" : "entity \(entity.name)"
    if let parent = entity.superentity { result += " of \(parent)" }
    if let name = entity.className { result += ", class \(name)" }
    if let old = entity.renamingIdentifier { result += ", was \(old)" }
    return result
  }

  private func row(_ property: ModelDocument.Property) -> [String] {
    switch property {
    case .attribute(let attribute):
      var facts: [String] = []
      if attribute.isOptional { facts.append("optional") }
      if attribute.isTransient { facts.append("transient") }
      if !attribute.defaultValue.isNull { facts.append("= \(attribute.defaultValue)") }
      if let derivation = attribute.derivation { facts.append("from \(derivation.expression)") }
      if let name = attribute.valueTransformerName { facts.append("by \(name)") }
      if let old = attribute.renamingIdentifier { facts.append("was \(old)") }
      let type = attribute.compositeName.map { "Composite \($0)" } ?? attribute.kind.sourceName
      return [attribute.name, type, facts.joined(separator: ", ")]
    case .relationship(let relationship):
      var facts: [String] = []
      if relationship.isOptional { facts.append("optional") }
      if relationship.isOrdered { facts.append("ordered") }
      if let inverse = relationship.inverseName { facts.append("inverse \(inverse)") }
      facts.append("on delete \(relationship.deleteRule.words)")
      if let old = relationship.renamingIdentifier { facts.append("was \(old)") }
      return [
        relationship.name, (relationship.isToMany ? "to many " : "to one ") + relationship.destination,
        facts.joined(separator: ", "),
      ]
    case .fetched(let fetched):
      return [fetched.name, "fetched \(fetched.request.entity)", fetched.request.predicate ?? ""]
    }
  }

  private func describe(_ index: ModelDocument.FetchIndex) -> String {
    let elements = index.elements.map { element in
      let subject =
        switch element.subject {
        case .property(let name): name
        case .expression(let text, _): text
        }
      return subject + (element.isAscending ? "" : " descending")
    }
    return "\(index.name) (\(elements.joined(separator: ", ")))"
  }

  /// Rows with their cells below each other, without spaces at the ends of lines.
  private func columns(_ rows: [[String]]) -> [String] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = zip(row, widths).map { cell, width in
        cell + String(repeating: " ", count: width - cell.count)
      }.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

extension SchemaDeleteRule {
  var words: String {
    switch self {
    case .noAction: "no action"
    case .nullify: "nullify"
    case .cascade: "cascade"
    case .deny: "deny"
    }
  }
}

extension Data {
  /// Two digits a byte.
  var hex: String {
    let digits = Array("0123456789abcdef")
    return String(flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
