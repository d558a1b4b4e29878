// The object O of the Core Data notes' table of predicates (6.6), as a dictionary and as managed objects.

import Cairn

@testable import CairnGraph

enum ObjectO {
  static let epoch = Date(timeIntervalSinceReferenceDate: 0)

  nonisolated(unsafe) static let dictionary: [String: Any?] = [
    "name": "Alice", "age": 30, "height": 1.7, "active": true, "nick": nil, "city": "São Paulo", "bits": 6,
    "tags": ["a", "b", "c"], "nums": [1, 2, 3], "empty": [Int](), "born": epoch,
    "addr": ["street": "Main", "zip": "123"],
    "kids": [["name": "Bob", "age": 5], ["name": "Cara", "age": 12]] as [[String: Any]],
  ]

  /// `addr` is a to-one, `kids` a to-many; lists of values are transient attributes of no type.
  static func model() -> NSManagedObjectModel {
    let list = { (name: String) in
      let attribute = TestModel.attribute(name, .undefined)
      attribute.isTransient = true
      return attribute
    }
    let object = TestModel.entity(
      "O", NSManagedObject.self,
      [
        TestModel.attribute("name", .string), TestModel.attribute("age", .integer32),
        TestModel.attribute("height", .double), TestModel.attribute("active", .boolean),
        TestModel.attribute("nick", .string), TestModel.attribute("city", .string),
        TestModel.attribute("bits", .integer16), TestModel.attribute("born", .date), list("tags"),
        list("nums"), list("empty"),
      ])
    let address = TestModel.entity(
      "Address", NSManagedObject.self,
      [TestModel.attribute("street", .string), TestModel.attribute("zip", .string)])
    let kid = TestModel.entity(
      "Kid", NSManagedObject.self,
      [TestModel.attribute("name", .string), TestModel.attribute("age", .integer32)])
    TestModel.relate(object, "addr", toMany: false, address, "of")
    TestModel.relate(object, "kids", toMany: true, kid, "parent")
    let model = NSManagedObjectModel()
    model.entities = [object, address, kid]
    return model
  }

  static func insert(into context: NSManagedObjectContext) -> NSManagedObject {
    func make(_ entity: String) -> NSManagedObject {
      NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    }
    let object = make("O")
    for key in ["name", "age", "height", "active", "city", "bits", "tags", "nums", "empty", "born"] {
      object.setValue(dictionary[key] ?? nil, forKey: key)
    }
    let address = make("Address")
    address.setValue("Main", forKey: "street")
    address.setValue("123", forKey: "zip")
    object.setValue(address, forKey: "addr")
    for (name, age) in [("Bob", 5), ("Cara", 12)] {
      let kid = make("Kid")
      kid.setValue(name, forKey: "name")
      kid.setValue(age, forKey: "age")
      kid.setValue(object, forKey: "parent")
    }
    return object
  }
}
