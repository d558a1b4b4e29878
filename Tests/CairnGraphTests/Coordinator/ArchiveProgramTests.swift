// What a program sees of an archive alone: damage, and files that are none.

import Cairn
import Foundation
import Testing

@Suite struct ArchiveProgramTests {
  private typealias Stores = FileStoreProgramTests

  @Test func `a store type that there isn't says what to use`() {
    let failure = Stores.error {
      try Stores.coordinator().addPersistentStore(
        ofType: NSXMLStoreType, configurationName: nil, at: TestFiles.unusedURL(extension: "xml"))
    }
    #expect(failure?.code == 134_000 && failure!.localizedDescription.contains("CairnArchiveStoreType"))
  }

  @Test func `a file that is no archive, or a damaged one, is refused with 259`() throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    try Data("SQLite format 3".utf8).write(to: url)
    func code() -> Int? {
      Stores.error {
        try Stores.coordinator().addPersistentStore(
          ofType: CairnArchiveStoreType, configurationName: nil, at: url)
      }?.code
    }
    #expect(code() == CocoaError.Code.fileReadCorruptFile.rawValue)
    try FileManager.default.removeItem(at: url)
    try Stores.make(url, count: 1, type: CairnArchiveStoreType)
    try Data(contentsOf: url).dropLast(1).write(to: url)
    #expect(code() == CocoaError.Code.fileReadCorruptFile.rawValue)
  }

  @Test func `a damaged column under a getter gives nil, and the next fetch or save throws why`() throws {
    let url = TestFiles.unusedURL(extension: "cairn")
    try Stores.make(url, count: 5, type: CairnArchiveStoreType)
    // The names' block is the one that has them as text.
    var bytes = try Data(contentsOf: url)
    let place = try #require(bytes.range(of: Data("BLK1".utf8), in: 700..<bytes.count))
    var damaged = false
    var start = place.lowerBound
    while let block = bytes.range(of: Data("BLK1".utf8), in: start..<bytes.count) {
      // Kind 3, column 0.
      if bytes[block.lowerBound + 4] == 3, bytes[block.lowerBound + 10] == 0,
        bytes[block.lowerBound + 11] == 0
      {
        bytes[block.lowerBound + 34] ^= 0xFF
        damaged = true
      }
      start = block.upperBound
    }
    #expect(damaged)
    try bytes.write(to: url)
    let coordinator = Stores.coordinator()
    try coordinator.addPersistentStore(ofType: CairnArchiveStoreType, configurationName: nil, at: url)
    let context = Stores.context(coordinator)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
      let things = try context.fetch(request)
      #expect(things.count == 5)
      #expect(things[0].value(forKey: "name") == nil && things[0].value(forKey: "size") as? Int == 0)
      let failure = Stores.error { _ = try context.fetch(request) }
      #expect(failure != nil && "\(failure!)".contains("Thing.name"))
      let figures = NSFetchRequest<NSDictionary>(entityName: "Thing")
      figures.resultType = .dictionaryResultType
      figures.propertiesToFetch = ["size"]
      #expect(try context.fetch(figures).count == 5)
      figures.propertiesToFetch = ["name"]
      #expect(throws: (any Error).self) { _ = try context.fetch(figures) }
      things[1].setValue("new", forKey: "name")
      #expect(throws: (any Error).self) { try context.save() }
    }
  }
}
