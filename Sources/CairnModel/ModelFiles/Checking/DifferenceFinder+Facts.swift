// What of two things in documents is compared, as labels with texts. A new field of a document goes into the facts of its
// kind here.

import Foundation

extension DifferenceFinder {
  private func yes(_ flag: Bool) -> String { flag ? "yes" : "no" }

  private func lists(_ lists: [[String]]) -> String? {
    lists.isEmpty ? nil : lists.map { "(" + $0.joined(separator: ", ") + ")" }.joined(separator: " ")
  }

  private func list(_ names: [String]) -> String? { names.isEmpty ? nil : names.joined(separator: ", ") }

  private func userInfo(_ info: [String: String]) -> String? {
    info.isEmpty
      ? nil : info.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ", ")
  }

  func facts(_ document: ModelDocument) -> Facts {
    [
      (
        "version identifiers",
        document.versionIdentifiers.isEmpty ? nil : document.versionIdentifiers.joined(separator: ", ")
      )
    ]
  }

  func facts(_ entity: ModelDocument.Entity) -> Facts {
    [
      (
        "class",
        entity.className.map { name in
          (entity.isClassInCurrentModule ? "." : entity.classModule.map { $0 + "." } ?? "") + name
        }
      ),
      ("superentity", entity.superentity), ("abstract", yes(entity.isAbstract)),
      ("renaming identifier", entity.renamingIdentifier), ("hash modifier", entity.versionHashModifier),
      ("uniqueness constraints", lists(entity.uniquenessConstraints)),
      (
        "indexes",
        entity.effectiveFetchIndexes.isEmpty
          ? nil : entity.effectiveFetchIndexes.map(text).joined(separator: " ")
      ),
      ("user info", userInfo(entity.userInfo)),
      ("Spotlight display name", entity.coreSpotlightDisplayNameExpression),
    ]
  }

  private func text(_ index: ModelDocument.FetchIndex) -> String {
    let elements = index.elements.map { element in
      let subject =
        switch element.subject {
        case .property(let name): name
        case .expression(let text, let kind): "\(text) as \(kind.sourceName)"
        }
      return subject + (element.isAscending ? "" : " descending") + (element.kind == .rTree ? " R-tree" : "")
    }
    return "\(index.name)(\(elements.joined(separator: ", ")))"
      + (index.partialPredicate.map { " where \($0)" } ?? "")
  }

  func facts(_ property: ModelDocument.Property) -> Facts {
    switch property {
    case .attribute(let attribute): facts(attribute)
    case .relationship(let relationship): facts(relationship)
    case .fetched(let fetched):
      [
        ("kind", "fetched property"), ("optional", yes(fetched.isOptional)),
        ("renaming identifier", fetched.renamingIdentifier), ("hash modifier", fetched.versionHashModifier),
        ("user info", userInfo(fetched.userInfo)),
      ] + facts(fetched.request)
    }
  }

  func facts(_ attribute: ModelDocument.Attribute) -> Facts {
    let rules = attribute.validation
    func text(_ value: Value) -> String? { value.isNull ? nil : value.description }
    return [
      ("kind", "attribute"), ("type", attribute.kind.sourceName), ("optional", yes(attribute.isOptional)),
      ("transient", yes(attribute.isTransient)), ("default value", text(attribute.defaultValue)),
      ("minimum", text(rules.minimum)), ("maximum", text(rules.maximum)),
      ("minimum length", rules.minimumLength.map(String.init)),
      ("maximum length", rules.maximumLength.map(String.init)),
      ("regular expression", rules.regularExpression),
      (
        "validation",
        rules.others.isEmpty
          ? nil
          : rules.others.map { $0.predicate + ($0.warning.map { " (\($0))" } ?? "") }.joined(separator: "; ")
      ),
      ("external storage", yes(attribute.allowsExternalBinaryDataStorage)),
      ("preserved on deletion", yes(attribute.preservesValueInHistoryOnDeletion)),
      ("Spotlight", yes(attribute.isIndexedBySpotlight)),
      ("cloud encryption", yes(attribute.allowsCloudEncryption)),
      ("stored in the truth file", yes(attribute.isStoredInTruthFile)),
      ("value transformer", attribute.valueTransformerName),
      (
        "class",
        attribute.customClassName.map { name in (attribute.customClassModule.map { $0 + "." } ?? "") + name }
      ),
      ("derivation", attribute.derivation?.expression),
      ("derivation's filter", attribute.derivation?.filteringPredicate),
      ("composite", attribute.compositeName),
      (
        "elements",
        attribute.elements.isEmpty
          ? nil : attribute.elements.map { "\($0.name) \($0.kind.sourceName)" }.joined(separator: ", ")
      ),
      ("renaming identifier", attribute.renamingIdentifier), ("hash modifier", attribute.versionHashModifier),
      ("user info", userInfo(attribute.userInfo)),
    ] + facts(elements: attribute.elements)
  }

  func facts(_ relationship: ModelDocument.Relationship) -> Facts {
    [
      ("kind", "relationship"), ("destination", relationship.destination),
      ("inverse", relationship.inverseName),
      ("optional", yes(relationship.isOptional)), ("transient", yes(relationship.isTransient)),
      ("minimum count", String(relationship.minCount)), ("maximum count", String(relationship.maxCount)),
      ("ordered", yes(relationship.isOrdered)), ("delete rule", relationship.deleteRule.sourceName),
      ("Spotlight", yes(relationship.isIndexedBySpotlight)),
      ("stored in the truth file", yes(relationship.isStoredInTruthFile)),
      ("renaming identifier", relationship.renamingIdentifier),
      ("hash modifier", relationship.versionHashModifier), ("user info", userInfo(relationship.userInfo)),
    ]
  }

  func facts(_ composite: ModelDocument.Composite) -> Facts { facts(elements: composite.elements) }

  func facts(elements: [ModelDocument.Attribute]) -> Facts {
    elements.flatMap { element in
      facts(element).map { (label: "\(element.name): \($0.label)", text: $0.text) }
    }
  }

  func facts(_ configuration: ModelDocument.Configuration) -> Facts {
    [
      ("entities", configuration.entityNames.sorted().joined(separator: ", ")),
      ("CloudKit", yes(configuration.isUsedWithCloudKit)),
    ]
  }

  func facts(_ request: ModelDocument.FetchRequest) -> Facts {
    [
      ("entity", request.entity), ("predicate", request.predicate),
      ("limit", request.fetchLimit == 0 ? nil : String(request.fetchLimit)),
      ("offset", request.fetchOffset == 0 ? nil : String(request.fetchOffset)),
      ("batch size", request.fetchBatchSize == 0 ? nil : String(request.fetchBatchSize)),
      ("result type", String(request.resultType.rawValue)), ("subentities", yes(request.includesSubentities)),
      ("property values", yes(request.includesPropertyValues)),
      ("pending changes", yes(request.includesPendingChanges)),
      ("as faults", yes(request.returnsObjectsAsFaults)),
      ("distinct", yes(request.returnsDistinctResults)),
      (
        "order",
        request.sortDescriptors.isEmpty
          ? nil
          : request.sortDescriptors.map { key in
            key.key + (key.isAscending ? "" : " descending") + (key.selector.map { " by " + $0 } ?? "")
          }.joined(separator: ", ")
      ),
      ("properties", list(request.propertiesToFetch)), ("groups", list(request.propertiesToGroupBy)),
      ("group condition", request.havingPredicate),
      ("prefetching", list(request.relationshipKeyPathsForPrefetching)),
    ]
  }
}
