// Folders of model versions: which there are, which is current, and writing them.

import Foundation
import Testing

@testable import CairnModel

@Suite struct PackageTests {
  static let moody = "models/objcio+core-data/Migrations/Migrations/Moody.xcdatamodeld"
  static let sampleSource =
    "models/alemar11+CoreDataPlus/Tests/Resources/SampleModel/SampleModel.xcdatamodeld"
  static let sampleCompiled =
    "compiled/alemar11+CoreDataPlus/Tests/Resources/SampleModel/Fixtures/SampleModel.momd"

  @Test("the versions of a package come in the order that people count, with the marked one as current")
  func order() throws {
    let versions = try ModelFile.versions(at: Fixtures.url(PackageTests.moody))
    #expect(versions.map(\.name) == ["Moody", "Moody 2", "Moody 3", "Moody 4", "Moody 5", "Moody 6"])
    #expect(versions.filter(\.isCurrent).map(\.name) == ["Moody 6"])
    #expect(versions.map { $0.form == .source }.allSatisfy { $0 })
    #expect(
      try versions.map { try $0.document().versionIdentifiers.first } == ["1", "2", "3", "4", "5", "6"])
  }

  @Test("reading a package reads its current version, or the one that is named")
  func reading() throws {
    for path in [PackageTests.sampleSource, PackageTests.sampleCompiled] {
      let url = Fixtures.url(path)
      let current = try #require(try ModelFile.versions(at: url).first { $0.isCurrent })
      #expect(try ModelFile.read(at: url) == current.document())
      #expect(try ModelFile.read(at: url, version: "SampleModel2").versionIdentifiers == ["2"])
      let error = #expect(throws: ModelFileError.self) {
        try ModelFile.read(at: url, version: "SampleModel9")
      }
      #expect(error?.code == .unknownVersion)
      #expect(error?.remedy == "it has \"SampleModel\", \"SampleModel2\", \"SampleModel3\"")
    }
  }

  @Test("a version folder, its contents and a .mom are read by themselves")
  func single() throws {
    let folder = PackageTests.sampleSource + "/SampleModel2.xcdatamodel"
    let expected = try Fixtures.document(folder + "/contents")
    #expect(try ModelFile.read(at: Fixtures.url(folder)) == expected)
    #expect(try ModelFile.read(at: Fixtures.url(folder + "/contents")) == expected)
    #expect(try ModelFile.read(at: Fixtures.url(folder), version: "SampleModel2") == expected)
    let mom = Fixtures.url(PackageTests.sampleCompiled + "/SampleModel2.mom")
    #expect(try ModelFile.read(at: mom) == expected.compiled)
    #expect(try ModelFile.versions(at: mom).map(\.name) == ["SampleModel2"])
  }

  @Test("every package and file among the fixtures is read, in every version")
  func everything() throws {
    for path in Fixtures.paths(endingIn: ".xcdatamodeld") + Fixtures.paths(endingIn: ".momd") {
      if path.contains("MagicalRecord/Samples") { continue }
      let versions = try ModelFile.versions(at: Fixtures.url(path))
      #expect(versions.count { $0.isCurrent } == 1, "\(path)")
      for version in versions { _ = try version.document() }
    }
  }

  @Test("a model that only has elements is refused with what to do about it")
  func outdated() throws {
    let package = "models/magicalpanda+MagicalRecord/Samples/iOS/Application/Models/Recipes.xcdatamodeld"
    for path in [package, package + "/Recipes.xcdatamodel"] {
      let error = #expect(throws: ModelFileError.self) { try ModelFile.read(at: Fixtures.url(path)) }
      #expect(error?.code == .outdatedFormat && error?.remedy.contains("save it") == true)
    }
  }

  @Test("what isn't there, or is no model, throws with the path")
  func nothing() throws {
    try withFolder { folder in
      let missing = #expect(throws: ModelFileError.self) {
        try ModelFile.read(at: folder.appendingPathComponent("No.momd"))
      }
      #expect(missing?.code == .unreadable && missing?.file.hasSuffix("No.momd") == true)
      let empty = #expect(throws: ModelFileError.self) { try ModelFile.read(at: folder) }
      #expect(empty?.code == .unknownFormat)
      let file = folder.appendingPathComponent("some.mom")
      try Data("hello".utf8).write(to: file)
      let text = #expect(throws: ModelFileError.self) { try ModelFile.read(at: file) }
      #expect(text?.code == .corrupt)
      let list = try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .binary, options: 0)
      try list.write(to: file)
      let plist = #expect(throws: ModelFileError.self) { try ModelFile.read(at: file) }
      #expect(plist?.code == .unknownFormat)
    }
  }

  @Test("without a mark the last version is current; a mark for what isn't there is an error")
  func marks() throws {
    try withFolder { folder in
      let url = folder.appendingPathComponent("M.xcdatamodeld")
      let versions = ["M", "M 2", "M 10"].map {
        (name: $0, document: ModelDocument(versionIdentifiers: [$0]))
      }
      try ModelFile.write(versions, current: "M 2", to: url)
      #expect(try ModelFile.read(at: url).versionIdentifiers == ["M 2"])
      let mark = url.appendingPathComponent(".xccurrentversion")
      try FileManager.default.removeItem(at: mark)
      #expect(try ModelFile.read(at: url).versionIdentifiers == ["M 10"])
      let list = ["_XCCurrentVersionName": "M 3.xcdatamodel"]
      try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0).write(to: mark)
      let error = #expect(throws: ModelFileError.self) { try ModelFile.read(at: url) }
      #expect(error?.code == .unknownVersion && error?.message.contains("M 3") == true)
      try Data("no plist".utf8).write(to: mark)
      #expect(throws: ModelFileError.self) { try ModelFile.versions(at: url) }
    }
  }

  @Test(
    "a model written in any form is read back as that form holds it",
    arguments: ["xcdatamodeld", "xcdatamodel", "momd", "mom", ""])
  func writing(pathExtension: String) throws {
    try withFolder { folder in
      let name = pathExtension.isEmpty ? "contents" : "Sample 2.\(pathExtension)"
      let url = folder.appendingPathComponent(name)
      try ModelFile.write(.sample, to: url)
      let isCompiled = pathExtension.hasPrefix("mom")
      #expect(
        try ModelFile.read(at: url)
          == ModelDocument.sample.reduced(to: isCompiled ? .compiled : .source).document)
      if !pathExtension.isEmpty { #expect(try ModelFile.versions(at: url).map(\.name) == ["Sample 2"]) }
      let error = #expect(throws: ModelFileError.self) { try ModelFile.write(.sample, to: url) }
      #expect(error?.code == .unwritable && error?.message.contains("already") == true)
      // Nothing else is left behind.
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
    }
  }

  @Test("a .momd has the hashes and checksum of each version, as Apple's")
  func versionInfo() throws {
    try withFolder { folder in
      let url = folder.appendingPathComponent("SampleModel.momd")
      let versions = try ModelFile.versions(at: Fixtures.url(PackageTests.sampleSource)).map {
        (name: $0.name, document: try $0.document())
      }
      try ModelFile.write(versions, current: "SampleModel", to: url)
      let ours = try info(url)
      let apples = try info(Fixtures.url(PackageTests.sampleCompiled))
      for key in ["NSManagedObjectModel_CurrentVersionName", "NSManagedObjectModel_VersionHashes"] {
        #expect(ours[key] as? NSObject == apples[key] as? NSObject)
      }
      let checksums = ours["NSManagedObjectModel_VersionChecksums"] as? [String: String]
      #expect(checksums?["SampleModel2"] == versions[1].document.versionChecksum)
    }
  }

  @Test("two versions of one name can't be written, and nothing is", arguments: ["xcdatamodeld", "momd"])
  func sameNames(form: String) throws {
    try withFolder { folder in
      let versions = ["M", "M"].map { (name: $0, document: ModelDocument()) }
      let error = #expect(throws: ModelFileError.self) {
        try ModelFile.write(versions, current: "M", to: folder.appendingPathComponent("M." + form))
      }
      #expect(error?.code == .unwritable && error?.message.contains("two versions") == true)
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(left.isEmpty)
    }
  }

  @Test("a document that can't be written leaves nothing behind")
  func failure() throws {
    try withFolder { folder in
      var document = ModelDocument.sample
      document.fetchRequests[0].predicate = "this is no predicate"
      for name in ["M.mom", "M.momd"] {
        let error = #expect(throws: ModelFileError.self) {
          try ModelFile.write(document, to: folder.appendingPathComponent(name))
        }
        #expect(error?.code == .unwritable && error?.message.contains("this is no predicate") == true)
      }
      let unknown = #expect(throws: ModelFileError.self) {
        try ModelFile.write(document, to: folder.appendingPathComponent("M.txt"))
      }
      #expect(unknown?.code == .unknownFormat)
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(left.isEmpty)
    }
  }

  private func info(_ url: URL) throws -> [String: Any] {
    let data = try Data(contentsOf: url.appendingPathComponent("VersionInfo.plist"))
    let list = try PropertyListSerialization.propertyList(from: data, format: nil)
    return try #require(list as? [String: Any])
  }

  private func withFolder(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cairn-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder)
  }
}
