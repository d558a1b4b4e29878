// Value transformers: the registry that Foundation lacks on Linux, and how attributes use it.

import Cairn
import Testing

@testable import CairnGraph

/// Keeps a list of words as lines of text.
private final class LinesTransformer: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSData.self }
  override class func allowsReverseTransformation() -> Bool { true }

  override func transformedValue(_ value: Any?) -> Any? {
    (value as? [String]).map { Data($0.joined(separator: "\n").utf8) }
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { String(decoding: $0, as: UTF8.self).components(separatedBy: "\n") }
  }
}

final class FoundByClassName: ValueTransformer {
  override func transformedValue(_ value: Any?) -> Any? { "found" }
}

/// What may be archived is the subclass's to say.
private final class UUIDsOnly: NSSecureUnarchiveFromDataTransformer {
  override class var allowedTopLevelClasses: [AnyClass] { [NSUUID.self] }
}

@Suite struct ValueTransformerTests {
  @Test func `a registered transformer is found, and gone when its name is taken back`() {
    let name = NSValueTransformerName("Lines 1")
    #expect(ValueTransformer(forName: name) == nil)
    let transformer = LinesTransformer()
    ValueTransformer.setValueTransformer(transformer, forName: name)
    #expect(ValueTransformer(forName: name) === transformer)
    #expect(LinesTransformer(forName: name) === transformer)
    #expect(FoundByClassName(forName: name) == nil)
    #expect(ValueTransformer.valueTransformerNames().contains(name))
    ValueTransformer.setValueTransformer(nil, forName: name)
    #expect(ValueTransformer(forName: name) == nil)
  }

  @Test func `the name of a class is a name`() {
    let found = ValueTransformer(forName: "CairnGraphTests.FoundByClassName")
    #expect(found?.transformedValue(nil) as? String == "found")
  }

  @Test func `the built-in transformers do what they are named for`() {
    #expect(
      ValueTransformer(forName: .negateBooleanTransformerName)?.transformedValue(true) as? Bool == false)
    #expect(ValueTransformer(forName: .isNilTransformerName)?.transformedValue(nil) as? Bool == true)
    #expect(ValueTransformer(forName: .isNotNilTransformerName)?.transformedValue(1) as? Bool == true)
    #expect(ValueTransformer.valueTransformerNames().contains(.secureUnarchiveFromDataTransformerName))
  }

  static let values: [any Hashable & Sendable] = [
    "text", 5, 2.5, true, Date(timeIntervalSinceReferenceDate: 5), Data([1, 2]), ["a", "b"],
    ["key": ["nested": 1]],
  ]

  @Test(arguments: values.indices)
  func `property lists come back as they were`(_ index: Int) throws {
    let value = Self.values[index]
    for name in [nil, "NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData"] {
      let transformer = AttributeTransformer(name: name)
      #expect(areEqual(try transformer.value(from: transformer.data(for: value)), value))
    }
  }

  @Test func `objects with secure coding come back as they were`() throws {
    let transformer = AttributeTransformer(name: nil)
    for value in [
      NSUUID(), NSURL(fileURLWithPath: "/a"), NSOrderedSet(array: ["b", "a"]), NSSet(array: ["c"]),
    ] {
      #expect(try transformer.value(from: transformer.data(for: value)) as? NSObject == value)
    }
  }

  @Test func `a transformer of values to data is used forwards, one that unarchives backwards`() throws {
    ValueTransformer.setValueTransformer(LinesTransformer(), forName: "Lines 2")
    let lines = AttributeTransformer(name: "Lines 2")
    #expect(try lines.data(for: ["a", "b"]) == Data("a\nb".utf8))
    #expect(try lines.value(from: Data("a\nb".utf8)) as? [String] == ["a", "b"])
    #expect(throws: AttributeTransformer.Failure.self) { try lines.data(for: 5) }
    ValueTransformer.setValueTransformer(UUIDsOnly(), forName: "UUIDs")
    let uuids = AttributeTransformer(name: "UUIDs")
    let uuid = NSUUID()
    #expect(try uuids.value(from: uuids.data(for: uuid)) as? NSUUID == uuid)
    let url = try AttributeTransformer(name: nil).data(for: NSURL(fileURLWithPath: "/a"))
    #expect(throws: AttributeTransformer.Failure.self) { try uuids.value(from: url) }
  }

  @Test func `bytes that are no archive throw, and so does a name that nobody registered`() {
    let archive = AttributeTransformer(name: nil)
    #expect(throws: AttributeTransformer.Failure.self) { try archive.value(from: Data("junk".utf8)) }
    #expect(throws: AttributeTransformer.Failure.self) {
      try AttributeTransformer(name: "Nobody").value(from: Data())
    }
  }
}
