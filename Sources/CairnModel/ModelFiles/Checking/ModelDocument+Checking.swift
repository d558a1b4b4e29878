// What is wrong with a document: what Xcode would refuse, and what it would warn of.

import Foundation

extension ModelDocument {
  /// Everything that is wrong with the model, in the order of its entities; the reader's own notes come first.
  ///
  /// With an error, Core Data refuses the model or traps when it is used. Linear in the size of the model, but for
  /// predicates, which are parsed.
  public func check() -> [ModelNote] {
    var checker = DocumentChecker(document: self)
    checker.checkModel()
    return notes + checker.notes
  }
}

struct DocumentChecker {
  let document: ModelDocument
  let entities: [String: ModelDocument.Entity]
  let composites: [String: [ModelDocument.Attribute]]
  private let properties: [String: [String: ModelDocument.Property]]
  private(set) var notes: [ModelNote] = []
  var entity: String?
  var property: String?

  init(document: ModelDocument) {
    self.document = document
    entities = Dictionary(document.entities.map { ($0.name, $0) }) { first, _ in first }
    composites = document.elementsByName
    properties = entities.mapValues { entity in
      Dictionary(entity.properties.map { ($0.name, $0) }) { first, _ in first }
    }
  }

  mutating func error(_ message: String) {
    notes.append(ModelNote(.error, message, entity: entity, property: property))
  }

  mutating func warn(_ message: String) {
    notes.append(ModelNote(.warning, message, entity: entity, property: property))
  }

  mutating func checkModel() {
    for name in repeated(document.entities.map(\.name)) { error("there are two entities \(name)") }
    for name in repeated(document.composites.map(\.name)) { error("there are two composites \(name)") }
    for name in repeated(document.configurations.map(\.name)) {
      error("there are two configurations \(name)")
    }
    for name in repeated(document.fetchRequests.map(\.name)) { error("there are two fetch requests \(name)") }
    for name in repeated(document.entities.map { $0.renamingIdentifier ?? $0.name }) {
      warn("two entities were \"\(name)\" before, by their renaming identifiers")
    }
    for entity in document.entities { check(entity) }
    for composite in document.composites {
      entity = composite.name
      checkElements(composite.elements, path: nil, depth: 1)
      property = nil
      if contains(composite.name, itself: composite.name) { error("the composite contains itself") }
    }
    for configuration in document.configurations {
      entity = configuration.name
      for name in configuration.entityNames where entities[name] == nil {
        error("the configuration has an entity \(name) that isn't there")
      }
    }
    for request in document.fetchRequests {
      entity = request.name
      check(request)
    }
    entity = nil
  }

  /// The names that come more than once, each once.
  func repeated(_ names: [String]) -> [String] {
    var (seen, known): (Set<String>, Set<String>) = ([], [])
    return names.filter { !seen.insert($0).inserted && known.insert($0).inserted }
  }

  private func contains(_ name: String, itself start: String) -> Bool {
    var seen: Set<String> = []
    var waiting = [name]
    while let next = waiting.popLast() {
      guard seen.insert(next).inserted, let elements = composites[next] else { continue }
      let inner = elements.compactMap(\.compositeName)
      if inner.contains(start) { return true }
      waiting += inner
    }
    return false
  }

  /// The properties of an entity with those that it inherits, its own first. Ends where inheritance goes in a
  /// circle.
  func allProperties(of entity: ModelDocument.Entity) -> [ModelDocument.Property] {
    var result = entity.properties
    var seen: Set = [entity.name]
    var next = entity.superentity
    while let name = next, seen.insert(name).inserted, let parent = entities[name] {
      result += parent.properties
      next = parent.superentity
    }
    return result
  }

  /// A property of the entity or of those that it inherits from. Of two entities of one name the first counts.
  func property(_ name: String, of entity: String) -> ModelDocument.Property? {
    var seen: Set<String> = []
    var next: String? = entity
    while let owner = next, seen.insert(owner).inserted, let own = properties[owner] {
      if let found = own[name] { return found }
      next = entities[owner]?.superentity
    }
    return nil
  }

  // MARK: Entities

  private mutating func check(_ entity: ModelDocument.Entity) {
    self.entity = entity.name
    checkName(entity.name, what: "an entity", beginsUppercase: true)
    if let parent = entity.superentity {
      if entities[parent] == nil { error("its parent entity \(parent) isn't there") }
      if inheritsFromItself(entity) { error("it inherits from itself") }
    }
    let own = Set(entity.properties.map(\.name))
    for name in repeated(entity.properties.map(\.name)) { error("there are two properties \(name)") }
    for property in allProperties(of: entity).dropFirst(entity.properties.count)
    where own.contains(property.name) {
      error("the property \(property.name) is inherited already")
    }
    for name in repeated(entity.properties.map(\.renamingName)) {
      warn("two properties were \"\(name)\" before, by their renaming identifiers")
    }
    for property in entity.properties {
      self.property = property.name
      checkName(property.name, what: "a property", beginsUppercase: false)
      switch property {
      case .attribute(let attribute):
        check(attribute)
        checkElements(attribute.elements, path: property.name, depth: 1)
      case .relationship(let relationship): check(relationship, of: entity)
      case .fetched(let fetched): check(fetched.request)
      }
    }
    property = nil
    checkConstraints(entity)
    checkIndexes(entity)
    checkExpression(entity.coreSpotlightDisplayNameExpression, "the Spotlight display name")
    self.entity = nil
  }

  private func inheritsFromItself(_ entity: ModelDocument.Entity) -> Bool {
    var seen: Set<String> = []
    var next = entity.superentity
    while let name = next, seen.insert(name).inserted {
      if name == entity.name { return true }
      next = entities[name]?.superentity
    }
    return false
  }

  private mutating func checkName(_ name: String, what: String, beginsUppercase: Bool) {
    if name.isEmpty { return error("\(what) has no name") }
    let isPlain = name.unicodeScalars.allSatisfy { $0.properties.isXIDContinue || $0 == "_" }
    let begin = name.unicodeScalars[name.unicodeScalars.startIndex]
    guard isPlain, begin.properties.isXIDStart || begin == "_" else {
      return error("\"\(name)\" is no name: letters, digits and _ make one, and it begins with a letter")
    }
    if beginsUppercase ? begin.properties.isLowercase : begin.properties.isUppercase {
      warn("the name of \(what) begins with \(beginsUppercase ? "an uppercase" : "a lowercase") letter")
    }
    if !beginsUppercase, ReservedNames.all.contains(name) {
      error("every managed object has something named \(name) already: name the property otherwise")
    }
  }

  private mutating func checkConstraints(_ entity: ModelDocument.Entity) {
    for constraint in entity.uniquenessConstraints {
      let text = constraint.joined(separator: ", ")
      if constraint.isEmpty { error("a uniqueness constraint is empty") }
      for name in constraint {
        switch property(name, of: entity.name) {
        case .attribute(let attribute)?:
          if attribute.isTransient {
            error("the uniqueness constraint \(text) has the transient attribute \(name)")
          }
        case nil: error("the uniqueness constraint \(text) has no property \(name)")
        default: error("the uniqueness constraint \(text) has \(name), which is no attribute")
        }
      }
    }
  }

  private mutating func checkIndexes(_ entity: ModelDocument.Entity) {
    for name in repeated(entity.fetchIndexes.map(\.name)) { error("there are two indexes \(name)") }
    for index in entity.effectiveFetchIndexes {
      if index.elements.isEmpty { error("the index \(index.name) has no elements") }
      if Set(index.elements.map(\.kind)).count > 1 {
        error("the index \(index.name) mixes binary and R-tree elements")
      }
      checkPredicate(index.partialPredicate, "the partial predicate of the index \(index.name)")
      for element in index.elements {
        switch element.subject {
        case .expression(let text, _):
          checkExpression(text, "an expression of the index \(index.name)")
          if element.kind == .rTree { error("the R-tree index \(index.name) has an expression") }
        case .property(let name):
          check(property(name, of: entity.name), name, element.kind, of: index.name)
        }
      }
    }
  }

  private mutating func check(
    _ property: ModelDocument.Property?, _ name: String, _ kind: ModelDocument.FetchIndex.Element.Kind,
    of index: String
  ) {
    switch property {
    case nil where name.contains(".") && kind == .binary: break  // an element of a composite
    case nil: error("the index \(index) has no property \(name)")
    case .attribute(let attribute)?:
      if attribute.isTransient { error("the index \(index) has the transient attribute \(name)") }
      if kind == .rTree, !attribute.kind.fitsRTree {
        let isNumber = [.integer64, .decimal].contains(attribute.kind)
        error(
          "the R-tree index \(index) has \(name), which is no number"
            + (isNumber ? " of at most 32 bits or in floating point" : ""))
      }
    case .relationship(let relationship)?:
      if kind == .rTree { error("the R-tree index \(index) has \(name), which is no number") }
      if relationship.isToMany { error("the index \(index) has the to-many relationship \(name)") }
    case .fetched?: error("the index \(index) has the fetched property \(name)")
    }
  }

  // MARK: Text

  mutating func check(_ request: ModelDocument.FetchRequest) {
    if request.entity.isEmpty {
      error("the fetch request has no entity")
    } else if entities[request.entity] == nil {
      error("it fetches the entity \(request.entity), which isn't there")
    }
    checkPredicate(request.predicate, "its predicate")
    checkPredicate(request.havingPredicate, "its having predicate")
  }

  mutating func checkPredicate(_ text: String?, _ what: String) {
    guard let text else { return }
    do { _ = try PredicateFormat.parse(text) } catch { self.error("\(what) can't be parsed: \(error)") }
  }

  mutating func checkExpression(_ text: String?, _ what: String) {
    guard let text else { return }
    do { _ = try PredicateFormat.parseExpression(text) } catch {
      self.error("\(what) can't be parsed: \(error)")
    }
  }
}

extension ModelDocument.AttributeKind {
  /// What an R-tree can hold: integers of 16 or 32 bits, and floating point numbers.
  package var fitsRTree: Bool { [.integer16, .integer32, .float, .double].contains(self) }
}

extension ModelDocument.Property {
  var renamingName: String {
    switch self {
    case .attribute(let property): property.renamingIdentifier ?? property.name
    case .relationship(let property): property.renamingIdentifier ?? property.name
    case .fetched(let property): property.renamingIdentifier ?? property.name
    }
  }
}
