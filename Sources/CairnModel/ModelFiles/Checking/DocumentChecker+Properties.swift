// What is wrong with attributes and relationships.

import Foundation

extension DocumentChecker {
  mutating func check(_ attribute: ModelDocument.Attribute) {
    switch attribute.kind {
    case .undefined, .objectID:
      if !attribute.isTransient { error("an attribute that is stored has to have a type") }
    case .transformable where attribute.valueTransformerName == nil && !attribute.isTransient:
      warn("it has no value transformer; choose NSSecureUnarchiveFromData or one of your own")
    case .composite:
      if attribute.elements.isEmpty, attribute.compositeName.flatMap({ composites[$0] })?.isEmpty ?? true {
        error("there is no composite \(attribute.compositeName ?? "chosen") with elements")
      }
      if !attribute.defaultValue.isNull {
        error("the default values of a composite attribute stand with its elements")
      }
    default: break
    }
    if let type = attribute.kind.valueType, type != .transformable,
      !attribute.kind.typed(attribute.defaultValue).fits(type)
    {
      error("the default value \(attribute.defaultValue) is no \(attribute.kind.sourceName)")
    }
    if attribute.allowsExternalBinaryDataStorage, attribute.kind != .binaryData {
      warn("only binary data can be kept in external records")
    }
    check(attribute.validation, of: attribute)
    if let derivation = attribute.derivation {
      if attribute.isTransient {
        error("a derived attribute is computed by the store, and can't be transient")
      }
      if derivation.expression.isEmpty {
        error("it is derived, but not said from what")
      } else {
        checkExpression(derivation.expression, "its derivation")
      }
      checkPredicate(derivation.filteringPredicate, "the filter of its derivation")
      if !attribute.defaultValue.isNull { warn("it is derived, so its default value means nothing") }
    }
    if document.editor.isUsedWithCloudKit, !attribute.isOptional, attribute.defaultValue.isNull,
      attribute.derivation == nil, !attribute.isTransient
    {
      warn("with CloudKit, an attribute is optional or has a default value")
    }
  }

  private mutating func check(_ validation: ModelDocument.Validation, of attribute: ModelDocument.Attribute) {
    if isGreater(validation.minimum, validation.maximum) { error("the minimum is greater than the maximum") }
    if isGreater(validation.minimum, attribute.defaultValue) {
      error("the default value is less than the minimum")
    }
    if isGreater(attribute.defaultValue, validation.maximum) {
      error("the default value is greater than the maximum")
    }
    if let least = validation.minimumLength, let most = validation.maximumLength, least > most {
      error("the minimum length is greater than the maximum length")
    }
    if case .string(let text) = attribute.defaultValue, !text.isEmpty {
      if let least = validation.minimumLength, text.count < least {
        error("the default value is shorter than the minimum length")
      }
      if let most = validation.maximumLength, text.count > most {
        error("the default value is longer than the maximum length")
      }
    }
    if let pattern = validation.regularExpression, (try? NSRegularExpression(pattern: pattern)) == nil {
      error("\"\(pattern)\" is no regular expression")
    }
    for other in validation.others { checkPredicate(other.predicate, "a validation predicate") }
  }

  /// Elements in line, or of a composite with a name. `path` is that of the attribute whose elements they are.
  mutating func checkElements(_ elements: [ModelDocument.Attribute], path: String?, depth: Int) {
    if elements.isEmpty { return }
    property = path
    for name in repeated(elements.map(\.name)) { error("there are two elements \(name)") }
    if depth > CompositeBudget.depthLimit {
      return error("composites are nested more than \(CompositeBudget.depthLimit) deep")
    }
    for element in elements {
      let elementPath = (path.map { $0 + "." } ?? "") + element.name
      property = elementPath
      if element.isTransient { error("an element of a composite can't be transient") }
      if element.derivation != nil { error("an element of a composite can't be derived") }
      check(element)
      checkElements(element.elements, path: elementPath, depth: depth + 1)
    }
    property = path
  }

  private func isGreater(_ a: Value, _ b: Value) -> Bool {
    guard !a.isNull, !b.isNull, a.family == b.family, a.family == .number || a.family == .date else {
      return false
    }
    return Value.compare(a, b) > 0
  }

  mutating func check(_ relationship: ModelDocument.Relationship, of entity: ModelDocument.Entity) {
    if relationship.minCount < 0 || relationship.maxCount < -1 { error("a count can't be negative") }
    if relationship.maxCount > 0, relationship.minCount > relationship.maxCount {
      error("the minimum count is greater than the maximum count")
    }
    if relationship.isOrdered, !relationship.isToMany { warn("a to-one relationship has no order") }
    if relationship.deleteRule == .noAction {
      warn("the delete rule No Action leaves references to deleted objects behind")
    }
    if document.editor.isUsedWithCloudKit {
      if !relationship.isOptional { warn("with CloudKit, a relationship is optional") }
      if relationship.isOrdered { warn("CloudKit has no ordered relationships") }
      if relationship.deleteRule == .deny { warn("CloudKit has no delete rule Deny") }
      if relationship.inverseName == nil { warn("with CloudKit, a relationship has an inverse") }
    }
    guard !relationship.destination.isEmpty else { return error("it has no destination") }
    guard let destination = entities[relationship.destination] else {
      return error("its destination \(relationship.destination) isn't there")
    }
    guard let inverseName = relationship.inverseName else {
      return warn("it has no inverse, so that nothing is maintained on the other side")
    }
    guard case .relationship(let inverse)? = property(inverseName, of: destination.name) else {
      return error("its inverse \(relationship.destination).\(inverseName) is no relationship")
    }
    if inverse.inverseName != relationship.name {
      error("\(relationship.destination).\(inverseName) isn't its inverse in turn")
    } else if !isOrInherits(entity, from: inverse.destination),
      !isOrInherits(inverse.destination, entity.name)
    {
      error("\(relationship.destination).\(inverseName) leads to \(inverse.destination)")
    }
  }

  private func isOrInherits(_ entity: ModelDocument.Entity, from name: String) -> Bool {
    isOrInherits(entity.name, name)
  }

  /// Whether one entity is another, or inherits from it.
  private func isOrInherits(_ name: String, _ ancestor: String) -> Bool {
    var seen: Set<String> = []
    var next: String? = name
    while let current = next, seen.insert(current).inserted {
      if current == ancestor { return true }
      next = entities[current]?.superentity
    }
    return false
  }
}
