// What a `.mom` can hold of a document.

extension FormReducer {
  mutating func reduceToCompiled() {
    document.editor = .init()
    let composites = document.elementsByName
    document.versionIdentifiers = Set(document.versionIdentifiers).filter { !$0.isEmpty }.sorted()
    reduceEntities({ _, entity in entity.reduceToCompiled() }) { reducer, property in
      switch property {
      case .attribute(var attribute):
        reducer.reduce(&attribute, composites)
        property = .attribute(attribute)
      case .relationship(var relationship):
        relationship.clean()
        relationship.isSyncable = false
        relationship.inverseEntity = nil
        property = .relationship(relationship)
      case .fetched(var fetched):
        fetched.clean()
        fetched.isSyncable = false
        fetched.request.name = ModelDocument.FetchedProperty.requestName
        fetched.request.reduceToCompiled()
        property = .fetched(fetched)
      }
    }
    for i in document.fetchRequests.indices { document.fetchRequests[i].reduceToCompiled() }
    for i in document.configurations.indices {
      document.configurations[i].isUsedWithCloudKit = false
      document.configurations[i].entityNames = Set(document.configurations[i].entityNames).sorted(
        by: bytewise)
    }
    document.composites = []
    sort()
  }

  private mutating func reduce(
    _ attribute: inout ModelDocument.Attribute, _ composites: [String: [ModelDocument.Attribute]]
  ) {
    budget.beginAttribute()
    if attribute.kind == .composite, !expand(&attribute, composites, depth: 0) {
      lose("elements of composites that are nested too deep, or too many")
    }
    attribute.reduceToCompiled()
  }

  /// Puts the elements of a named composite in line. False if something was left out.
  private mutating func expand(
    _ attribute: inout ModelDocument.Attribute, _ composites: [String: [ModelDocument.Attribute]], depth: Int
  ) -> Bool {
    if attribute.elements.isEmpty {
      attribute.elements = attribute.compositeName.flatMap { composites[$0] } ?? []
    }
    attribute.compositeName = nil
    if !budget.take(attribute.elements.count) || depth == CompositeBudget.depthLimit {
      attribute.elements = []
      return false
    }
    var isWhole = true
    for i in attribute.elements.indices where attribute.elements[i].kind == .composite {
      if !expand(&attribute.elements[i], composites, depth: depth + 1) { isWhole = false }
    }
    return isWhole
  }

  private mutating func sort() {
    func byName<T>(_ name: KeyPath<T, String>) -> (T, T) -> Bool {
      { bytewise($0[keyPath: name], $1[keyPath: name]) }
    }
    document.entities.sort(by: byName(\.name))
    for i in document.entities.indices { document.entities[i].properties.sort(by: byName(\.name)) }
    document.configurations.sort(by: byName(\.name))
    document.fetchRequests.sort(by: byName(\.name))
  }
}

/// The order of names everywhere in Core Data's files: by UTF-8.
func bytewise(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

extension ModelDocument.Entity {
  fileprivate mutating func reduceToCompiled() {
    clean()
    if let module = classModule, let name = className { className = module + "." + name }
    classModule = nil
    isClassInCurrentModule = false
    if className == "NSManagedObject" { className = nil }
    isSyncable = false
    codeGenerationType = nil
    // Beside each fetch index that could be one, a compiled model repeats it as a compound index.
    for i in fetchIndexes.indices {
      fetchIndexes[i].partialPredicate = fetchIndexes[i].partialPredicate.map(canonicalPredicate)
      for e in fetchIndexes[i].elements.indices {
        if case .expression(let text, let kind) = fetchIndexes[i].elements[e].subject {
          fetchIndexes[i].elements[e].subject = .expression(canonicalExpression(text), kind)
        }
      }
    }
    coreSpotlightDisplayNameExpression = coreSpotlightDisplayNameExpression.map(canonicalExpression)
    let known = Set(fetchIndexes.compactMap(\.propertyNames))
    compoundIndexes = compoundIndexes.filter { !known.contains($0) }
  }
}

extension ModelDocument.Attribute {
  fileprivate mutating func reduceToCompiled() {
    clean()
    if let module = customClassModule, let name = customClassName { customClassName = module + "." + name }
    customClassModule = nil
    usesScalarValueType = nil
    isSyncable = false
    if kind != .transformable, kind != .undefined { customClassName = nil }
    if kind != .composite { (compositeName, elements) = (nil, []) }
    if kind == .composite { derivation = nil }
    defaultValue = kind.typed(defaultValue)
    validation.normalize(kind)
    if let old = derivation {
      derivation = .init(
        canonicalExpression(old.expression),
        filteringPredicate: old.filteringPredicate.map(canonicalPredicate))
    }
    for i in elements.indices { elements[i].reduceToCompiled() }
  }
}

extension ModelDocument.FetchRequest {
  fileprivate mutating func reduceToCompiled() {
    clean()
    predicate = predicate.map(canonicalPredicate)
    havingPredicate = havingPredicate.map(canonicalPredicate)
    for i in sortDescriptors.indices where ["compare:", ""].contains(sortDescriptors[i].selector) {
      sortDescriptors[i].selector = nil
    }
  }
}

/// The text as trees print; a text that can't be parsed stays as it is.
func canonicalPredicate(_ text: String) -> String {
  (try? PredicateFormat.parse(text))?.canonicalFormat ?? text
}

func canonicalExpression(_ text: String) -> String {
  (try? PredicateFormat.parseExpression(text))?.canonicalFormat ?? text
}
