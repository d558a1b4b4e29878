// What traps, with a sentence on standard error. Each runs in a process of its own.

import Cairn
import Testing

@testable import CairnGraph

/// The text that a process which trapped has left.
func sentence(_ result: ExitTest.Result?) -> String {
  String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}

@Suite struct ProgrammerErrorTests {
  @Test func `an unknown key traps and names the keys there are`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try Stack()
      _ = stack.person("Ada").value(forKey: "nmae")
    }
    #expect(
      sentence(result).contains("the entity Person is not key value coding-compliant for the key \"nmae\""))
  }

  @Test func `a value of the wrong type traps`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try Stack()
      stack.person("Ada").setValue("old", forKey: "age")
    }
    #expect(sentence(result).contains("Unacceptable type of value for attribute: property = \"age\""))
  }

  @Test func `a property read as another type traps`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try Stack()
      let number: Int = stack.person("Ada").managedValue(forKey: "name")
      print(number)
    }
    #expect(sentence(result).contains("Person.name is string in the model, and can't be used as Int"))
  }

  @Test func `a nil that the type can't have traps`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try Stack(TestModel.makeSample())
      print(Sample(context: stack.context).date)
    }
    #expect(sentence(result).contains("Sample.date is nil, and a Date can't be"))
  }

  @Test func `a used model can't be changed`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let model = TestModel.make()
      _ = NSPersistentStoreCoordinator(managedObjectModel: model)
      model.entities[0].properties[0].name = "other"
    }
    #expect(sentence(result).contains("Can't modify an immutable model."))
    await #expect(processExitsWith: .failure) {
      let model = TestModel.make()
      _ = NSPersistentStoreCoordinator(managedObjectModel: model)
      model.entities = []
    }
    await #expect(processExitsWith: .failure) {
      let model = TestModel.make()
      _ = NSPersistentStoreCoordinator(managedObjectModel: model)
      model.entities[0].isAbstract = true
    }
  }

  @Test func `objects of different contexts can't be related`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try Stack()
      stack.person("Ada").company = Company(context: stack.otherContext())
    }
    #expect(
      sentence(result).contains(
        "Illegal attempt to establish a relationship 'company' between objects in different contexts"))
  }

  @Test func `a relationship doesn't take an object of another entity`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try Stack()
      let ada = stack.person("Ada")
      ada.setValue(ada, forKey: "company")
    }
    #expect(sentence(result).contains("Unacceptable type of value for relationship: property = \"company\""))
  }

  @Test func `an abstract entity has no objects of its own`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let model = TestModel.make()
      model.entities[1].isAbstract = true
      _ = Person(context: try Stack(model).context)
    }
    #expect(sentence(result).contains("\"Person\" is abstract"))
  }

  @Test func `a result type that isn't the objects' class traps and names the remedy`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try Stack()
      stack.person("Ada")
      _ = try stack.context.fetch(NSFetchRequest<Tag>(entityName: "Person"))
    }
    #expect(sentence(result).contains("set its managedObjectClassName"))
  }
}
