// Places in ordered lists as a file may say them: whatever they are, a commit goes on from there.

import CairnModel
import CairnStores
import CairnTesting
import Testing

@Suite struct ListPlaceTests {
  private let store = MemoryStore(schema: .company)

  private func key(_ entity: String) throws -> RowKey {
    let entity = try store.schema.requireEntity(named: entity)
    return RowKey(entity: entity.id, id: try store.reserveKeys(1, root: entity.root).lowerBound)
  }

  @Test func `behind the greatest place that there is, rows find one without ending the program`() throws {
    let schema = store.schema
    let (dept, last, next, other) = (
      try key("Department"), try key("Room"), try key("Room"), try key("Room")
    )
    var changes = ChangeSet()
    try changes.insert(dept, [:], in: schema)
    try changes.insert(last, ["dept": .key(dept.id), "dept.#order": .int(.max)], in: schema)
    _ = try store.commit(changes)
    changes = ChangeSet()
    try changes.insert(next, ["dept": .key(dept.id)], in: schema)
    try changes.insert(other, [:], in: schema)
    _ = try store.commit(changes)
    let rooms = try #require(
      schema.relationships.first { $0.name == "rooms" && schema[$0.owner].name == "Department" })
    changes = ChangeSet()
    try changes.update(other, ["dept": .key(dept.id)], in: schema)
    changes.links = [.init(rooms.id, of: dept, .add([other]))]
    _ = try store.commit(changes)
    let found = try store.related([dept], through: rooms.id, in: store.snapshot())[0]
    #expect(Set(found.map(\.id)) == [last.id, next.id, other.id])
  }
}
