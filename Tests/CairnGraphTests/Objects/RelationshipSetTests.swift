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

  // MARK: Held to Foundation's own collections

  private static func descending(_ a: Any, _ b: Any) -> ComparisonResult {
    guard let a = a as? Room, let b = b as? Room else { return .orderedSame }
    return a.number > b.number ? .orderedAscending : a.number < b.number ? .orderedDescending : .orderedSame
  }

  /// What an ordered set answers to, by name: with three members, and three rooms that aren't.
  private static var listQuestions: [(String, (NSMutableOrderedSet, [Room]) -> Any)] {
    [
      ("count", { list, _ in list.count }), ("array", { list, _ in list.array }),
      ("set", { list, _ in list.set.count }), ("first", { list, _ in list.firstObject as Any }),
      ("last", { list, _ in list.lastObject as Any }), ("subscript", { list, _ in list[1] }),
      ("enumerator", { list, _ in list.objectEnumerator().allObjects }),
      ("reverse enumerator", { list, _ in list.reverseObjectEnumerator().allObjects }),
      ("reversed", { list, _ in list.reversed.array }), ("iteration", { list, _ in list.map { $0 } }),
      ("objects at", { list, _ in list.objects(at: [0, 2]) }),
      ("index of", { list, rooms in [list.index(of: rooms[1]), list.index(of: rooms[4])] }),
      ("contains", { list, rooms in [list.contains(rooms[1]), list.contains(rooms[4])] }),
      ("isEqual", { list, rooms in list.isEqual(NSOrderedSet(array: Array(rooms[..<3]))) }),
      (
        "isEqual from the other side",
        { list, rooms in NSOrderedSet(array: Array(rooms[..<3])).isEqual(list) }
      ),
      ("intersects", { list, rooms in list.intersects(NSOrderedSet(array: [rooms[1]])) }),
      ("intersects a set", { list, rooms in list.intersectsSet([rooms[5]]) }),
      ("is subset", { list, rooms in list.isSubset(of: NSOrderedSet(array: rooms)) }),
      (
        "is subset of a set",
        { list, rooms in list.isSubset(of: Set(Array(rooms[..<2]) as [AnyHashable])) }
      ),
      (
        "enumerate",
        { list, _ in
          var found: [String] = []
          list.enumerateObjects { object, index, _ in
            found.append("\(index) \((object as? Room)?.number ?? -1)")
          }
          return found
        }
      ),
      ("index passing", { list, rooms in list.index { object, _, _ in object as? Room === rooms[2] } }),
      (
        "indexes passing",
        { list, rooms in list.indexes { object, _, _ in object as? Room !== rooms[1] }.map { $0 } }
      ),
      ("sorted array", { list, _ in list.sortedArray(comparator: descending) }),
      ("copy", { list, _ in (list.copy() as? NSOrderedSet)?.array as Any }),
      ("mutable copy", { list, _ in (list.mutableCopy() as? NSMutableOrderedSet)?.array as Any }),
      ("made of it", { list, _ in NSOrderedSet(orderedSet: list).array }),
    ]
  }

  /// What changes an ordered set.
  private static var listChanges: [(String, (NSMutableOrderedSet, [Room]) -> Void)] {
    [
      ("add", { list, rooms in list.add(rooms[3]) }), ("add a member", { list, rooms in list.add(rooms[1]) }),
      ("add objects", { list, rooms in list.addObjects(from: [rooms[4], rooms[0], rooms[3]]) }),
      ("insert", { list, rooms in list.insert(rooms[5], at: 1) }),
      ("insert a member", { list, rooms in list.insert(rooms[2], at: 0) }),
      ("insert at", { list, rooms in list.insert([rooms[3], rooms[4]], at: [0, 2]) }),
      ("set at the end", { list, rooms in list.setObject(rooms[5], at: 3) }),
      ("set", { list, rooms in list.setObject(rooms[5], at: 1) }),
      ("subscript", { list, rooms in list[1] = rooms[4] }),
      ("replace", { list, rooms in list.replaceObject(at: 0, with: rooms[4]) }),
      ("replace at", { list, rooms in list.replaceObjects(at: [0, 1], with: [rooms[3], rooms[4]]) }),
      ("remove", { list, rooms in list.remove(rooms[1]) }),
      ("remove another", { list, rooms in list.remove(rooms[5]) }),
      ("remove at", { list, _ in list.removeObject(at: 1) }),
      ("remove at places", { list, _ in list.removeObjects(at: [0, 2]) }),
      ("remove in a range", { list, _ in list.removeObjects(in: NSRange(location: 0, length: 2)) }),
      ("remove objects", { list, rooms in list.removeObjects(in: [rooms[0], rooms[5]]) }),
      ("remove all", { list, _ in list.removeAllObjects() }),
      ("exchange", { list, _ in list.exchangeObject(at: 0, withObjectAt: 2) }),
      ("move", { list, _ in list.moveObjects(at: [0], to: 1) }),
      ("union", { list, rooms in list.union(NSOrderedSet(array: [rooms[1], rooms[4]])) }),
      ("minus", { list, rooms in list.minus(NSOrderedSet(array: [rooms[1], rooms[4]])) }),
      ("union with a set", { list, rooms in list.unionSet([rooms[4]]) }),
      ("minus a set", { list, rooms in list.minusSet([rooms[1], rooms[4]]) }),
      ("intersect with a set", { list, rooms in list.intersectSet([rooms[1], rooms[4]]) }),
      ("sort", { list, _ in list.sort(comparator: descending) }),
      ("sort with options", { list, _ in list.sort(options: .stable, usingComparator: descending) }),
      (
        "sort a range",
        { list, _ in list.sortRange(NSRange(location: 1, length: 2), usingComparator: descending) }
      ),
    ]
  }

  private func rooms(_ office: Office) -> [Room] {
    (0..<6).map { number in
      let room = Room(context: office.context)
      room.number = Int32(number)
      return room
    }
  }

  @Test func `3.8.4 a mutable ordered set answers and changes as Foundation's own does`() throws {
    let office = try Office(.memory)
    let rooms = rooms(office)
    let plain = { NSMutableOrderedSet(array: Array(rooms[..<3])) }
    for (name, question) in Self.listQuestions {
      let red = office.department("Red")
      red.rooms = Array(rooms[..<3])
      let list = red.mutableOrderedSetValue(forKey: "rooms")
      #expect("\(question(list, rooms))" == "\(question(plain(), rooms))", "\(name)")
    }
    for (name, change) in Self.listChanges {
      let red = office.department("Red")
      red.rooms = Array(rooms[..<3])
      let (list, other) = (red.mutableOrderedSetValue(forKey: "rooms"), plain())
      change(list, rooms)
      change(other, rooms)
      let expected = other.array.compactMap { $0 as? Room }
      #expect(red.rooms == expected, "\(name)")
      #expect(list.array.compactMap { $0 as? Room } == expected, "\(name)")
      #expect(rooms.allSatisfy { ($0.department === red) == expected.contains($0) }, "\(name): the inverse")
    }
  }

  @Test func `3.8.4 a mutable ordered set keeps what another has too`() throws {
    let office = try Office(.memory)
    let (red, rooms) = (office.department("Red"), rooms(office))
    red.rooms = Array(rooms[..<4])
    red.mutableOrderedSetValue(forKey: "rooms").intersect(
      NSOrderedSet(array: [rooms[5], rooms[3], rooms[1]]))
    #expect(red.rooms == [rooms[1], rooms[3]])
  }

  @Test func `3.8.4 a mutable ordered set that is held shows what is changed elsewhere`() throws {
    let office = try Office(.memory)
    let rooms = rooms(office)
    let (red, blue) = (office.department("Red"), office.department("Blue"))
    let list = red.mutableOrderedSetValue(forKey: "rooms")
    func shown() -> [Int32] { list.compactMap { ($0 as? Room)?.number } }
    red.rooms = Array(rooms[..<3])
    #expect(shown() == [0, 1, 2])
    rooms[4].department = red
    #expect(shown() == [0, 1, 2, 4])
    rooms[0].department = blue
    #expect(shown() == [1, 2, 4])
    red.mutableOrderedSetValue(forKey: "rooms").exchangeObject(at: 0, withObjectAt: 2)
    #expect(shown() == [4, 2, 1] && list.firstObject as? Room === rooms[4])
    try office.context.save()
    rooms[4].department = nil
    office.context.rollback()
    #expect(red.mutableOrderedSetValue(forKey: "rooms").array.compactMap { $0 as? Room } == red.rooms)
  }

  @Test func `3.8.4 of many mutable ordered sets each shows its own, whether others are held or gone`() throws
  {
    let office = try Office(.memory)
    let departments = (0..<100).map { office.department("\($0)") }
    // Every other one is let go at once.
    let held = departments.indices.map { index in
      let list = departments[index].mutableOrderedSetValue(forKey: "rooms")
      return index % 2 == 0 ? list : nil
    }
    for (index, department) in departments.enumerated() {
      for number in 0..<index % 5 {
        let room = Room(context: office.context)
        room.number = Int32(number)
        room.department = department
      }
    }
    for (index, list) in held.enumerated() {
      let shown = list ?? departments[index].mutableOrderedSetValue(forKey: "rooms")
      #expect(shown.compactMap { ($0 as? Room)?.number } == (0..<Int32(index % 5)).map { $0 }, "\(index)")
      #expect(departments[index].mutableOrderedSetValue(forKey: "rooms") === shown)
    }
  }

  @Test func `3.3.5 a mutable set answers and changes as Foundation's own does`() throws {
    let office = try Office(.memory)
    let people = (0..<6).map { office.employee("\($0)") }
    func names(_ any: some Sequence) -> [String] { any.compactMap { ($0 as? Employee)?.name }.sorted() }
    let questions: [(String, (NSMutableSet) -> Any)] = [
      ("count", { $0.count }), ("all", { names($0.allObjects) }), ("iteration", { names($0) }),
      ("enumerator", { names($0.objectEnumerator().allObjects) }), ("any", { $0.anyObject() != nil }),
      ("member", { ($0.member(people[1]) as? Employee)?.name ?? "none" }),
      ("contains", { [$0.contains(people[1]), $0.contains(people[5])] }),
      ("intersects", { [$0.intersects([people[1]]), $0.intersects([people[5]])] }),
      ("isEqual", { $0.isEqual(NSSet(array: Array(people[..<3]))) }),
      ("isEqual from the other side", { NSSet(array: Array(people[..<3])).isEqual($0) }),
      ("isEqual to a set", { $0.isEqual(to: Set(Array(people[..<3]) as [AnyHashable])) }),
      ("is subset", { [$0.isSubset(of: Set(people as [AnyHashable])), $0.isSubset(of: [people[0]])] }),
      ("adding", { names($0.adding(people[4]).map(\.base)) }),
      ("adding objects", { names($0.addingObjects(from: [people[4], people[5]] as [Any]).map(\.base)) }),
      ("passing", { names($0.objects { object, _ in object as? Employee !== people[0] }.map(\.base)) }),
      (
        "enumerate",
        {
          var found: [Any] = []
          $0.enumerateObjects { object, _ in found.append(object) }
          return names(found)
        }
      ),
      (
        "sorted",
        {
          ($0.sortedArray(using: [NSSortDescriptor(key: "name", ascending: false)]) as? [Employee])?.map(
            \.name) as Any
        }
      ),
      ("copy", { names(($0.copy() as? NSSet)?.allObjects ?? []) }),
      ("mutable copy", { names(($0.mutableCopy() as? NSMutableSet)?.allObjects ?? []) }),
    ]
    let changes: [(String, (NSMutableSet) -> Void)] = [
      ("add", { $0.add(people[3]) }),
      ("add objects", { $0.addObjects(from: [people[3], people[0], people[4]]) }),
      ("remove", { $0.remove(people[1]) }), ("remove another", { $0.remove(people[5]) }),
      ("remove all", { $0.removeAllObjects() }), ("union", { $0.union([people[1], people[4]]) }),
      ("minus", { $0.minus([people[1], people[4]]) }),
      ("intersect", { $0.intersect([people[1], people[4]]) }),
      ("set", { $0.setSet([people[1], people[4]]) }),
    ]
    let plain = { NSMutableSet(array: Array(people[..<3])) }
    for (name, question) in questions {
      let red = office.department("Red")
      red.employees = Set(people[..<3])
      let set = red.mutableSetValue(forKey: "employees")
      #expect("\(question(set))" == "\(question(plain()))", "\(name)")
    }
    for (name, change) in changes {
      let red = office.department("Red")
      red.employees = Set(people[..<3])
      let (set, other) = (red.mutableSetValue(forKey: "employees"), plain())
      change(set)
      change(other)
      #expect(names(set) == names(other) && names(red.employees) == names(other), "\(name)")
      #expect(people.allSatisfy { ($0.department === red) == other.contains($0) }, "\(name): the inverse")
    }
  }
}
