// To-many relationships through Foundation's collections, and key-value access beside single keys: core-data/03,
// sections 3.3 and 3.8.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct RelationshipSetTests {
  @Test(arguments: StoreUnderTest.allCases)
  func `3.3.5 a mutable set changes the relationship and its inverse`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let red = office.department("Red")
    let (ada, bob) = (office.employee("Ada"), office.employee("Bob"))
    let set = red.mutableSetValue(forKey: "employees")
    set.add(ada)
    set.add(bob)
    set.add(ada)
    #expect(set.count == 2 && set.contains(ada) && ada.department === red)
    try office.context.save()
    set.remove(ada)
    set.remove(ada)
    #expect(ada.department == nil && red.employees == [bob] && set.count == 1)
    #expect(set.allObjects.count == 1 && set.anyObject() as? Employee === bob)
    set.union([ada])
    #expect(Set(set.compactMap { $0 as? Employee }) == [ada, bob])
    set.minus([bob])
    #expect(bob.department == nil)
    set.removeAllObjects()
    #expect(red.employees.isEmpty && ada.department == nil)
    try office.context.save()
    #expect(try office.otherContext().fetch(request(Department.self)).first?.employees.isEmpty == true)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.3.5 a mutable set of a many-to-many adds each pair once, saved or not`(_ store: StoreUnderTest)
    throws
  {
    let office = try Office(store)
    let departments = (0..<5).map { office.department("\($0)") }
    let project = Project(context: office.context)
    try office.context.save()
    let set = project.mutableSetValue(forKey: "departments")
    for department in departments + departments { set.add(department) }
    #expect(set.count == 5)
    try office.context.save()
    for department in departments { set.add(department) }
    #expect(!project.changedValues().keys.contains("departments"))
    set.remove(departments[0])
    departments[1].mutableSetValue(forKey: "projects").remove(project)
    #expect(set.count == 3)
    try office.context.save()
    let saved = try #require(try office.otherContext().fetch(request(Project.self)).first)
    #expect(Set(saved.departments.map(\.name)) == ["2", "3", "4"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `3.8.4 a mutable ordered set keeps the order that it is given`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let red = office.department("Red")
    let rooms = (0..<5).map { number in
      let room = Room(context: office.context)
      room.number = Int32(number)
      return room
    }
    let list = red.mutableOrderedSetValue(forKey: "rooms")
    list.add(rooms[0])
    list.add(rooms[1])
    list.insert(rooms[2], at: 0)
    #expect(red.rooms == [rooms[2], rooms[0], rooms[1]])
    list.exchangeObject(at: 0, withObjectAt: 2)
    list.removeObject(at: 1)
    list.replaceObject(at: 0, with: rooms[3])
    #expect(list.count == 2 && list.object(at: 0) as? Room === rooms[3] && list.index(of: rooms[2]) == 1)
    #expect(rooms[1].department == nil && rooms[0].department == nil)
    rooms[4].department = red
    #expect(red.rooms == [rooms[3], rooms[2], rooms[4]])
    list.moveObjects(at: [2], to: 0)
    try office.context.save()
    let saved = try #require(try office.otherContext().fetch(request(Department.self)).first)
    #expect(saved.rooms.map(\.number) == [4, 3, 2])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `keys are set and read together, and along paths`(_ store: StoreUnderTest) throws {
    let office = try Office(store)
    let red = office.department("Red")
    let ada = office.employee("Ada", in: red)
    ada.setValuesForKeys(["salary": 4, "note": NSNull()])
    #expect(ada.salary == 4 && ada.note == nil)
    let values = ada.dictionaryWithValues(forKeys: ["name", "note", "salary"])
    #expect(values["name"] as? String == "Ada" && values["note"] is NSNull && values["salary"] as? Int == 4)
    ada.setValue("Blue", forKeyPath: "department.name")
    #expect(red.name == "Blue")
    ada.department = nil
    ada.setValue("Green", forKeyPath: "department.name")
    #expect(red.name == "Blue")
  }
}
