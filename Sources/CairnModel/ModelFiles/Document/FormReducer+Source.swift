// What a `contents` file can hold of a document.

extension FormReducer {
  mutating func reduceToSource() {
    if document.versionIdentifiers.count > 1 {
      lose("of the version identifiers \(document.versionIdentifiers) only the first is kept")
    }
    document.versionIdentifiers = document.versionIdentifiers.prefix(1).filter { !$0.isEmpty }
    document.editor.clean()
    reduceEntities({ _, entity in entity.clean() }) { reducer, property in
      switch property {
      case .attribute(var attribute):
        reducer.reduce(&attribute)
        property = .attribute(attribute)
      case .relationship(var relationship):
        relationship.clean()
        property = .relationship(relationship)
      case .fetched(var fetched):
        fetched.clean()
        fetched.request.name = ModelDocument.FetchedProperty.requestName
        reducer.reduce(&fetched.request)
        property = .fetched(fetched)
      }
    }
    for i in document.fetchRequests.indices {
      entity = document.fetchRequests[i].name
      var request = document.fetchRequests[i]
      reduce(&request)
      document.fetchRequests[i] = request
    }
    // Hoisting elements adds composites at the end, which are reduced in their turn.
    var i = 0
    while i < document.composites.count {
      entity = document.composites[i].name
      for e in document.composites[i].elements.indices {
        var element = document.composites[i].elements[e]
        property = element.name
        reduce(&element)
        document.composites[i].elements[e] = element
      }
      i += 1
    }
    (entity, property) = (nil, nil)
  }

  private mutating func reduce(_ attribute: inout ModelDocument.Attribute) {
    attribute.clean()
    let kind = attribute.kind
    func isLost(_ value: Value) -> Bool {
      if case .date = value, kind == .date { return false }
      return !value.isNull && kind.sourceText(value) == nil
    }
    if isLost(attribute.defaultValue) {
      lose("the default value \(attribute.defaultValue) of type \(kind.sourceName)")
      attribute.defaultValue = .null
    }
    if kind != .string, isLost(attribute.validation.minimum) || isLost(attribute.validation.maximum) {
      lose("the limits \(attribute.validation.minimum) and \(attribute.validation.maximum)")
      if isLost(attribute.validation.minimum) { attribute.validation.minimum = .null }
      if isLost(attribute.validation.maximum) { attribute.validation.maximum = .null }
    }
    if attribute.dropMisplacedValidation() {
      lose("limits that the type \(kind.sourceName) has no field for")
    }
    for other in attribute.validation.others { lose("the validation predicate \(other.predicate)") }
    attribute.validation.others = []
    if let predicate = attribute.derivation?.filteringPredicate {
      lose("the filter \(predicate) of the derivation")
      attribute.derivation?.filteringPredicate = nil
    }
    if !attribute.elements.isEmpty {
      attribute.compositeName = hoist(attribute.elements, for: attribute.name)
      attribute.elements = []
    }
  }

  /// The name of a composite with these elements, made if there is none.
  private mutating func hoist(_ elements: [ModelDocument.Attribute], for name: String) -> String {
    if let known = document.composites.first(where: { $0.elements == elements }) { return known.name }
    let plain = name.prefix(1).uppercased() + name.dropFirst()
    var free = plain
    var number = 2
    while document.composite(named: free) != nil {
      free = plain + String(number)
      number += 1
    }
    document.composites.append(.init(free, elements: elements))
    return free
  }

  private mutating func reduce(_ request: inout ModelDocument.FetchRequest) {
    request.clean()
    if request.fetchOffset != 0 { lose("the fetch request's offset") }
    if !request.sortDescriptors.isEmpty { lose("the fetch request's sort descriptors") }
    if !request.propertiesToFetch.isEmpty { lose("the fetch request's properties to fetch") }
    if !request.propertiesToGroupBy.isEmpty { lose("the fetch request's grouping") }
    if request.havingPredicate != nil { lose("the fetch request's having predicate") }
    if !request.relationshipKeyPathsForPrefetching.isEmpty { lose("the fetch request's prefetching") }
    request.fetchOffset = 0
    request.sortDescriptors = []
    request.propertiesToFetch = []
    request.propertiesToGroupBy = []
    request.havingPredicate = nil
    request.relationshipKeyPathsForPrefetching = []
  }
}

// MARK: What every file does

extension ModelDocument.EditorSettings {
  mutating func clean() {
    name = name.nonEmpty
    type = (type.nonEmpty == "com.apple.IDECoreDataModeler.DataModel" ? nil : type.nonEmpty)
    documentVersion = documentVersion.nonEmpty
    lastSavedToolsVersion = lastSavedToolsVersion.nonEmpty
    systemVersion = systemVersion.nonEmpty
    minimumToolsVersion = minimumToolsVersion.nonEmpty
    sourceLanguage = sourceLanguage.nonEmpty
    macOSVersion = macOSVersion.nonEmpty
    iOSVersion = iOSVersion.nonEmpty
  }
}

extension ModelDocument.Entity {
  mutating func clean() {
    className = className.nonEmpty
    if className == "NSManagedObject" && !isClassInCurrentModule { className = nil }
    if className == nil { isClassInCurrentModule = false }
    classModule = classModule.nonEmpty
    superentity = superentity.nonEmpty
    codeGenerationType = codeGenerationType.nonEmpty
    renamingIdentifier = renamingIdentifier.nonEmpty == name ? nil : renamingIdentifier.nonEmpty
    versionHashModifier = versionHashModifier.nonEmpty
    coreSpotlightDisplayNameExpression = coreSpotlightDisplayNameExpression.nonEmpty
    for i in fetchIndexes.indices {
      fetchIndexes[i].partialPredicate = fetchIndexes[i].partialPredicate.nonEmpty
    }
  }
}

extension ModelDocument.Attribute {
  mutating func clean() {
    valueTransformerName = valueTransformerName.nonEmpty
    customClassName = customClassName.nonEmpty
    customClassModule = customClassModule.nonEmpty
    compositeName = compositeName.nonEmpty
    renamingIdentifier = renamingIdentifier.nonEmpty == name ? nil : renamingIdentifier.nonEmpty
    versionHashModifier = versionHashModifier.nonEmpty
    validation.regularExpression = validation.regularExpression.nonEmpty
    if derivation?.filteringPredicate == "" { derivation?.filteringPredicate = nil }
  }

  /// A source's fields for limits hold a string's lengths, and the values of everything else. True if there were
  /// others.
  mutating func dropMisplacedValidation() -> Bool {
    let before = validation
    if kind == .string {
      validation.minimum = .null
      validation.maximum = .null
    } else {
      validation.minimumLength = nil
      validation.maximumLength = nil
    }
    return validation != before
  }
}

extension ModelDocument.Relationship {
  mutating func clean() {
    inverseName = inverseName.nonEmpty
    inverseEntity = inverseEntity.nonEmpty
    renamingIdentifier = renamingIdentifier.nonEmpty == name ? nil : renamingIdentifier.nonEmpty
    versionHashModifier = versionHashModifier.nonEmpty
  }
}

extension ModelDocument.FetchedProperty {
  mutating func clean() {
    renamingIdentifier = renamingIdentifier.nonEmpty == name ? nil : renamingIdentifier.nonEmpty
    versionHashModifier = versionHashModifier.nonEmpty
  }
}

extension ModelDocument.FetchRequest {
  mutating func clean() {
    predicate = predicate.nonEmpty
    havingPredicate = havingPredicate.nonEmpty
  }
}
