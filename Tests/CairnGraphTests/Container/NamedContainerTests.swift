// Containers that find their model by name, and what stores say of it.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct NamedContainerTests {
  @Test func `11.1.1 a container finds the model file of its name among the resources of the program`() throws
  {
    let container = NSPersistentContainer(name: "Library")
    #expect(container.managedObjectModel.entities.map(\.name).sorted { $0! < $1! } == ["Author", "Book"])
    let none = NSPersistentContainer(name: "NoSuchModel")
    #expect(none.managedObjectModel.entities.isEmpty)
  }

  @Test func `9.8 a store's metadata has the version hashes of the model that it is open with`() throws {
    let office = try Office()
    let store = try #require(office.coordinator.persistentStores.first)
    let metadata = office.coordinator.metadata(for: store)
    let hashes = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
    #expect(hashes == office.coordinator.managedObjectModel.entityVersionHashesByName)
    #expect(hashes.count == 7 && hashes.values.filter { $0.count != 32 }.isEmpty)
    #expect(metadata["NSStoreModelVersionHashesVersion"] as? Int == 3)
    let model = office.coordinator.managedObjectModel
    #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    office.coordinator.setMetadata(metadata.merging(["mine": "x"]) { $1 }, for: store)
    #expect(office.coordinator.metadata(for: store)["mine"] as? String == "x")
  }

  @Test func `a refresh of everything keeps links that are facts of changed objects' rows`() throws {
    let office = try Office()
    let red = office.department("Red")
    let ada = office.employee("Ada")
    try office.context.save()
    ada.department = red
    office.context.refresh(red, mergeChanges: false)
    _ = red.name
    office.context.refreshAllObjects()
    #expect(ada.department === red && red.employees == [ada])
    try office.context.save()
    #expect(try office.otherContext().fetch(request(Department.self)).first?.employees.count == 1)
  }
}
