// Which parts of a predicate columns answer, which are left to objects, and which are wrong.

import Testing

@testable import CairnModel

struct SplitTests {
  private let schema = PeopleModel.schema

  private func halves(_ format: String) throws -> (columns: String?, rest: String?) {
    let split = try PredicateFormat.parse(format).split(bindableTo: PeopleModel.person, in: schema)
    return (split.columns?.canonicalFormat, split.rest?.canonicalFormat)
  }

  @Test func `the parts of an AND go where they can be answered`() throws {
    let both = try halves("age > 3 AND FUNCTION(name, 'f') == 1 AND name == 'x' AND name[0] == 'a'")
    #expect(both.columns == "age > 3 AND name == \"x\"")
    #expect(both.rest == "FUNCTION(name, \"f\" ) == 1 AND name[0] == \"a\"")
    let all = try halves("(age > 3 AND name == 'x') AND age < 9")
    #expect(all.columns == "(age > 3 AND name == \"x\") AND age < 9" && all.rest == nil)
    let none = try halves("age > 3 OR FUNCTION(name, 'f') == 1")
    #expect(none.columns == nil && none.rest == "age > 3 OR FUNCTION(name, \"f\" ) == 1")
  }

  @Test(arguments: [
    "nothing == 1", "age < 'x'", "ANY age > 3", "age > $x", "age > 3 AND uppercase:(age) == 'A'",
    "age.@count > 1",
  ])
  func `what is wrong stays an error, and is never left to objects`(format: String) {
    #expect(throws: StoreError.self) {
      try PredicateFormat.parse("name == 'x' AND \(format)").split(bindableTo: PeopleModel.person, in: schema)
    }
  }
}
