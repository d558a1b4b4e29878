// Files that nobody honest wrote: they throw, in bounded time, and never trap.

import Foundation
import Testing

@testable import CairnModel

@Suite struct HostileFileTests {
  static let small =
    "compiled/alemar11+CoreDataPlus/Tests/Resources/SampleModel3/Fixtures/SampleModel3.momd/SampleModel3.mom"
  static let source =
    "models/alemar11+CoreDataPlus/Tests/Resources/SampleModel3/SampleModel3.xcdatamodeld/SampleModel3_v3.xcdatamodel/contents"

  /// Reads it, and is content with either outcome as long as an error is a ModelFileError that says something.
  private func survive(_ data: Data, compiled: Bool) -> String? {
    do {
      let document =
        compiled
        ? try ModelDocument(compiled: data, file: "fuzz") : try ModelDocument(contents: data, file: "fuzz")
      _ = document.versionHashes
      _ = document.check()
      return nil
    } catch let error as ModelFileError {
      return error.file == "fuzz" && !error.message.isEmpty && !error.remedy.isEmpty ? nil : "\(error)"
    } catch {
      return "another error: \(error)"
    }
  }

  @Test("a processing instruction throws with its line, with data and without")
  func processingInstruction() {
    for text in ["<?x?>\n<model/>", "<?xml version=\"1.0\"?>\n<model/><?x?>", "<model><?x y?></model>"] {
      let error = #expect(throws: ModelFileError.self) {
        try ModelDocument(contents: Data(text.utf8), file: "fuzz")
      }
      #expect(error?.message.contains("processing instructions") == true, "\(text)")
    }
  }

  @Test("every truncation of a compiled model throws")
  func truncatedCompiled() throws {
    let whole = try Fixtures.data(HostileFileTests.small)
    for length in 0..<whole.count {
      #expect(throws: ModelFileError.self, "\(length)") {
        try ModelDocument(compiled: whole.prefix(length), file: "fuzz")
      }
    }
  }

  @Test("every truncation of a source throws")
  func truncatedSource() throws {
    let whole = try Fixtures.data(HostileFileTests.source)
    let end = try #require(whole.lastIndex(of: UInt8(ascii: ">")))
    for length in 0..<end {
      #expect(throws: ModelFileError.self, "\(length)") {
        try ModelDocument(contents: whole.prefix(length), file: "fuzz")
      }
    }
  }

  @Test(
    "random changes of bytes throw or are read, within seconds", .timeLimit(.minutes(2)), arguments: seeds)
  func flips(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var failures = Failures()
    let samples = [
      (try Fixtures.data(HostileFileTests.small), true), (try Fixtures.data("golden/sample.mom"), true),
      (try Fixtures.data(HostileFileTests.source), false),
      (try Fixtures.data("golden/sample.contents"), false),
    ]
    for round in 0..<400 {
      let (whole, isCompiled) = samples[round % samples.count]
      var bytes = whole
      for _ in 0...random.below(4) {
        switch random.below(3) {
        case 0: bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
        default:
          // A stretch of the file in another place.
          let length = 1 + random.below(16)
          let from = random.below(bytes.count - length)
          let to = random.below(bytes.count - length)
          let piece = Data(bytes[from..<from + length])
          bytes.replaceSubrange(to..<to + length, with: piece)
        }
      }
      if let problem = survive(bytes, compiled: isCompiled) {
        failures.add("CAIRN_SEED=\(seed), round \(round): \(problem)")
      }
    }
    #expect(failures.isEmpty, "\(failures)")
  }

  // MARK: Made for the purpose

  /// An archive whose entity has a validation predicate that `make` adds.
  private func archive(_ make: (inout ArchiveWriter) -> Int) -> Data {
    var writer = ArchiveWriter()
    let predicate = make(&writer)
    let list = writer.list([predicate])
    let attribute = writer.object(
      "NSAttributeDescription",
      [
        ("NSPropertyName", .reference(writer.string("a"))), ("NSAttributeType", .integer(700)),
        ("NSValidationPredicates", .reference(list)),
      ])
    let properties = writer.dictionary([("a", attribute)])
    let entity = writer.object(
      "NSEntityDescription",
      [("NSEntityName", .reference(writer.string("E"))), ("NSProperties", .reference(properties))])
    let entities = writer.dictionary([("E", entity)])
    let root = writer.object("NSManagedObjectModel", [("NSEntities", .reference(entities))])
    return writer.file(root: root)
  }

  private func error(_ data: Data) -> ModelFileError? {
    do {
      _ = try ModelDocument(compiled: data, file: "hostile")
      return nil
    } catch { return error as? ModelFileError }
  }

  private func not(_ part: Int, _ writer: inout ArchiveWriter) -> Int {
    let list = writer.list([part])
    return writer.object(
      "NSCompoundPredicate",
      [("NSCompoundPredicateType", .integer(0)), ("NSSubpredicates", .reference(list))])
  }

  @Test("the archive of these tests is read as long as nothing is wrong with it")
  func control() throws {
    let data = archive { writer in
      let truth = writer.object("NSTruePredicate", [])
      return not(truth, &writer)
    }
    let document = try ModelDocument(compiled: data, file: "x")
    #expect(document.entities[0].attributes[0].validation.others.map(\.predicate) == ["NOT TRUEPREDICATE"])
  }

  @Test("a predicate that contains itself is too deep")
  func circle() {
    let data = archive { writer in
      let number = writer.reserve()
      let list = writer.list([number])
      writer.fill(
        number, "NSCompoundPredicate",
        [("NSCompoundPredicateType", .integer(0)), ("NSSubpredicates", .reference(list))])
      return number
    }
    #expect(error(data)?.code == .tooLarge)
  }

  @Test("a predicate of ten thousand NOTs is too deep")
  func deep() {
    let data = archive { writer in
      var number = writer.object("NSTruePredicate", [])
      for _ in 0..<10_000 { number = not(number, &writer) }
      return number
    }
    #expect(error(data)?.code == .tooLarge)
  }

  @Test("a small archive that stands for an enormous predicate is too large", .timeLimit(.minutes(1)))
  func shared() {
    let data = archive { writer in
      var number = writer.object("NSTruePredicate", [])
      for _ in 0..<60 {
        let list = writer.list([number, number])
        number = writer.object(
          "NSCompoundPredicate",
          [("NSCompoundPredicateType", .integer(1)), ("NSSubpredicates", .reference(list))])
      }
      return number
    }
    #expect(data.count < 20_000)
    #expect(error(data)?.code == .tooLarge)
  }

  @Test("a composite that contains itself, or its elements a thousandfold, ends", .timeLimit(.minutes(1)))
  func composites() {
    func composite(_ writer: inout ArchiveWriter, _ elements: (inout ArchiveWriter, Int) -> [Int]) -> Data {
      let number = writer.reserve()
      let list = writer.list(elements(&writer, number))
      writer.fill(
        number, "NSCompositeAttributeDescription",
        [
          ("NSPropertyName", .reference(writer.string("c"))), ("NSAttributeType", .integer(2100)),
          ("NSElements", .reference(list)),
        ])
      let properties = writer.dictionary([("c", number)])
      let entity = writer.object(
        "NSEntityDescription",
        [("NSEntityName", .reference(writer.string("E"))), ("NSProperties", .reference(properties))])
      let entities = writer.dictionary([("E", entity)])
      let root = writer.object("NSManagedObjectModel", [("NSEntities", .reference(entities))])
      return writer.file(root: root)
    }
    var first = ArchiveWriter()
    #expect(error(composite(&first) { _, number in [number] })?.code == .corrupt)
    var second = ArchiveWriter()
    #expect(error(composite(&second) { _, number in Array(repeating: number, count: 100) })?.code == .corrupt)
  }

  @Test("a value of the wrong type names the object, the key and what it should be")
  func types() {
    var writer = ArchiveWriter()
    let entity = writer.object("NSEntityDescription", [("NSEntityName", .integer(7))])
    let entities = writer.dictionary([("E", entity)])
    let root = writer.object("NSManagedObjectModel", [("NSEntities", .reference(entities))])
    let fault = error(writer.file(root: root))
    #expect(fault?.code == .corrupt && fault?.object == entity)
    #expect(fault?.message == "NSEntityName of NSEntityDescription should be a text")
  }

  @Test("an entity can't be listed twice, and a subentity can't be its own superentity for ever")
  func entities() throws {
    var writer = ArchiveWriter()
    let entity = writer.object("NSEntityDescription", [("NSEntityName", .reference(writer.string("E")))])
    let entities = writer.dictionary([("E", entity), ("F", entity)])
    let root = writer.object("NSManagedObjectModel", [("NSEntities", .reference(entities))])
    #expect(error(writer.file(root: root))?.code == .corrupt)

    var circle = ArchiveWriter()
    let number = circle.reserve()
    circle.fill(
      number, "NSEntityDescription",
      [("NSEntityName", .reference(circle.string("E"))), ("NSSuperentity", .reference(number))])
    let list = circle.dictionary([("E", number)])
    let model = circle.object("NSManagedObjectModel", [("NSEntities", .reference(list))])
    let document = try ModelDocument(compiled: circle.file(root: model), file: "x")
    #expect(document.check().map(\.message) == ["it inherits from itself"])
    #expect(document.versionHashes["E"]?.count == 32)
  }

  @Test("a million references to the same bytes are refused before they are kept")
  func overlap() {
    // Ten thousand objects that all are the one array of ten thousand references.
    let count = 10_000
    var bytes = Array("bplist00".utf8)
    bytes += [0xAF, 0x11] + [UInt8(count >> 8), UInt8(count & 255)]
    bytes += [UInt8](repeating: 0, count: 2 * count)
    let table = bytes.count
    for _ in 0..<count { bytes += [0, 8] }
    bytes += [0, 0, 0, 0, 0, 0, 2, 2]
    for number in [count, 0, table] {
      bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    let fault = error(Data(bytes))
    #expect(fault?.code == .corrupt && fault?.message == "objects overlap" && fault?.offset == 8)
  }

  @Test("counts and offsets beyond the file are refused with their place")
  func ranges() throws {
    let whole = try Fixtures.data(HostileFileTests.small)
    func changed(_ place: Int, _ bytes: [UInt8]) -> Data {
      var data = whole
      data.replaceSubrange(place..<place + bytes.count, with: bytes)
      return data
    }
    let trailer = whole.count - 32
    let huge: [UInt8] = [0x7F, 255, 255, 255, 255, 255, 255, 255]
    for (place, bytes) in [
      (trailer + 8, huge), (trailer + 16, huge), (trailer + 24, huge), (trailer + 6, [0]), (trailer + 7, [9]),
      (trailer + 24, [255, 255, 255, 255, 255, 255, 255, 255]),
    ] {
      let fault = error(changed(place, bytes))
      #expect(fault?.code == .corrupt && fault?.offset != nil)
    }
  }
}
