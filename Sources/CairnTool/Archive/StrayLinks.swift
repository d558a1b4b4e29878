// Links of relationships that are to-one both ways which lead to objects that lead elsewhere: saves of programs that knew
// nothing of each other leave them, and no table can say them, since no graph of objects has them.

import Cairn

struct StrayLinks {
  private let schema: Schema
  /// The owners of links that aren't written.
  private var owners: [RelationshipID: Set<Int64>] = [:]

  /// Throws what reading the rows throws. Costs a pass over the rows that have a key of such a relationship, and the
  /// memory of their keys.
  init(_ store: any PersistentStore, _ snapshot: any StoreSnapshot) throws {
    schema = store.schema
    for relationship in schema.relationships where !relationship.isToMany {
      guard let inverse = relationship.inverse, !schema[inverse].isToMany,
        case .key(let slot) = relationship.storage
      else { continue }
      let rows = try store.fetch(StoreRequest(entity: relationship.owner), in: snapshot)
      var links: [(owner: Int64, destination: Int64)] = []
      for row in 0..<rows.count {
        let (column, place) = (rows.chunk(row).columns[slot], rows.row(row))
        if !column.isNull(place) { links.append((rows.key(row).id, column.integer(place))) }
      }
      // Where one leads elsewhere than the other, the first that leads to it has it.
      var leads = Dictionary(
        links.map { ($0.destination, $0.owner) }, uniquingKeysWith: { first, _ in first })
      if inverse == relationship.id {
        for link in links { leads[link.owner] = link.destination }
      } else if leads.count < links.count {
        let contested = Dictionary(grouping: links, by: \.destination).filter { $0.value.count > 1 }.keys
          .sorted()
        let related = try store.related(
          contested.map { RowKey(entity: relationship.destination, id: $0) }, through: inverse, in: snapshot)
        for (row, destination) in contested.enumerated() {
          if let owner = related[row].first { leads[destination] = owner.id }
        }
      }
      owners[relationship.id] = Set(links.filter { leads[$0.destination] != $0.owner }.map(\.owner))
    }
  }

  func contains(_ owner: Int64, _ relationship: RelationshipID) -> Bool {
    owners[relationship]?.contains(owner) ?? false
  }

  /// What the tables of the entities leave out.
  func warnings(of entities: Set<EntityID>) -> [String] {
    owners.sorted { $0.key.index < $1.key.index }.compactMap { id, owners in
      guard !owners.isEmpty, !entities.isDisjoint(with: schema[schema[id].owner].concreteFamily) else {
        return nil
      }
      let rows = owners.count == 1 ? "1 row" : "\(Console.grouped(owners.count)) rows"
      return
        "\(schema[schema[id].owner].name).\(schema[id].name) of \(rows) leads to what doesn't lead back, and is left out"
    }
  }
}
