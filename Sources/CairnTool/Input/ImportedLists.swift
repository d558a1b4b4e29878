// The members of to-many relationships that the input lists, by their owners.

import Cairn

/// Collects lists, and makes links of those that are kept in tables of pairs.
final class ImportedLists {
  private struct Member {
    let key: RowKey
    /// nil is behind those that have one.
    let place: Int64?
  }

  private struct Pair: Hashable {
    let owner: Int64
    let member: Int64
  }

  /// The lists of one relationship.
  private struct Lists {
    private(set) var owners: [RowKey: [Member]] = [:]
    private var pairs: Set<Pair> = []

    /// False where it is there already.
    mutating func add(_ member: Member, to owner: RowKey) -> Bool {
      guard pairs.insert(Pair(owner: owner.id, member: member.key.id)).inserted else { return false }
      owners[owner, default: []].append(member)
      return true
    }

    /// Adds the pairs of the other side that aren't there, at the ends.
    mutating func complete(with other: Lists) {
      for (owner, members) in other.sorted {
        for member in members { _ = add(Member(key: owner, place: nil), to: member) }
      }
    }

    /// By key, each in the order of its places.
    var sorted: [(owner: RowKey, members: [RowKey])] {
      owners.sorted { ($0.key.entity.index, $0.key.id) < ($1.key.entity.index, $1.key.id) }
        .map { owner, members in
          let placed = members.enumerated().sorted { a, b in
            (a.element.place ?? .max, a.offset) < (b.element.place ?? .max, b.offset)
          }
          return (owner, placed.map(\.element.key))
        }
    }
  }

  private let schema: Schema
  private var lists: [RelationshipID: Lists] = [:]

  init(_ schema: Schema) { self.schema = schema }

  /// Returns how many members the owner has now. Throws `InputError` for one that it has already.
  func add(
    _ member: RowKey, to owner: RowKey, _ relationship: RelationshipID, place: Int64?, at: String
  ) throws -> Int {
    guard lists[relationship, default: Lists()].add(Member(key: member, place: place), to: owner) else {
      throw InputError(
        "\(at): an object of \(schema[member.entity].name) is twice in the same \(schema[relationship].name)")
    }
    return lists[relationship]?.owners[owner]?.count ?? 0
  }

  /// What a commit is to do, beside the rows.
  func links() -> [ChangeSet.Links] {
    schema.joins.flatMap { join -> [ChangeSet.Links] in
      func links(_ all: Lists, _ relationship: RelationshipID) -> [ChangeSet.Links] {
        all.sorted.map { .init(relationship, of: $0.owner, .replace($0.members)) }
      }
      var sources = lists[join.source] ?? Lists()
      if join.isSymmetric {
        sources.complete(with: sources)
        return links(sources, join.source)
      }
      var targets = join.target.flatMap { lists[$0] } ?? Lists()
      sources.complete(with: targets)
      guard let target = join.target, join.isTargetOrdered, !targets.owners.isEmpty else {
        return links(sources, join.source)
      }
      // The pairs are there already then, and are put in this side's order.
      targets.complete(with: sources)
      return links(sources, join.source) + links(targets, target)
    }
  }
}
