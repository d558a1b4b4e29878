// Reading and writing compiled models.

import Foundation
import Testing

@testable import CairnModel

@Suite struct CompiledTests {
  /// Each `.mom` of a real program with its source.
  static let pairs: [(mom: String, source: String)] = {
    let compiled = "compiled/alemar11+CoreDataPlus/Tests/Resources"
    let models = "models/alemar11+CoreDataPlus/Tests/Resources"
    var result = ["SampleModel", "SampleModel2", "SampleModel3"].map {
      (
        mom: "\(compiled)/SampleModel/Fixtures/SampleModel.momd/\($0).mom",
        source: "\(models)/SampleModel/SampleModel.xcdatamodeld/\($0).xcdatamodel/contents"
      )
    }
    result += ["SampleModel3", "SampleModel3_v2", "SampleModel3_v3"].map {
      (
        mom: "\(compiled)/SampleModel3/Fixtures/SampleModel3.momd/\($0).mom",
        source: "\(models)/SampleModel3/SampleModel3.xcdatamodeld/\($0).xcdatamodel/contents"
      )
    }
    let catalog = "richardpiazza+TranslationCatalog/Sources/TranslationCatalogCoreData"
    result += (1...3).map {
      (
        mom: "compiled/\(catalog)/PrecompiledResources/CatalogModel_\($0).momd_precompiled/CatalogModel.mom",
        source:
          "models/\(catalog)/Resources/CatalogModel_\($0).xcdatamodeld/CatalogModel.xcdatamodel/contents"
      )
    }
    let cart = "Karim-ezzedine+CartKit/Sources/CartKitStorageCoreData/Resources"
    result.append(
      (
        mom: "compiled/\(cart)/CartStorage.momd/CartStorage.mom",
        source: "models/\(cart)/CartStorage.xcdatamodeld/CartStorage.xcdatamodel/contents"
      ))
    return result
  }()

  @Test("every compiled model of real programs equals its source", arguments: pairs)
  func realFiles(mom: String, source: String) throws {
    let compiled = try ModelDocument(compiled: Fixtures.data(mom), file: mom)
    #expect(compiled.notes == [])
    #expect(compiled == (try Fixtures.document(source)).compiled.withoutCustomClasses)
    #expect(compiled.entities.isEmpty == false)
  }

  @Test("no compiled model among the fixtures is left out")
  func allFiles() {
    let all = Fixtures.paths(endingIn: ".mom").filter { $0.hasPrefix("compiled") }
    #expect(Set(all) == Set(CompiledTests.pairs.map(\.mom)))
  }

  @Test(
    "the hashes and checksums of VersionInfo.plist are those of the versions, from either form",
    arguments: pairs)
  func versionInfo(mom: String, source: String) throws {
    let url = Fixtures.url(mom)
    let info = url.deletingLastPathComponent().appendingPathComponent("VersionInfo.plist")
    let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: info), format: nil)
    let dictionary = try #require(list as? [String: Any])
    let name = url.deletingPathExtension().lastPathComponent
    let all = try #require(dictionary["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]])
    let checksums = dictionary["NSManagedObjectModel_VersionChecksums"] as? [String: String]
    for document in [try ModelFile.read(at: url), try Fixtures.document(source)] {
      #expect(document.versionHashes == all[name])
      if let checksum = checksums?[name] { #expect(document.versionChecksum == checksum) }
    }
  }

  @Test(
    "the model in a store, with predicates, fetched and derived properties, is read as it was made in code")
  func modelCache() throws {
    let path = "modelcache/SampleModel2_V2.plist"
    let document = try ModelDocument(compiled: Fixtures.data(path), file: path)
    #expect(
      document.entities.map(\.name) == ["Author", "Book", "Feedback", "GraphicNovel", "Page", "Writer"])
    let author = try #require(document.entity(named: "Author"))
    #expect(author.superentity == "Writer" && author.className == "AuthorV2")
    #expect(author.properties.map(\.name) == ["alias", "books", "favFeedbacks", "feedbacks"])
    #expect(
      author.fetchedProperties.map(\.request.predicate) == [
        "authorAlias == $FETCH_SOURCE.alias AND comment CONTAINS[c] $FETCHED_PROPERTY.userInfo.search",
        "authorAlias == $FETCH_SOURCE.alias",
      ])
    #expect(author.fetchedProperties[1].request.sortDescriptors == [.init("rating")])
    #expect(author.fetchedProperties[0].userInfo == ["search": "great"])
    let book = try #require(document.entity(named: "Book"))
    guard case .attribute(let title)? = book.property(named: "title"),
      case .attribute(let count)? = book.property(named: "pagesCount"),
      case .attribute(let cover)? = book.property(named: "frontCover")
    else {
      Issue.record("the book lacks attributes")
      return
    }
    #expect(
      title.validation.others == [
        .init("length >= 3 AND length <= 50", warning: "Title must have a length between 3 and 50 chars."),
        .init("SELF CONTAINS \"title\"", warning: "Title must contain 'title'."),
      ])
    #expect(count.derivation?.expression == "count:(pages)")
    #expect(cover.customClassName == "Cover" && cover.defaultValue.isNull)
    #expect(document.notes.map(\.property) == ["frontCover", "frontCover"])
    // A subentity lists its own properties only, though the store's copy repeats all.
    #expect(document.entity(named: "GraphicNovel")?.properties.map(\.name) == ["isBlackAndWhite"])
    #expect(
      document.configurations.map(\.name) == ["SampleConfigurationV2Part1", "SampleConfigurationV2Part2"])
    let known = try VersionHashTests.pairs().first { $0.entity == "Feedback" }
    #expect(document.versionHashes["Feedback"]?.hexText == known?.hash)
  }

  @Test("a document with every feature is read back equal from its archive, and its archive stays as it is")
  func sample() throws {
    let written = try ModelDocument.sample.compiledData()
    let read = try ModelDocument(compiled: written, file: "sample")
    #expect(read == ModelDocument.sample.compiled)
    #expect(ModelDocument.sample.compiled.compiled == ModelDocument.sample.compiled)
    #expect(read.versionHashes == ModelDocument.sample.versionHashes)
    #expect(written == (try Fixtures.data("golden/sample.mom")))
  }

  @Test(
    "what only code and compiled models can say survives the archive, and is named when a source loses it")
  func codeOnly() throws {
    let document = ModelDocument.codeOnly
    let read = try ModelDocument(compiled: document.compiledData(), file: "code")
    #expect(read == document.compiled)
    #expect(document.reduced(to: .compiled).losses == [])
    let losses = document.reduced(to: .source).losses
    #expect(
      losses.map(\.message).sorted()
        == [
          "of the version identifiers [\"a\", \"b\"] only the first is kept",
          "the default value 2 bytes of type Binary",
          "the fetch request's grouping", "the fetch request's having predicate",
          "the fetch request's offset",
          "the fetch request's prefetching", "the fetch request's properties to fetch",
          "the fetch request's sort descriptors", "the filter a == 1 of the derivation",
          "the validation predicate SELF BEGINSWITH \"x\"",
        ].sorted())
    let source = try ModelDocument(contents: document.contents(), file: "code")
    #expect(source == document.reduced(to: .source).document)
    // Elements without a composite get one.
    #expect(source.composites.map(\.name) == ["Place", "Inner"])
  }

  @Test("real models are read back equal from archives of our own")
  func realSources() throws {
    for path in Fixtures.paths(endingIn: "/contents") {
      let document = try Fixtures.document(path)
      let isWhole = document.check().allSatisfy { $0.severity == .warning }
      guard isWhole else { continue }
      let read = try ModelDocument(compiled: document.compiledData(), file: path)
      #expect(read == document.compiled, "\(path)")
      #expect(read.versionHashes == document.versionHashes, "\(path)")
    }
  }

  @Test(
    "predicates and expressions survive the archive",
    arguments: [
      "TRUEPREDICATE", "FALSEPREDICATE", "NOT a == 1", "a == 1 AND (b == 2 OR c != 3)", "ANY kids.age > 5",
      "ALL kids.age BETWEEN {1, 2}", "name BEGINSWITH[cd] \"x\"", "name ENDSWITH[c] $suffix",
      "name LIKE \"a*\"", "name MATCHES \"a+\"", "name CONTAINS[n] \"q\"", "name IN {\"a\", \"b\"}",
      "kids.@count >= 2", "kids.@sum.age < 2.5", "SELF == nil", "$x.age == YES", "a + b * 2 > -3",
      "SUBQUERY(kids, $k, $k.age > 3).@count > 1", "TERNARY(a > 1, b, c) == 2", "list[0] == 1",
      "list[FIRST] == 1",
      "list[LAST] == 1", "list[SIZE] == 1", "a UNION b == c", "a INTERSECT b == c", "a MINUS b == c",
      "uppercase:(name) == \"A\"", "now() > date", "FUNCTION(a, \"foo:\", b) == 1", "$a := 2 == 2", "%K == 1",
      "#size == 1",
    ])
  func predicates(text: String) throws {
    let tree =
      text == "%K == 1"
      ? try PredicateFormat.parse(text, arguments: [.constant("first.second")])
      : try PredicateFormat.parse(text)
    var writer = ArchiveWriter()
    let number = try writer.predicate(tree)
    let root = writer.object("NSManagedObjectModel", [("p", .reference(number))])
    let data = writer.file(root: root)
    let archive = try KeyedArchive(data, file: "test")
    var reader = ArchiveReader(archive: archive)
    let object = try #require(try archive.object(archive.root)?.object("p"))
    #expect(try reader.predicate(object, depth: 0) == tree)
  }

  @Test("limits in code and limits in the editor are the same validation")
  func validation() throws {
    var document = ModelDocument(entities: [
      .init(
        "E",
        properties: [
          .attribute(
            .init(
              "n", .integer32,
              validation: .init(others: [.init("SELF >= 3"), .init("SELF <= 9"), .init("SELF >= 4")]))),
          .attribute(
            .init(
              "s", .string,
              validation: .init(others: [
                .init("length >= 3", warning: "1670"), .init("SELF.length <= 5"), .init("SELF MATCHES \"a\""),
                .init("length <= 4", warning: "too long"),
              ]))),
        ])
    ])
    let compiled = document.compiled.entities[0].attributes
    #expect(compiled[0].validation == .init(minimum: 3, maximum: 9, others: [.init("SELF >= 4")]))
    #expect(
      compiled[1].validation
        == .init(
          minimumLength: 3, maximumLength: 5, regularExpression: "a",
          others: [.init("length <= 4", warning: "too long")]))
    #expect(try ModelDocument(compiled: document.compiledData(), file: "x") == document.compiled)
    document.entities[0].properties = [
      .attribute(.init("s", .string, validation: .init(others: [.init("SELF >=")])))
    ]
    let error = #expect(throws: ModelFileError.self) { try document.compiledData() }
    #expect(error?.code == .unwritable && error?.message.contains("E.s") == true)
  }

  @Test("a bound that isn't of the type is a condition like any other, and a source says that it loses it")
  func misplacedBounds() throws {
    let others: [ModelDocument.Validation.Condition] = [
      .init("SELF >= \"A\"", warning: "1620"), .init("length >= 5", warning: "1670"), .init("SELF >= 2.5"),
    ]
    let kinds: [ModelDocument.AttributeKind] = [.string, .binaryData, .integer16]
    let properties = zip(kinds, others).map { kind, other in
      ModelDocument.Property.attribute(
        .init("a\(kind.rawValue)", kind, isOptional: true, validation: .init(others: [other])))
    }
    let document = ModelDocument(entities: [.init("E", properties: properties)])
    let read = try ModelDocument(compiled: document.compiledData(), file: "x")
    #expect(read == document.compiled)
    #expect(Set(read.entities[0].attributes.map(\.validation)) == Set(others.map { .init(others: [$0]) }))
    #expect(document.reduced(to: .source).losses.count == 3)

    let fields: [ModelDocument.Validation] = [.init(minimum: "A"), .init(minimumLength: 5)]
    let misplaced = ModelDocument(entities: [
      .init(
        "E",
        properties: zip(kinds, fields).map { kind, validation in
          .attribute(.init("a\(kind.rawValue)", kind, validation: validation))
        })
    ])
    #expect(misplaced.reduced(to: .source).losses.map(\.property) == ["a700", "a1000"])
    let compiled = try ModelDocument(compiled: misplaced.compiledData(), file: "x")
    #expect(compiled == misplaced.compiled)
    #expect(
      Set(compiled.entities[0].attributes.map(\.validation))
        == Set(others.prefix(2).map { .init(others: [$0]) }))
  }

  @Test("a property repeated with a subentity is dropped only if it is the same")
  func inheritedProperties() throws {
    let document = ModelDocument(entities: [
      .init("A", properties: [.attribute(.init("x", .string)), .attribute(.init("y", .string))]),
      .init(
        "B", superentity: "A",
        properties: [.attribute(.init("x", .integer16)), .attribute(.init("y", .string))]),
    ])
    let read = try ModelDocument(compiled: document.compiledData(), file: "x")
    #expect(read.entities[1].properties.map(\.name) == ["x"])
    #expect(read.check().map(\.description) == ["error: B: the property x is inherited already"])
  }

  @Test("a text that spells null, or isn't ASCII, is a text", arguments: ["$null", "Größe", "名前", "🙂", ""])
  func texts(text: String) throws {
    let document = ModelDocument(entities: [.init("E", userInfo: ["k": text, text: "v"])])
    #expect(
      try ModelDocument(compiled: document.compiledData(), file: "x").entities[0].userInfo == [
        "k": text, text: "v",
      ])
  }

  @Test(
    "decimals of every size survive the archive",
    arguments: [
      "0", "1", "-1", "0.1", "-12345678901234567890.12345", "99999999999999999999999999999999999999",
      "1e-100", "7e100",
    ])
  func decimals(text: String) throws {
    let value = Value.decimal(try #require(Decimal(string: text)))
    let document = ModelDocument(entities: [
      .init("E", properties: [.attribute(.init("a", .decimal, defaultValue: value))])
    ])
    let read = try ModelDocument(compiled: document.compiledData(), file: "x")
    #expect(read.entities[0].attributes[0].defaultValue == value)
  }
}

extension ModelDocument {
  /// Apple's compiler leaves the classes of transformable values to generated code; ours keeps them.
  fileprivate var withoutCustomClasses: ModelDocument {
    var result = self
    for e in result.entities.indices {
      for p in result.entities[e].properties.indices {
        guard case .attribute(var attribute) = result.entities[e].properties[p] else { continue }
        attribute.customClassName = nil
        result.entities[e].properties[p] = .attribute(attribute)
      }
    }
    return result
  }
}
