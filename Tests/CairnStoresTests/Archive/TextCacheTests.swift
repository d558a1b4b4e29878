// What is kept of texts that were parsed: never a value of another text, and never much.

import CairnModel
import Testing

@testable import CairnStores

@Suite struct TextCacheTests {
  private static func block(_ text: [UInt8], kind: BlockHeader.Kind = .schema) -> (BlockHeader, [UInt8]) {
    let header = BlockHeader(
      kind: kind, codec: 0, rawLength: UInt32(text.count), storedLength: UInt32(text.count))
    return (header, text)
  }

  @Test func `texts that differ in one byte never share a value`() throws {
    let cache = TextCache<[UInt8]>()
    let text = Array(#"{"entities":[],"model":"m"}"#.utf8)
    for place in text.indices {
      for change in [0, 1, 0x80] as [UInt8] {
        var other = text
        other[place] ^= change
        let (header, stored) = Self.block(other)
        #expect(try cache.value(header, stored) { $0 } == other)
        let (first, firstStored) = Self.block(text)
        #expect(try cache.value(first, firstStored) { $0 } == text)
      }
    }
    // The same stored bytes as another text.
    let deflated = try TextBlock.encode(.schema, [UInt8](repeating: 7, count: 100), level: 9)
    let (header, _) = try BlockHeader.read(deflated[..<BlockHeader.size])
    let stored = Array(deflated[BlockHeader.size...])
    let (plain, _) = Self.block(stored)
    for _ in 0..<2 {
      #expect(try cache.value(header, stored) { $0 } == [UInt8](repeating: 7, count: 100))
      #expect(try cache.value(plain, stored) { $0 } == stored)
    }
  }

  @Test func `a text that is kept isn't parsed again, and one that can't be parsed is refused each time`()
    throws
  {
    struct Refused: Error {}
    let cache = TextCache<Int>()
    let (header, stored) = Self.block([1, 2, 3])
    for _ in 0..<2 {
      #expect(throws: Refused.self) { try cache.value(header, stored) { _ in throw Refused() } }
    }
    #expect(try cache.value(header, stored) { $0.count } == 3)
    #expect(try cache.value(header, stored) { _ in throw Refused() } == 3)
    // What no text's block says isn't looked up.
    var wrong = header
    wrong.rows = 1
    #expect(throws: RecordError.self) { try cache.value(wrong, stored) { $0.count } }
    wrong = header
    wrong.rawLength = 4
    #expect(throws: RecordError.self) { try cache.value(wrong, stored) { $0.count } }
  }

  @Test func `a text that is in no block is kept as one that is, and isn't taken for a deflated one`() throws
  {
    struct Refused: Error {}
    let cache = TextCache<[UInt8]>()
    let deflated = try TextBlock.encode(.schema, [UInt8](repeating: 7, count: 100), level: 9)
    let (header, _) = try BlockHeader.read(deflated[..<BlockHeader.size])
    let stored = Array(deflated[BlockHeader.size...])
    #expect(try cache.value(header, stored) { $0 } == [UInt8](repeating: 7, count: 100))
    #expect(throws: Refused.self) { try cache.value(ofPlain: stored) { _ in throw Refused() } }
    #expect(try cache.value(ofPlain: stored) { $0 } == stored)
    #expect(try cache.value(ofPlain: stored) { _ in throw Refused() } == stored)
    #expect(try cache.value(ofPlain: stored + [0]) { $0 } == stored + [0])
    #expect(cache.count == 3)
  }

  @Test func `few values are kept, the ones used last, and none of a long text`() throws {
    let cache = TextCache<Int>()
    var parsed = 0
    func value(_ number: UInt8) throws {
      let (header, stored) = Self.block([number])
      _ = try cache.value(header, stored) { _ in
        parsed += 1
        return 0
      }
    }
    for number in 0..<100 as Range<UInt8> {
      try value(number)
      try value(0)
    }
    #expect(parsed == 100)
    #expect(cache.count == TextCache<Int>.capacity)
    let long = TextCache<Int>()
    let (header, stored) = Self.block([UInt8](repeating: 1, count: TextCache<Int>.longest + 1))
    _ = try long.value(header, stored) { $0.count }
    #expect(long.count == 0)
  }

  @Test func `archives whose schemas differ in one letter are opened with their own, in turn`() throws {
    let files = SimulatedFileSystem()
    let schemas = try ["Note", "Nota"].map { name in
      try Schema(SchemaDescription(entities: [.init(name: name, attributes: [.init("text", .string)])]))
    }
    for (number, schema) in schemas.enumerated() {
      try ArchiveStore(at: "/\(number)", model: .init(schema: schema), options: .init(), fileSystem: files)
        .close()
    }
    for _ in 0..<3 {
      for (number, schema) in schemas.enumerated() {
        let found = try ArchiveFiles.contents(at: "/\(number)", files).source.schema
        #expect(found.entities.map(\.name) == schema.entities.map(\.name))
        let other = schemas[1 - number]
        #expect(throws: StoreError.self) {
          try ArchiveStore(at: "/\(number)", model: .init(schema: other), options: .init(), fileSystem: files)
        }
      }
    }
  }
}
