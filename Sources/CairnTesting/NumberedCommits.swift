// Commits that follow from their numbers alone: so that a store whose process was killed at any moment can be held
// against what it has to hold.

public import CairnModel
import Foundation

/// A workload of which the state after each commit is known by the generation's number.
///
/// A new store gets commit 1, then 2 and so on, each made when its turn comes. Whoever opens the store afterwards
/// knows by its generation what it holds: what another store holds after the same commits.
public enum NumberedCommits {
  public static let schema: Schema = {
    do {
      return try Schema(
        SchemaDescription(entities: [
          .init(
            name: "Item",
            attributes: [
              .init("number", .int64), .init("text", .string),
              .init("image", .data, allowsExternalStorage: true),
            ],
            relationships: [
              .init("previous", to: "Item", maxCount: 1),
              .init("tags", to: "Tag", inverse: "items", isOrdered: true),
            ],
            indexes: [.init("byNumber", ["number"])]),
          .init(
            name: "Tag", attributes: [.init("name", .string)],
            relationships: [.init("items", to: "Item", inverse: "tags")]),
        ]))
    } catch {
      preconditionFailure("the schema of numbered commits is unsound: \(error)")
    }
  }()

  /// What commit `number` changes in `store`, whose newest generation is the one before. Throws what reserving keys
  /// throws, and `malformedChangeSet` where the store doesn't reserve the keys that it has to.
  public static func changes(_ number: Int64, for store: any PersistentStore) throws -> ChangeSet {
    var changes = ChangeSet(author: "commit \(number)")
    let (item, tag) = (schema.entities[0], schema.entities[1])
    func key(_ id: Int64) -> RowKey { RowKey(entity: item.id, id: id) }
    let first = 2 * number - 1
    guard try store.reserveKeys(2, root: item.id) == first..<first + 2 else {
      throw StoreError(.malformedChangeSet, "commit \(number) doesn't get the keys that are its own")
    }
    for id in [first, first + 1] {
      try changes.insert(
        key(id),
        [
          "number": .int(id), "text": .string("item \(id) of commit \(number)"),
          "previous": number == 1 ? .null : .key(first - 1),
          "image": id % 3 == 0 ? .data(image(id, number)) : .null,
        ], in: schema)
    }
    if number % 3 == 0 {
      try changes.update(
        key(first - 1), ["text": .string(String(repeating: "é", count: Int(number) * 7)), "image": .null],
        in: schema)
    }
    if number % 4 == 0 {
      let new = RowKey(entity: tag.id, id: try store.reserveKeys(1, root: tag.id).lowerBound)
      try changes.insert(new, ["name": .string("tag \(number)")], in: schema)
      if let tags = item.relationship(named: "tags") {
        changes.links.append(.init(tags, of: key(first + 1), .add([new])))
      }
    }
    if number % 5 == 0 { changes.delete(key(first - 6)) }
    return changes
  }

  /// Large enough to be kept apart now and then.
  private static func image(_ id: Int64, _ number: Int64) -> Data {
    var random = SplitMix64(seed: UInt64(id))
    return Data((0..<Int(number % 4) * 9_000 + 10).map { _ in UInt8(truncatingIfNeeded: random.next()) })
  }
}
