// The rules of attributes that Xcode's inspector has fields for, from a model file to the errors of a save.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct ModelRuleTests {
  private static let contents = """
    <model>
      <entity name="Thing">
        <attribute name="count" optional="YES" attributeType="Integer 32" minValueString="1" maxValueString="5"/>
        <attribute name="day" optional="YES" attributeType="Date" minDateTimeInterval="1000"
          maxDateTimeInterval="2000"/>
        <attribute name="code" optional="YES" attributeType="String" minValueString="2" maxValueString="4"
          regularExpressionString="[a-z]+"/>
        <attribute name="other" optional="YES" attributeType="Integer 16"/>
      </entity>
    </model>
    """

  private func context() throws -> NSManagedObjectContext {
    var document = try ModelDocument(contents: Data(Self.contents.utf8), file: "contents")
    #expect(document.notes.isEmpty)
    guard case .attribute(var other) = document.entities[0].properties[3] else {
      throw CocoaError(.coderInvalidValue)
    }
    other.validation.others = [.init("SELF IN {1, 2}")]
    document.entities[0].properties[3] = .attribute(other)
    let container = try NSPersistentContainer.inMemory(
      name: "Things", model: try NSManagedObjectModel(document: document))
    return container.newBackgroundContext()
  }

  struct Case: Sendable {
    let key: String
    let value: any Sendable
    /// nil for a value that is saved.
    let code: Int?
  }

  static let cases: [Case] = [
    Case(key: "count", value: 6, code: 1610), Case(key: "count", value: 0, code: 1620),
    Case(key: "count", value: 1, code: nil), Case(key: "count", value: 5, code: nil),
    Case(key: "day", value: Date(timeIntervalSinceReferenceDate: 2001), code: 1630),
    Case(key: "day", value: Date(timeIntervalSinceReferenceDate: 999), code: 1640),
    Case(key: "day", value: Date(timeIntervalSinceReferenceDate: 1000), code: nil),
    Case(key: "code", value: "abcde", code: 1660), Case(key: "code", value: "a", code: 1670),
    Case(key: "code", value: "AB", code: 1680), Case(key: "code", value: "ab", code: nil),
    Case(key: "other", value: 3, code: 1550), Case(key: "other", value: 2, code: nil),
  ]

  @Test(arguments: cases.indices)
  func `3.10.3 each rule of a model file has its own number`(_ index: Int) throws {
    let (context, tried) = (try context(), Self.cases[index])
    let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
    thing.setValue(tried.value, forKey: tried.key)
    guard let code = tried.code else { return try context.save() }
    let error = thrown { try context.save() }
    #expect(error?.code == code && error?.userInfo[NSValidationKeyErrorKey] as? String == tried.key)
  }

  @Test func `3.10.3 a pattern with options is a pattern, and a length may be of SELF`() throws {
    #expect(
      ValidationRule(NSPredicate(format: "SELF MATCHES[c] 'a'").tree)
        == .pattern("a", options: .caseInsensitive))
    #expect(ValidationRule(NSPredicate(format: "SELF.length >= 2").tree) == .minimumLength(2))
    let cased = NSPredicate(format: "SELF >=[c] 'a'").tree
    #expect(ValidationRule(cased) == .other(cased))
  }
}
