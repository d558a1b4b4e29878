// Archives that are right and odd: random models, rows and saves, put together as no writer of ours would.
// Both readers have to say the same of them; `.ci/check-formats` has the independent one read what this
// writes.

import CairnModel
import Foundation
import Testing

@testable import CairnStores

@Suite struct OddArchiveTests {
  /// What is made from one number.
  private struct Odd {
    let bytes: [UInt8]
    /// The archive that our writer made of the same.
    let plain: String
  }

  @Test(arguments: 0..<40)
  func `an archive that is put together oddly says the same as ours`(_ seed: Int) throws {
    let odd = try Self.odd(UInt64(seed))
    #expect(try GoldenArchiveTests.dump(odd.bytes) == odd.plain)
    try Self.hand(odd.bytes, odd.plain, to: "odd-\(seed)")
  }

  /// Writes an archive and its JSON for the independent reader, if the environment says where.
  private static func hand(_ bytes: [UInt8], _ json: String, to name: String) throws {
    guard let path = ProcessInfo.processInfo.environment["CAIRN_ODD_ARCHIVES"] else { return }
    let folder = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(bytes).write(to: folder.appendingPathComponent("\(name).cairn"))
    try Data(json.utf8).write(to: folder.appendingPathComponent("\(name).json"))
  }

  @Test func `an archive that is to be smallest relates its columns, and says what it was given`() throws {
    var dumps: [String] = []
    for profile in [ArchiveStore.Profile.smallest, .fastest] {
      let making = try Golden.Making(Golden.numbered, profile: profile)
      try making.save { $0.inserts = [try Self.relatedRows(making)] }
      let bytes = try making.bytes()
      let references = try ArchiveParts(bytes).footer.splices.flatMap(\.groups).flatMap(\.references)
      #expect(references.contains { !$0.sources.isEmpty } == (profile == .smallest))
      dumps.append(try GoldenArchiveTests.dump(bytes))
      try Self.hand(bytes, dumps.last!, to: "\(profile)")
    }
    #expect(dumps[0] == dumps[1])
  }

  /// Rows of which some columns follow from others.
  private static func relatedRows(_ making: Golden.Making) throws -> ChangeSet.Inserts {
    let entity = making.store.schema.entities[0]
    let keys = Array(try making.store.reserveKeys(1500, root: entity.id))
    let builders = entity.slots.map { ColumnBuilder($0.type) }
    var numbers = FixedNumbers(seed: 11)
    for _ in keys {
      let (a, b) = (Int64(numbers.below(5000)), Int64(numbers.below(300)))
      let values: [String: Value] = [
        "n0": .int(a), "n1": .int(b), "n2": numbers.below(20) == 0 ? .null : .int(a + b), "n3": .int(a / 10),
        "s": .string("code \(b % 40)"), "d": .double(Double(b % 40) * 1.25),
      ]
      for (slot, builder) in zip(entity.slots, builders) {
        try builder.append(value: values[slot.name] ?? .null)
      }
    }
    return .init(entity: entity.id, keys: keys, columns: builders.map { $0.finish() })
  }

  private static func odd(_ seed: UInt64) throws -> Odd {
    var numbers = FixedNumbers(seed: seed &* 7919 &+ 17)
    let schema = try schema(&numbers)
    let profile = ArchiveStore.Profile.allCases[numbers.below(3)]
    let making = try Golden.Making(
      schema, profile: profile, leastFooter: 1 << 20, leastBlob: numbers.below(2) == 0 ? 4 : 1 << 14)
    for _ in 0..<1 + numbers.below(4) { try change(making, &numbers) }
    if numbers.below(3) == 0 { try making.store.compact() }
    let bytes = try making.bytes()
    let plain = try GoldenArchiveTests.dump(bytes)
    var parts = try ArchiveParts(bytes)
    var payloads = OddPayload(seed: numbers.next())
    if numbers.below(4) == 0 { _ = parts.append(try TextBlock.encode(.metadata, [1, 2, 3], level: 1)) }
    try parts.makeBlocksOdd(&payloads, sharing: numbers.below(3) == 0, relating: numbers.below(8))
    try parts.shuffle(&numbers)
    // Headers may have features that readers ignore.
    if numbers.below(3) == 0 { parts.header.compatible = numbers.next() }
    if numbers.below(3) == 0 { parts.header.readOnlyCompatible = numbers.next() }
    var result = try parts.bytes()
    if numbers.below(3) == 0 { result = result.zeroing(80..<144) }
    // The saves that were put behind ours have generations of their own.
    let rest = plain.drop { $0 != "," }
    return Odd(bytes: result, plain: "{\"generation\":\(parts.footer.generation)" + rest)
  }

  // MARK: Models

  private static func schema(_ numbers: inout FixedNumbers) throws -> Schema {
    let count = 1 + numbers.below(4)
    var entities: [SchemaDescription.EntityDescription] = []
    for number in 0..<count {
      var attributes: [SchemaDescription.AttributeDescription] = []
      for place in 0..<numbers.below(5) {
        let name = "e\(number)a\(place)"
        attributes.append(.init(name, type(&numbers), allowsExternalStorage: place % 2 == 0))
        if numbers.below(6) == 0 {
          attributes.append(
            .init(
              name + "c",
              .composite([
                .init("x", .value(type(&numbers))),
                .init("y", .composite([.init("z", .value(type(&numbers)))])),
              ])))
        }
      }
      entities.append(
        .init(
          name: "E\(number)",
          superentity: number > 0 && numbers.below(2) == 0 ? "E\(numbers.below(number))" : nil,
          isAbstract: numbers.below(5) == 0, attributes: attributes))
    }
    for pair in 0..<numbers.below(5) {
      let (a, b) = (numbers.below(count), numbers.below(count))
      let counts = [numbers.below(2), numbers.below(2)]
      let isOrdered = counts.map { $0 == 0 && numbers.below(2) == 0 }
      let hasInverse = numbers.below(4) > 0
      entities[a].relationships.append(
        .init(
          "r\(pair)", to: "E\(b)", inverse: hasInverse ? "s\(pair)" : nil, maxCount: counts[0],
          isOrdered: isOrdered[0]))
      if hasInverse {
        entities[b].relationships.append(
          .init("s\(pair)", to: "E\(a)", inverse: "r\(pair)", maxCount: counts[1], isOrdered: isOrdered[1]))
      }
    }
    return try Schema(SchemaDescription(entities: entities))
  }

  private static func type(_ numbers: inout FixedNumbers) -> ValueType {
    let all = ValueType.allCases.filter { $0 != .key }
    return all[numbers.below(all.count)]
  }

  // MARK: Rows

  private static func change(_ making: Golden.Making, _ numbers: inout FixedNumbers) throws {
    let schema = making.store.schema
    let snapshot = try making.store.snapshot()
    var rows: [EntityID: [RowKey]] = [:]
    for entity in schema.entities where !entity.isAbstract {
      rows[entity.id] = try making.store.fetch(
        StoreRequest(entity: entity.id, includesSubentities: false), in: snapshot
      ).keys
    }
    let old = rows
    try making.save { changes in
      for entity in schema.entities where !entity.isAbstract {
        // Some keys are lost.
        let reserved = try making.store.reserveKeys(numbers.below(30), root: entity.root)
        let keys = reserved.filter { _ in numbers.below(5) > 0 }.map { RowKey(entity: entity.id, id: $0) }
        for key in keys {
          try changes.insert(key, values(entity, schema, old, &numbers), in: schema)
          rows[entity.id, default: []].append(key)
        }
        for key in old[entity.id] ?? [] {
          if numbers.below(8) == 0 {
            try changes.update(key, values(entity, schema, old, &numbers), in: schema)
          }
        }
      }
    }
    // Afterwards, so that keys are left that lead nowhere.
    try making.save { changes in
      for key in old.values.joined().sorted() where numbers.below(8) == 0 {
        changes.delete(key)
        rows[key.entity]!.removeAll { $0 == key }
      }
    }
    try making.save { changes in
      for relation in schema.relationships {
        guard case .join = relation.storage else { continue }
        let destinations = schema[relation.destination].concreteFamily.flatMap { rows[$0] ?? [] }
        if destinations.isEmpty { continue }
        for owner in schema[relation.owner].concreteFamily.flatMap({ rows[$0] ?? [] }).prefix(6) {
          let members = Set(
            (0..<numbers.below(5)).map { _ in destinations[numbers.below(destinations.count)] })
          changes.links.append(.init(relation.id, of: owner, .add(members.sorted())))
        }
      }
    }
  }

  private static func values(
    _ entity: SchemaEntity, _ schema: Schema, _ rows: [EntityID: [RowKey]], _ numbers: inout FixedNumbers
  ) -> [String: Value] {
    var result: [String: Value] = [:]
    for slot in entity.slots {
      if numbers.below(4) == 0 { continue }
      switch slot.role {
      case .attribute:
        let edges = Golden.edges(slot.type)
        result[slot.name] = edges[numbers.below(numbers.below(3) == 0 ? 2 : edges.count)]
      case .toOne(let id):
        let targets = schema[schema[id].destination].concreteFamily.flatMap { rows[$0] ?? [] }
        if !targets.isEmpty { result[slot.name] = .key(targets[numbers.below(targets.count)].id) }
      case .order: break
      }
    }
    return result
  }
}

extension ArchiveParts {
  /// Says the same in another way: bounds wider, varints longer, groups in several splices and footers.
  mutating func shuffle(_ numbers: inout FixedNumbers) throws {
    if numbers.below(2) == 0 { footer.leastVarint = 1 + numbers.below(10) }
    for s in footer.splices.indices {
      for g in footer.splices[s].groups.indices {
        for place in footer.splices[s].groups[g].references.indices {
          footer.splices[s].groups[g].references[place].widen(&numbers)
        }
      }
    }
    if numbers.below(2) == 0 { try splitFooter(&numbers) }
    if numbers.below(2) == 0 { try appendSave() }
  }

  /// The first footer has some of the groups and some nonsense, the second one replaces that by the rest.
  private mutating func splitFooter(_ numbers: inout FixedNumbers) throws {
    let all = footer.splices
    footer.splices = []
    for splice in all {
      var first = splice
      first.groups = Array(splice.groups.prefix(numbers.below(splice.groups.count + 1)))
      footer.splices.append(first)
    }
    let kept = footer.splices.map(\.groups.count)
    try appendSave()
    for (splice, kept) in zip(all, kept) {
      // All that is there goes, and comes again with the others; or only the others come.
      let isAnew = numbers.below(2) == 0
      let rest = splice.groups.dropFirst(isAnew ? 0 : kept)
      var groups = Array(rest)
      if !isAnew, kept > 0, let first = groups.first {
        // Keys are told from 0 on in each splice.
        let last = splice.groups[..<kept].flatMap(\.chunks).reduce(UInt64(0)) { $0 + $1.step + $1.reach }
        groups[0].chunks[0].step = last + first.chunks[0].step
      }
      footer.splices.append(
        .init(
          table: splice.table, start: isAnew ? 0 : UInt64(kept), removed: isAnew ? UInt64(kept) : 0,
          groups: groups))
    }
  }
}

extension FooterParts.Chunk {
  /// Last key less first key.
  fileprivate var reach: UInt64 { flags & 1 == 0 ? span : rows - 1 }
}

extension FooterParts.Reference {
  fileprivate mutating func widen(_ numbers: inout FixedNumbers) {
    if flags == 0 { return }
    if flags & 2 != 0, numbers.below(3) == 0, least > .min + 1000, UInt64(Int64.max) - 2000 > span,
      least + Int64(span) < .max - 1000
    {
      least -= Int64(numbers.below(900))
      span += UInt64(900 + numbers.below(90))
    }
    if flags & 4 != 0, numbers.below(3) == 0 { doubles = (-.infinity, .infinity) }
    if numbers.below(3) == 0 { flags |= 8 }
  }
}
