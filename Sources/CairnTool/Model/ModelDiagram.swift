// A model as a Mermaid class diagram, which shows inheritance beside relationships.

import Cairn

enum ModelDiagram {
  static func text(of document: ModelDocument) -> String {
    var lines = ["classDiagram"]
    for entity in document.entities {
      let attributes = entity.attributes
      lines.append("  class \(word(entity.name))" + (attributes.isEmpty && !entity.isAbstract ? "" : " {"))
      if attributes.isEmpty && !entity.isAbstract { continue }
      if entity.isAbstract { lines.append("    <<abstract>>") }
      for attribute in attributes {
        let type = attribute.compositeName ?? attribute.kind.sourceName
        lines.append(
          "    \(word(type))\(attribute.isOptional ? "?" : "") \(word(attribute.name))")
      }
      lines.append("  }")
    }
    for entity in document.entities {
      if let parent = entity.superentity { lines.append("  \(word(parent)) <|-- \(word(entity.name))") }
    }
    var drawn: Set<[String]> = []
    for entity in document.entities {
      for relationship in entity.relationships {
        // A relationship and its inverse are one line.
        let inverse = relationship.inverseName.flatMap { name in
          document.entity(named: relationship.destination)?.relationships.first { $0.name == name }
        }
        let ends = [
          "\(entity.name).\(relationship.name)", "\(relationship.destination).\(inverse?.name ?? "")",
        ]
        guard drawn.insert(ends.sorted()).inserted else { continue }
        let near = inverse.map { " \"\(count($0))\"" } ?? ""
        let label = word(relationship.name) + (inverse.map { " / \(word($0.name))" } ?? "")
        lines.append(
          "  \(word(entity.name))\(near) \(inverse == nil ? "-->" : "--") \"\(count(relationship))\" "
            + "\(word(relationship.destination)) : \(label)")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func count(_ relationship: ModelDocument.Relationship) -> String {
    let least = relationship.isOptional ? 0 : max(1, relationship.minCount)
    if !relationship.isToMany { return relationship.isOptional ? "0..1" : "1" }
    return "\(least)..\(relationship.maxCount > 0 ? String(relationship.maxCount) : "*")"
  }

  /// Mermaid takes letters, digits and underscores.
  private static func word(_ text: String) -> String {
    String(text.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
  }
}
