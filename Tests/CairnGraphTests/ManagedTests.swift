// `@Managed` and key-value access, for each type, in each state that an object can be in.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct ManagedTests {
  private static let date = Date(timeIntervalSinceReferenceDate: 1.5)
  private static let uuid = UUID()
  private static let url = URL(string: "https://example.org/a?b=c")!

  private func fill(_ sample: Sample) {
    sample.int16 = -16
    sample.int32 = -32
    sample.int64 = .min
    sample.int = .max
    sample.double = .pi
    sample.float = 0.1
    sample.bool = true
    sample.string = "a string that is longer than fifteen bytes, é"
    sample.date = ManagedTests.date
    sample.data = Data([0, 1, 255])
    sample.uuid = ManagedTests.uuid
    sample.url = ManagedTests.url
    sample.decimal = Decimal(string: "12345678901234567890.123")!
    sample.grade = .high
    sample.optionalInt = 7
    sample.optionalString = "x"
    sample.optionalGrade = .low
    sample.x = 42
  }

  private func check(_ sample: Sample, _ state: Comment) {
    #expect(sample.int16 == -16, state)
    #expect(sample.int32 == -32, state)
    #expect(sample.int64 == .min, state)
    #expect(sample.int == .max, state)
    #expect(sample.double == .pi, state)
    #expect(sample.float == 0.1, state)
    #expect(sample.bool, state)
    #expect(sample.string == "a string that is longer than fifteen bytes, é", state)
    #expect(sample.date == ManagedTests.date, state)
    #expect(sample.data == Data([0, 1, 255]), state)
    #expect(sample.uuid == ManagedTests.uuid, state)
    #expect(sample.url == ManagedTests.url, state)
    #expect(sample.decimal == Decimal(string: "12345678901234567890.123"), state)
    #expect(sample.grade == .high, state)
    #expect(sample.optionalInt == 7, state)
    #expect(sample.optionalString == "x", state)
    #expect(sample.optionalGrade == .low, state)
    #expect(sample.x == 42, state)
  }

  @Test func `every type comes back as it went in, new, saved, changed and fetched`() throws {
    let stack = try Stack(TestModel.makeSample())
    let sample = Sample(context: stack.context)
    fill(sample)
    check(sample, "new")
    try stack.context.save()
    check(sample, "saved")
    check(sample, "saved, and read before")
    let fetched = try #require(try stack.otherContext().fetch(request(Sample.self)).first)
    check(fetched, "fetched")
    fetched.string = "other"
    fill(fetched)
    check(fetched, "changed")
    try fetched.managedObjectContext?.save()
    check(fetched, "changed and saved")
  }

  @Test func `nil is nil for optionals and zero for numbers, strings and Booleans`() throws {
    let stack = try Stack(TestModel.makeSample())
    let sample = Sample(context: stack.context)
    for state in ["new", "saved", "read before"] as [Comment] {
      #expect(sample.optionalInt == nil, state)
      #expect(sample.optionalString == nil, state)
      #expect(sample.optionalGrade == nil, state)
      #expect(sample.int16 == 0 && sample.double == 0 && sample.float == 0 && !sample.bool, state)
      #expect(sample.string.isEmpty, state)
      #expect(sample.grade == .none, state)
      if state == "new" { try stack.context.save() }
    }
    fill(sample)
    sample.optionalInt = nil
    sample.optionalString = nil
    sample.optionalGrade = nil
    try stack.context.save()
    #expect(sample.optionalInt == nil && sample.optionalString == nil && sample.optionalGrade == nil)
  }

  @Test func `key-value access gives numbers that cast to every number type`() throws {
    let stack = try Stack(TestModel.makeSample())
    let sample = Sample(context: stack.context)
    fill(sample)
    try stack.context.save()
    #expect(sample.value(forKey: "int16") as? Int == -16)
    #expect(sample.value(forKey: "int16") as? Int16 == -16)
    #expect(sample.value(forKey: "double") as? Double == .pi)
    #expect(sample.value(forKey: "bool") as? Bool == true)
    #expect(sample.value(forKey: "string") as? String == sample.string)
    #expect(sample.value(forKey: "date") as? Date == ManagedTests.date)
    #expect(sample.value(forKey: "uuid") as? UUID == ManagedTests.uuid)
    #expect(sample.value(forKey: "url") as? URL == ManagedTests.url)
    #expect(sample.value(forKey: "data") as? Data == sample.data)
    #expect((sample.value(forKey: "decimal") as? NSDecimalNumber)?.decimalValue == sample.decimal)
  }

  @Test func `key-value access takes Swift's and Foundation's types`() throws {
    let stack = try Stack(TestModel.makeSample())
    let sample = Sample(context: stack.context)
    for number in [5, Int16(5), UInt8(5), 5.0, Float(5), NSNumber(value: 5)] as [Any] {
      for key in ["int16", "int32", "int64", "double", "float", "decimal"] {
        sample.setValue(nil, forKey: key)
        sample.setValue(number, forKey: key)
        #expect(sample.value(forKey: key) as? Int == 5, "\(type(of: number)) for \(key)")
      }
    }
    sample.setValue(NSString("s"), forKey: "string")
    sample.setValue(NSDate(timeIntervalSinceReferenceDate: 1.5), forKey: "date")
    sample.setValue(NSNumber(value: true), forKey: "bool")
    #expect(sample.string == "s" && sample.date == ManagedTests.date && sample.bool)
    sample["string"] = NSNull()
    #expect(sample["string"] == nil)
  }

  @Test func `a transient attribute lives with its object and is never stored`() throws {
    let stack = try Stack()
    let person = stack.person("Ada")
    person.mood = "glad"
    try stack.context.save()
    #expect(person.mood == "glad" && !person.hasChanges)
    person.mood = "sad"
    #expect(person.isUpdated && stack.context.hasChanges)
    try stack.context.save()
    #expect(person.mood == "sad" && person.value(forKey: "mood") as? String == "sad")
    let other = try #require(try stack.otherContext().fetch(request(Person.self)).first)
    #expect(other.mood == "calm")
  }

  @Test func `setPrimitiveValue changes the value and marks nothing`() throws {
    let stack = try Stack()
    let person = stack.person("Ada")
    try stack.context.save()
    person.setPrimitiveValue("Eve", forKey: "name")
    #expect(person.name == "Eve" && !person.hasChanges && !stack.context.hasChanges)
    person.age = 3
    try stack.context.save()
    #expect(try stack.otherContext().fetch(request(Person.self)).first?.name == "Eve")
  }

  @Test func `the types that a property read accepts are those of ValueType`() {
    func bits(_ types: ValueType...) -> UInt32 { types.reduce(0) { $0 | $1.bit } }
    let integers = bits(.int16, .int32, .int64, .bool)
    #expect([Int.acceptedTypes, Int16.acceptedTypes, Bool.acceptedTypes] == [integers, integers, integers])
    #expect(Double.acceptedTypes == bits(.double, .float, .date))
    #expect(Float.acceptedTypes == bits(.float))
    #expect(String.acceptedTypes == bits(.string))
    #expect(Date.acceptedTypes == bits(.date))
    #expect(Data.acceptedTypes == bits(.data))
    #expect(UUID.acceptedTypes == bits(.uuid))
    #expect(URL.acceptedTypes == bits(.uri))
    #expect(Decimal.acceptedTypes == bits(.decimal))
  }

  @Test func `awakeFromInsert runs once, and awakeFromFetch without marking a change`() throws {
    let entity = TestModel.entity(
      "Awaking", Awaking.self, [TestModel.attribute("log", .string), TestModel.attribute("seen", .integer64)])
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let stack = try Stack(model)
    let object = Awaking(context: stack.context)
    #expect(object.log == "inserted")
    let detached = Awaking(entity: entity, insertInto: nil)
    #expect(detached.log == nil)
    stack.context.insert(detached)
    stack.context.insert(detached)
    #expect(detached.log == "inserted")
    try stack.context.save()
    let other = stack.otherContext()
    let fetched = try other.fetch(request(Awaking.self))
    #expect(fetched.map(\.seen) == [1, 1])
    #expect(!other.hasChanges && fetched.allSatisfy { !$0.hasChanges })
    other.refresh(fetched[0], mergeChanges: false)
    #expect(fetched[0].log == "inserted" && fetched[0].awakenings == 2)
  }
}

final class Awaking: NSManagedObject {
  @Managed var log: String?
  @Managed var seen: Int64
  var awakenings = 0

  override func awakeFromInsert() {
    super.awakeFromInsert()
    log = (log ?? "") + "inserted"
  }

  override func awakeFromFetch() {
    super.awakeFromFetch()
    awakenings += 1
    seen = 1
  }
}
