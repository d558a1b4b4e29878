// Random documents through both forms of files.

import Foundation
import Testing

@testable import CairnModel

@Suite struct RandomDocumentTests {
  @Test("random documents are read back from either form as that form holds them", arguments: seeds)
  func roundTrips(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var failures = Failures()
    for round in 0..<60 {
      let document = random.document()
      let place = "CAIRN_SEED=\(seed), round \(round)"
      do {
        let source = try ModelDocument(contents: document.contents(), file: "random")
        failures.check(source == document.reduced(to: .source).document, "\(place): the source differs")
        let compiled = try ModelDocument(compiled: document.compiledData(), file: "random")
        failures.check(compiled == document.compiled, "\(place): the compiled model differs")
        failures.check(compiled.compiled == compiled, "\(place): compiled twice is different")
        failures.check(
          compiled.versionHashes == document.versionHashes, "\(place): the compiled hashes differ")
        failures.check(source.versionHashes.count == document.entities.count, "\(place): hashes are missing")
        let (reduced, losses) = document.reduced(to: .source)
        failures.check(
          !losses.isEmpty || reduced.compiled == document.compiled, "\(place): lost without a word")
      } catch {
        failures.add("\(place): \(error)")
      }
    }
    #expect(failures.isEmpty, "\(failures)")
  }
}

extension SplitMix64 {
  fileprivate mutating func document() -> ModelDocument {
    let names = (0..<1 + below(6)).map { "Entity\($0)" }
    let composites = (0..<below(3)).map { i in
      // Only earlier ones inside, so that none contains itself.
      ModelDocument.Composite(
        "Composite\(i)",
        elements: (0..<1 + below(3)).map { attribute("e\($0)", composites: (0..<i).map { "Composite\($0)" }) }
      )
    }
    var document = ModelDocument(composites: composites, versionIdentifiers: oneIn(2) ? [word()] : [])
    for (i, name) in names.enumerated() {
      var entity = ModelDocument.Entity(
        name, className: maybe { $0.word() }, isClassInCurrentModule: oneIn(3),
        classModule: maybe { $0.word() },
        superentity: i > 0 && oneIn(3) ? names[below(i)] : nil, isAbstract: oneIn(4), isSyncable: oneIn(2),
        codeGenerationType: maybe { $0.pick(["class", "category"]) }, renamingIdentifier: maybe { $0.word() },
        versionHashModifier: maybe { $0.text() },
        coreSpotlightDisplayNameExpression: maybe { $0.pick(["name", "uppercase:(name)"]) },
        userInfo: userInfo())
      for p in 0..<below(6) {
        let property = "p\(i)_\(p)"
        switch below(4) {
        case 0:
          entity.properties.append(.relationship(relationship(property, names)))
        case 1:
          entity.properties.append(
            .fetched(
              .init(
                property, isOptional: oneIn(2), isSyncable: oneIn(2), request: request(word(), names),
                renamingIdentifier: maybe { $0.word() }, versionHashModifier: maybe { $0.text() },
                userInfo: userInfo())))
        default: entity.properties.append(.attribute(attribute(property, composites: composites.map(\.name))))
        }
      }
      let own = entity.properties.map(\.name)
      if !own.isEmpty {
        entity.uniquenessConstraints = (0..<below(3)).map { _ in (0..<1 + below(2)).map { _ in pick(own) } }
        entity.compoundIndexes = (0..<below(2)).map { _ in (0..<1 + below(2)).map { _ in pick(own) } }
        entity.fetchIndexes = (0..<below(3)).map { index("index\($0)", own) }
      }
      document.entities.append(entity)
    }
    document.fetchRequests = (0..<below(3)).map { request("request\($0)", names) }
    document.configurations = (0..<below(3)).map { i in
      .init("configuration\(i)", entityNames: names.filter { _ in oneIn(2) }, isUsedWithCloudKit: oneIn(2))
    }
    document.editor = .init(
      name: maybe { $0.text() }, documentVersion: maybe { _ in "1.0" },
      lastSavedToolsVersion: maybe { $0.word() },
      systemVersion: maybe { $0.word() }, minimumToolsVersion: maybe { $0.word() },
      sourceLanguage: maybe { _ in "Swift" }, isUsedWithCloudKit: oneIn(2), isUsedWithSwiftData: oneIn(2),
      macOSVersion: maybe { $0.word() }, iOSVersion: maybe { $0.word() })
    return document
  }

  private mutating func maybe<T>(_ make: (inout SplitMix64) -> T) -> T? { oneIn(2) ? make(&self) : nil }

  private mutating func word() -> String {
    pick(["Alpha", "beta", "Gamma_3", "Größe", "名前", "NSManagedObject"])
  }

  private mutating func text() -> String {
    pick(["", "a", "two words", "<&>\"'", "line\nbreak\ttab", "🙂 emoji", "$null", " leading", "%@ %K", "\r"])
  }

  private mutating func userInfo() -> [String: String] {
    Dictionary((0..<below(3)).map { _ in (text(), text()) }) { first, _ in first }
  }

  private mutating func predicate() -> String {
    pick([
      "a == 1", "a=1 and b<>2", "name BEGINSWITH[cd] 'x'", "ANY kids.age > $limit", "TRUEPREDICATE",
      "NOT (a IN {1, 2.5, \"x\"})", "a BETWEEN {1, 2}", "SUBQUERY(kids, $k, $k.age > 1).@count > 0",
      "$FETCH_SOURCE.name == name", "d > now()",
    ])
  }

  private mutating func attribute(_ name: String, composites: [String]) -> ModelDocument.Attribute {
    let kinds = ModelDocument.AttributeKind.allCases.filter { $0 != .objectID && $0 != .composite }
    if !composites.isEmpty, oneIn(4) {
      return .init(
        name, .composite, isOptional: oneIn(2), compositeName: pick(composites), userInfo: userInfo())
    }
    let kind = pick(kinds)
    var result = ModelDocument.Attribute(
      name, kind, isOptional: oneIn(2), isTransient: oneIn(5), usesScalarValueType: maybe { $0.oneIn(2) },
      defaultValue: oneIn(2) ? .null : value(kind), allowsExternalBinaryDataStorage: oneIn(5),
      preservesValueInHistoryOnDeletion: oneIn(5), isIndexedBySpotlight: oneIn(5),
      allowsCloudEncryption: oneIn(5),
      isStoredInTruthFile: oneIn(5), isIndexed: oneIn(5), isSyncable: oneIn(2),
      valueTransformerName: maybe { $0.word() }, customClassName: maybe { $0.word() },
      customClassModule: maybe { $0.word() }, renamingIdentifier: maybe { $0.word() },
      versionHashModifier: maybe { $0.text() }, userInfo: userInfo())
    if oneIn(5) {
      result.derivation = .init(pick(["kids.@count", "uppercase:(name)", "now()", "author.name"]))
      if oneIn(3) { result.derivation?.filteringPredicate = predicate() }
    }
    if oneIn(2) {
      result.validation = .init(
        minimum: value(kind), maximum: value(kind), minimumLength: maybe { $0.below(9) },
        maximumLength: maybe { $0.below(9) },
        regularExpression: maybe { $0.pick(["a+", "\\d{2}\"", "", "<x>"]) })
    }
    if oneIn(6) {
      result.validation.others = (0..<1 + below(2)).map { _ in
        .init(
          pick(["SELF >= 3", "length <= 4", predicate()]),
          warning: maybe { $0.pick(["1670", "A sentence.", ""]) })
      }
    }
    return result
  }

  /// Of the type, or null where a model has no such values.
  private mutating func value(_ kind: ModelDocument.AttributeKind) -> Value {
    switch kind {
    case .integer16: .int(Int64(Int16(truncatingIfNeeded: next())))
    case .integer32: .int(Int64(Int32(truncatingIfNeeded: next())))
    case .integer64: .int(Int64(bitPattern: next()))
    case .decimal: .decimal(Decimal(string: pick(["0", "1.5", "-1200.75", "1e20", "0.000001"])) ?? 0)
    case .double: .double(pick([0, 0.1, -1e-7, 1e300, 3]))
    case .float: .float(pick([0, 0.1, -2.5, 1e30]))
    case .string: .string(text())
    case .boolean: .bool(oneIn(2))
    case .date: .date(Date(timeIntervalSinceReferenceDate: pick([0, 388_411_200, -0.5, 1e9])))
    case .binaryData: .data(Data([1, 2, 3]))
    case .uuid: .uuid(UUID(uuidString: "12345678-9ABC-4DEF-8123-456789ABCDEF") ?? UUID())
    case .uri: .uri(pick(["https://example.com/a?b=c", "x-coredata://A/B/p1"]))
    case .undefined, .transformable, .objectID, .composite: .null
    }
  }

  private mutating func relationship(_ name: String, _ entities: [String]) -> ModelDocument.Relationship {
    .init(
      name, to: pick(entities), inverse: maybe { $0.word() }, inverseEntity: maybe { $0.pick(entities) },
      isOptional: oneIn(2), isTransient: oneIn(5), minCount: below(3), maxCount: pick([0, 1, 1, 7, -1]),
      isOrdered: oneIn(3), deleteRule: pick([.noAction, .nullify, .cascade, .deny]),
      isIndexedBySpotlight: oneIn(5), isStoredInTruthFile: oneIn(5), isIndexed: oneIn(5),
      isSyncable: oneIn(2),
      renamingIdentifier: maybe { $0.word() }, versionHashModifier: maybe { $0.text() }, userInfo: userInfo())
  }

  private mutating func request(_ name: String, _ entities: [String]) -> ModelDocument.FetchRequest {
    var result = ModelDocument.FetchRequest(
      name, entity: pick(entities), predicate: maybe { $0.predicate() }, fetchLimit: below(3),
      fetchBatchSize: below(3), resultType: pick(ModelDocument.FetchRequest.ResultType.allCases),
      includesSubentities: oneIn(2), includesPropertyValues: oneIn(2), includesPendingChanges: oneIn(2),
      returnsObjectsAsFaults: oneIn(2), returnsDistinctResults: oneIn(2))
    if oneIn(3) {
      result.fetchOffset = below(5)
      result.sortDescriptors = [
        .init("name", isAscending: oneIn(2), selector: maybe { _ in "localizedCompare:" })
      ]
      result.propertiesToFetch = ["a", "b"]
      result.propertiesToGroupBy = ["a"]
      result.havingPredicate = predicate()
      result.relationshipKeyPathsForPrefetching = ["kids"]
    }
    return result
  }

  private mutating func index(_ name: String, _ properties: [String]) -> ModelDocument.FetchIndex {
    .init(
      name,
      elements: (0..<below(3)).map { _ in
        .init(
          oneIn(4) ? .expression("uppercase:(name)", .string) : .property(pick(properties)),
          kind: oneIn(4) ? .rTree : .binary, isAscending: oneIn(2))
      }, partialPredicate: maybe { $0.predicate() })
  }
}
