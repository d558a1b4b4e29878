// Writes a document as the `contents` file of an `.xcdatamodel`.

public import Foundation

extension ModelDocument {
  /// The document as Xcode's XML: what `reduced(to: .source)` has kept of it.
  ///
  /// Throws `ModelFileError` for a character that XML doesn't have, such as U+0000.
  public func contents() throws -> Data {
    let document = reduced(to: .source).document
    var writer = SourceWriter()
    document.write(to: &writer)
    if let scalar = writer.text.unicodeScalars.first(where: { !SourceWriter.isWritable($0) }) {
      throw ModelFileError(
        .unwritable, file: "contents", "XML has no character U+\(String(scalar.value, radix: 16))",
        remedy: "take it out of the model's texts")
    }
    return Data(writer.text.utf8)
  }

  private func write(to writer: inout SourceWriter) {
    writer.element(
      "model",
      [
        "name": editor.name, "type": editor.type ?? "com.apple.IDECoreDataModeler.DataModel",
        "documentVersion": editor.documentVersion, "lastSavedToolsVersion": editor.lastSavedToolsVersion,
        "systemVersion": editor.systemVersion, "minimumToolsVersion": editor.minimumToolsVersion,
        "sourceLanguage": editor.sourceLanguage, "usedWithCloudKit": yes(editor.isUsedWithCloudKit),
        "usedWithSwiftData": yes(editor.isUsedWithSwiftData),
        "userDefinedModelVersionIdentifier": versionIdentifiers.first ?? "",
        "macOSVersion": editor.macOSVersion, "iOSVersion": editor.iOSVersion,
      ]
    ) { writer in
      for entity in entities { entity.write(to: &writer) }
      for composite in composites {
        writer.element("composite", ["name": composite.name]) { writer in
          for element in composite.elements { element.write(to: &writer) }
        }
      }
      for request in fetchRequests { request.write(to: &writer, isTemplate: true) }
      for configuration in configurations {
        writer.element(
          "configuration",
          ["name": configuration.name, "usedWithCloudKit": yes(configuration.isUsedWithCloudKit)]
        ) { writer in
          for name in configuration.entityNames { writer.element("memberEntity", ["name": name]) }
        }
      }
    }
  }
}

private func yes(_ flag: Bool) -> String? { flag ? "YES" : nil }

private func yesOrNo(_ flag: Bool) -> String { flag ? "YES" : "NO" }

extension ModelDocument.Entity {
  fileprivate func write(to writer: inout SourceWriter) {
    writer.element(
      "entity",
      [
        "name": name,
        "representedClassName": className.map { (isClassInCurrentModule ? "." : "") + $0 },
        "representedClassModule": classModule, "isAbstract": yes(isAbstract), "parentEntity": superentity,
        "elementID": renamingIdentifier, "versionHashModifier": versionHashModifier,
        "syncable": yes(isSyncable),
        "coreSpotlightDisplayNameExpression": coreSpotlightDisplayNameExpression,
        "codeGenerationType": codeGenerationType,
      ]
    ) { writer in
      for property in properties {
        switch property {
        case .attribute(let attribute): attribute.write(to: &writer)
        case .relationship(let relationship): relationship.write(to: &writer)
        case .fetched(let property): property.write(to: &writer)
        }
      }
      for index in fetchIndexes { index.write(to: &writer) }
      writer.lists(compoundIndexes, "compoundIndexes", "compoundIndex", "index")
      writer.lists(uniquenessConstraints, "uniquenessConstraints", "uniquenessConstraint", "constraint")
      writer.userInfo(userInfo)
    }
  }
}

extension SourceWriter {
  fileprivate mutating func lists(_ lists: [[String]], _ outer: String, _ inner: String, _ member: String) {
    if lists.isEmpty { return }
    element(outer, [:]) { writer in
      for list in lists {
        writer.element(inner, [:]) { writer in
          for name in list { writer.element(member, ["value": name]) }
        }
      }
    }
  }

  fileprivate mutating func userInfo(_ userInfo: [String: String]) {
    if userInfo.isEmpty { return }
    element("userInfo", [:]) { writer in
      for (key, value) in userInfo.sorted(by: { $0.key < $1.key }) {
        writer.element("entry", ["key": key, "value": value])
      }
    }
  }
}

extension ModelDocument.Attribute {
  fileprivate func write(to writer: inout SourceWriter) {
    let rules = validation
    let isString = kind == .string
    writer.element(
      "attribute",
      [
        "name": name, "optional": yes(isOptional), "transient": yes(isTransient),
        "attributeType": kind == .undefined ? nil : kind.sourceName,
        "allowsCloudEncryption": yes(allowsCloudEncryption),
        "allowsExternalBinaryDataStorage": yes(allowsExternalBinaryDataStorage), "composite": compositeName,
        "derived": yes(derivation != nil), "derivationExpression": derivation?.expression,
        "indexed": yes(isIndexed), "minDateTimeInterval": interval(rules.minimum),
        "minValueString": isString
          ? rules.minimumLength.map(String.init) : kind.sourceText(limit: rules.minimum),
        "maxDateTimeInterval": interval(rules.maximum),
        "maxValueString": isString
          ? rules.maximumLength.map(String.init) : kind.sourceText(limit: rules.maximum),
        "defaultDateTimeInterval": interval(defaultValue),
        "defaultValueString": kind.sourceText(defaultValue),
        "regularExpressionString": rules.regularExpression,
        "spotlightIndexingEnabled": yes(isIndexedBySpotlight), "storedInTruthFile": yes(isStoredInTruthFile),
        "usesScalarValueType": usesScalarValueType.map(yesOrNo), "elementID": renamingIdentifier,
        "preserveAfterDeletion": yes(preservesValueInHistoryOnDeletion),
        "valueTransformerName": valueTransformerName, "customClassName": customClassName,
        "customClassModule": customClassModule, "syncable": yes(isSyncable),
        "versionHashModifier": versionHashModifier,
      ]
    ) { $0.userInfo(userInfo) }
  }

  /// Seconds since 2001, without a fraction where there is none.
  private func interval(_ value: Value) -> String? {
    guard kind == .date, case .date(let date) = value else { return nil }
    let seconds = date.timeIntervalSinceReferenceDate
    return Int64(exactly: seconds).map { String($0) } ?? String(seconds)
  }
}

extension ModelDocument.Relationship {
  fileprivate func write(to writer: inout SourceWriter) {
    writer.element(
      "relationship",
      [
        "name": name, "optional": yes(isOptional), "transient": yes(isTransient), "toMany": yes(isToMany),
        "minCount": minCount == 0 ? nil : String(minCount),
        "maxCount": maxCount == 0 ? nil : String(maxCount),
        "deletionRule": deleteRule.sourceName, "ordered": yes(isOrdered), "destinationEntity": destination,
        "inverseName": inverseName, "inverseEntity": inverseEntity, "indexed": yes(isIndexed),
        "spotlightIndexingEnabled": yes(isIndexedBySpotlight), "storedInTruthFile": yes(isStoredInTruthFile),
        "elementID": renamingIdentifier, "syncable": yes(isSyncable),
        "versionHashModifier": versionHashModifier,
      ]
    ) { $0.userInfo(userInfo) }
  }
}

extension ModelDocument.FetchedProperty {
  fileprivate func write(to writer: inout SourceWriter) {
    writer.element(
      "fetchedProperty",
      [
        "name": name, "optional": yes(isOptional), "elementID": renamingIdentifier,
        "syncable": yes(isSyncable), "versionHashModifier": versionHashModifier,
      ]
    ) { writer in
      request.write(to: &writer, isTemplate: false)
      writer.userInfo(userInfo)
    }
  }
}

extension ModelDocument.FetchRequest {
  /// A template says what it includes even where that is usual, so that no reader has to know what is.
  fileprivate func write(to writer: inout SourceWriter, isTemplate: Bool) {
    func flag(_ value: Bool, usual: Bool) -> String? { isTemplate || value != usual ? yesOrNo(value) : nil }
    writer.element(
      "fetchRequest",
      [
        "name": name, "entity": entity, "predicateString": predicate,
        "fetchLimit": fetchLimit == 0 ? nil : String(fetchLimit),
        "fetchBatchSize": fetchBatchSize == 0 ? nil : String(fetchBatchSize),
        "includeSubentities": flag(includesSubentities, usual: true),
        "includePropertyValues": flag(includesPropertyValues, usual: true),
        "includesPendingChanges": flag(includesPendingChanges, usual: true),
        "returnObjectsAsFaults": flag(returnsObjectsAsFaults, usual: true),
        "returnDistinctResults": yes(returnsDistinctResults),
        "resultType": resultType == .managedObject ? nil : String(resultType.rawValue),
      ])
  }
}

extension ModelDocument.FetchIndex {
  fileprivate func write(to writer: inout SourceWriter) {
    writer.element("fetchIndex", ["name": name, "partialIndexPredicate": partialPredicate]) { writer in
      for element in elements {
        var property: String?
        var expression: (text: String, type: String)?
        switch element.subject {
        case .property(let name): property = name
        case .expression(let text, let type): expression = (text, type.sourceName)
        }
        writer.element(
          "fetchIndexElement",
          [
            "property": property, "expression": expression?.text, "expressionType": expression?.type,
            "type": element.kind == .binary ? "Binary" : "RTree",
            "order": element.isAscending ? "ascending" : "descending",
          ])
      }
    }
  }
}
