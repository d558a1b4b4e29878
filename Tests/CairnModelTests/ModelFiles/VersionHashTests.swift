// Version hashes against those that Core Data wrote into stores and compiled models.

import Foundation
import Testing

@testable import CairnModel

@Suite struct VersionHashTests {
  /// One entity with the hash that Core Data gave it.
  struct Pair: Decodable {
    struct Property: Decodable {
      let name: String
      let optional: Bool?
      let transient: Bool?
      let modifier: String?
      let type: Int?
      let marked: Bool?
      let destination: String?
      let inverse: String?
      let min: Int?
      let max: Int?
      let ordered: Bool?

      var hash: Data {
        if let destination {
          return VersionHash.relationship(
            name: name, destination: destination, inverse: inverse, minCount: min ?? 0, maxCount: max ?? 0,
            isOrdered: ordered ?? false, isOptional: optional ?? false, isTransient: transient ?? false,
            modifier: modifier)
        }
        return VersionHash.attribute(
          name: name, type: type ?? 0, isOptional: optional ?? false, isTransient: transient ?? false,
          isMarked: marked ?? false, modifier: modifier)
      }
    }

    let entity: String
    let abstract: Bool
    let modifier: String?
    let parent: String?
    let uniqueness: [[String]]
    let hash: String
    let properties: [Property]
    let origin: String
  }

  static func pairs() throws -> [Pair] {
    try JSONDecoder().decode([Pair].self, from: Fixtures.data("version-hashes.json"))
  }

  @Test("every entity of real stores and compiled models hashes as Core Data hashed it")
  func realPairs() throws {
    let pairs = try VersionHashTests.pairs()
    #expect(pairs.count == 53)
    for pair in pairs {
      let stored = pair.properties.filter { $0.transient != true }
      let hash = VersionHash.entity(
        name: pair.entity, isAbstract: pair.abstract, parent: pair.parent.map(bytes),
        properties: stored.shuffled().map { ($0.name, $0.hash) }, uniquenessConstraints: pair.uniqueness,
        modifier: pair.modifier)
      #expect(hash.hexText == pair.hash, "\(pair.entity) of \(pair.origin)")
    }
  }

  @Test("whatever Core Data counts as a difference changes the hash, and nothing else does")
  func sensitivity() {
    let base = ModelDocument.sample
    let hash = base.versionHashes["Employee"]
    typealias Change = (inout ModelDocument.Entity) -> Void
    func attribute(_ change: @escaping (inout ModelDocument.Attribute) -> Void) -> Change {
      { entity in
        guard case .attribute(var attribute) = entity.properties[0] else { return }
        change(&attribute)
        entity.properties[0] = .attribute(attribute)
      }
    }
    func relationship(_ change: @escaping (inout ModelDocument.Relationship) -> Void) -> Change {
      { entity in
        guard case .relationship(var relationship) = entity.properties[1] else { return }
        change(&relationship)
        entity.properties[1] = .relationship(relationship)
      }
    }
    func isChanged(by change: Change) -> Bool {
      var document = base
      change(&document.entities[1])
      return document.versionHashes["Employee"] != hash
    }

    let changes: [Change] = [
      { $0.isAbstract = true },
      { $0.superentity = nil },
      { $0.versionHashModifier = "x" },
      { $0.uniquenessConstraints = [] },
      { $0.properties.removeLast() },
      attribute { $0.name = "pay" },
      attribute { $0.kind = .double },
      attribute { $0.isOptional.toggle() },
      attribute { $0.isTransient.toggle() },
      attribute { $0.versionHashModifier = "x" },
      attribute { $0.allowsExternalBinaryDataStorage = true },
      attribute { $0.derivation = .init("now()") },
      relationship { $0.maxCount = 0 },
      relationship { $0.minCount = 1 },
      relationship { $0.isOrdered = true },
      relationship { $0.inverseName = nil },
      relationship { $0.destination = "Person" },
    ]
    for (i, change) in changes.enumerated() { #expect(isChanged(by: change), "change \(i)") }
    let others: [Change] = [
      { $0.properties.reverse() },
      { $0.className = "X" },
      { $0.renamingIdentifier = "X" },
      { $0.userInfo = ["a": "b"] },
      { $0.fetchIndexes = [] },
      attribute { $0.defaultValue = 5 },
      attribute { $0.validation.minimum = 5 },
      attribute { $0.renamingIdentifier = "x" },
      attribute { $0.valueTransformerName = "x" },
      relationship { $0.deleteRule = .deny },
      relationship { $0.renamingIdentifier = "x" },
    ]
    for (i, change) in others.enumerated() { #expect(!isChanged(by: change), "other change \(i)") }

    var parent = base
    parent.entities[0].versionHashModifier = "2"
    #expect(parent.versionHashes["Employee"] != hash, "a superentity's hash is part of its subentities'")
    #expect(parent.versionHashes["Office"] == base.versionHashes["Office"])
  }

  @Test("a change of a composite's elements changes the entities that use it")
  func composites() {
    let base = ModelDocument.sample
    var changed = base
    changed.composites[0].elements[0].kind = .float
    #expect(changed.versionHashes["Office"] != base.versionHashes["Office"])
    #expect(changed.versionHashes["Person"] == base.versionHashes["Person"])
    // In line or by name, the elements are the same.
    var inline = base
    inline.entities[2].properties[0] = .attribute(
      .init("place", .composite, elements: base.composites[0].elements))
    #expect(inline.versionHashes == base.versionHashes)
  }

  @Test("entities that inherit from each other, and composites of themselves, come to an end")
  func cycles() {
    var document = ModelDocument.sample
    document.entities[0].superentity = "Employee"
    document.composites[0].elements.append(.init("inner", .composite, compositeName: "Point"))
    #expect(document.versionHashes.values.allSatisfy { $0.count == 32 })
    #expect(document.versionHashes == document.versionHashes)
  }

  @Test("golden hashes, checksum and digest of the sample model stay as they are")
  func golden() throws {
    let document = ModelDocument.sample
    let lines = document.versionHashes.map { "\($0.key) \($0.value.hexText)" }.sorted()
    let golden = lines + [document.versionChecksum, document.versionHashesDigest]
    #expect(golden == (try Fixtures.text("golden/hashes.txt").split(separator: "\n").map(String.init)))
  }

  private func bytes(_ hex: String) -> Data {
    var result = Data()
    var rest = hex[...]
    while let byte = UInt8(rest.prefix(2), radix: 16) {
      result.append(byte)
      rest = rest.dropFirst(2)
    }
    return result
  }
}
