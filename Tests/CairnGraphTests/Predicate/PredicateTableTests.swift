// The Core Data notes' table of predicates (6.6), asked of a dictionary and of managed objects. Rows about text
// alone, and the canonical column, are in CairnModelTests.

import Cairn
import Testing

@testable import CairnGraph

struct PredicateTableTests {
  enum Answer { case yes, no, error }

  struct Row: CustomStringConvertible {
    let number: Int
    let format: String
    let answer: Answer
    let arguments: [Any?]
    /// Of another object than O.
    let object: Any?
    /// Where managed objects answer otherwise.
    let managed: Answer?

    init(
      _ number: Int, _ format: String, _ answer: Answer, _ arguments: [Any?] = [], on object: Any? = nil,
      managed: Answer? = nil
    ) {
      self.number = number
      self.format = format
      self.answer = answer
      self.arguments = arguments
      self.object = object
      self.managed = managed
    }

    var description: String { "row \(number): \(format)" }
  }

  nonisolated(unsafe) static let rows: [Row] = [
    Row(1, "age == 30", .yes), Row(2, "age = 30", .yes), Row(3, "30 == age", .yes), Row(4, "age != 30", .no),
    Row(5, "age <> 31", .yes), Row(6, "age > 29", .yes), Row(7, "age >= 30", .yes), Row(8, "age => 30", .yes),
    Row(9, "age =< 29", .no), Row(10, "age < 10.5", .no), Row(11, "1 <= age AND age < 10.5", .no),
    Row(12, "age BETWEEN {20, 30}", .yes), Row(13, "age BETWEEN {31, 40}", .no),
    Row(14, "age BETWEEN %@", .yes, [[20, 40]]), Row(15, "NOT age BETWEEN {1, 3}", .yes),
    Row(16, "name BETWEEN {'A','B'}", .yes), Row(17, "name == 'Alice'", .yes),
    Row(18, "name == \"alice\"", .no), Row(19, "name ==[c] 'ALICE'", .yes),
    Row(20, "city == 'Sao Paulo'", .no), Row(21, "city ==[d] 'Sao Paulo'", .yes),
    Row(22, "city ==[cd] 'sao paulo'", .yes), Row(23, "city ==[dc] 'sao paulo'", .yes),
    Row(24, "name !=[c] 'ALICE'", .no), Row(25, "name < 'Bob'", .yes), Row(26, "name BEGINSWITH 'Al'", .yes),
    Row(27, "name beginswith[c] 'al'", .yes), Row(28, "name BEGINSWITH[n] 'Al'", .yes),
    Row(29, "name ENDSWITH 'ce'", .yes), Row(30, "name CONTAINS 'lic'", .yes),
    Row(31, "name CONTAINS[cd] 'LIC'", .yes), Row(32, "NOT name CONTAINS[cd] 'LIC'", .no),
    Row(33, "name LIKE 'A*e'", .yes), Row(34, "name LIKE 'A????'", .yes), Row(35, "name LIKE 'lic'", .no),
    Row(36, "name LIKE[c] 'a*'", .yes), Row(37, "name MATCHES 'A.*e'", .yes),
    Row(38, "name MATCHES 'lic'", .no), Row(39, "name MATCHES[c] 'a[a-z]+'", .yes),
    Row(40, "nick == nil", .yes), Row(41, "nick == NULL", .yes), Row(42, "nick != nil", .no),
    Row(43, "name == nil", .no), Row(44, "nick == 'x'", .no), Row(45, "nick != 'x'", .yes),
    Row(46, "nick < 'x'", .no), Row(47, "NOT nick < 'x'", .yes), Row(48, "nick CONTAINS 'x'", .no),
    Row(49, "NOT nick CONTAINS 'x'", .yes), Row(50, "nick IN {'a'}", .no),
    Row(51, "nick == %@", .yes, [NSNull()]), Row(52, "active == YES", .yes), Row(53, "active == true", .yes),
    Row(54, "active == NO", .no), Row(55, "active == %@", .yes, [NSNumber(value: true)]),
    Row(57, "age > 10 AND name == 'Alice'", .yes), Row(58, "age > 10 && name == 'Bob'", .no),
    Row(59, "age > 90 OR name == 'Alice'", .yes), Row(60, "age > 90 || active == 1", .yes),
    Row(61, "NOT age > 90", .yes), Row(62, "!(age > 90)", .yes),
    Row(63, "NOT (age > 90 OR name == 'Z')", .yes), Row(64, "age > 1 AND age > 2 AND age > 3", .yes),
    Row(65, "name == 'Foo' AND (age < 13 OR age > 18)", .no),
    Row(66, "age > 90 AND age > 91 OR age > 1", .yes), Row(67, "TRUEPREDICATE", .yes),
    Row(68, "FALSEPREDICATE OR TRUEPREDICATE", .yes), Row(69, "name IN {'Alice','Bob'}", .yes),
    Row(70, "age IN {20, 21, 22}", .no), Row(71, "age IN %@", .yes, [[30, 31]]),
    Row(72, "age IN %@", .no, [[Int]()]), Row(73, "NOT name IN {'Bob'}", .yes), Row(74, "'b' IN tags", .yes),
    Row(75, "name IN 'xAlicex'", .yes), Row(76, "tags CONTAINS 'b'", .yes),
    Row(77, "'AABBB' CONTAINS 'BBB'", .yes), Row(78, "name IN age", .error),
    Row(79, "ANY kids.age > 10", .yes), Row(80, "SOME kids.age > 10", .yes),
    Row(81, "ALL kids.age > 3", .yes), Row(82, "ALL kids.age > 10", .no), Row(83, "NONE kids.age > 20", .yes),
    Row(84, "ANY empty == 1", .no), Row(85, "ALL empty == 1", .yes), Row(86, "ANY age > 10", .error),
    Row(87, "ANY kids.name IN {'Bob'}", .yes), Row(88, "ANY tags ==[c] 'B'", .yes),
    Row(89, "SUBQUERY(kids, $k, $k.age > 10).@count > 0", .yes),
    Row(90, "SUBQUERY(kids, $k, $k.age > 1 AND $k.name == 'Bob').@count == 1", .yes),
    Row(91, "SUBQUERY(kids, $k, NOT ($k.age == 2)).@count == 0", .no), Row(92, "kids.@count == 2", .yes),
    Row(93, "tags.@count >= 3", .yes), Row(94, "kids.@sum.age == 17", .yes),
    Row(95, "kids.@avg.age == 8.5", .yes), Row(96, "kids.@max.age == 12", .yes),
    Row(97, "kids.@min.age == 5", .yes), Row(98, "nums.@max.self == 3", .yes),
    Row(99, "kids.@distinctUnionOfObjects.age.@count == 2", .yes), Row(100, "addr.zip == '123'", .yes),
    Row(101, "%K == %@", .yes, ["addr.zip", "123"]),
    Row(102, "addr.missing == nil", .yes, managed: .error), Row(103, "SELF.name == 'Alice'", .yes),
    Row(104, "SELF == 'Do'", .yes, on: "Do"), Row(105, "SELF BEGINSWITH 'aaa'", .yes, on: "aaaa"),
    Row(106, "SELF[FIRST] = 1", .yes, on: [1, 2, 0]), Row(107, "SELF[LAST] = 0", .yes, on: [1, 2, 0]),
    Row(108, "SELF[SIZE] = 3", .yes, on: [1, 2, 0]), Row(109, "tags[0] == 'a'", .yes),
    Row(110, "addr['zip'] == '123'", .yes, managed: .error), Row(111, "age + 1 == 31", .yes),
    Row(112, "age - 1 == 29", .yes), Row(113, "age * 2 == 60", .yes), Row(114, "age / 4 == 7", .yes),
    Row(115, "2 ** 3 == 8", .yes), Row(116, "4 + 5 - 2 ** 3 == 1", .yes),
    Row(117, "(age + 2) * 2 == 64", .yes),
    Row(118, "bits & 2 == 2", .yes), Row(119, "bits | 1 == 7", .yes), Row(120, "bits << 1 == 12", .yes),
    Row(121, "modulus:by:(age, 7) == 2", .yes), Row(122, "sum:(nums) == 6", .yes),
    Row(123, "sum(nums) == 6", .yes), Row(124, "uppercase:(name) == 'ALICE'", .yes),
    Row(125, "length:(name) == 5", .yes), Row(126, "now() > born", .yes),
    Row(127, "FUNCTION(name, 'uppercaseString') == 'ALICE'", .yes),
    Row(128, "FUNCTION(name, 'stringByAppendingString:', 'x') == 'Alicex'", .yes),
    Row(129, "born == CAST(0, 'NSDate')", .yes), Row(130, "born == %@", .yes, [ObjectO.epoch]),
    Row(131, "CAST('12', 'NSNumber') == 12", .yes),
    Row(132, "TERNARY(age > 18, 'adult', 'minor') == 'adult'", .yes),
    Row(133, "TERNARY(nick != nil, nick, '') IN {'', 'a'}", .yes), Row(135, "name == $N", .error),
    Row(136, "SELF == '%@'", .no, on: "Do"), Row(138, "name == 'O\\'Neil'", .no),
    Row(139, "name == %@", .no, ["Quote \""]), Row(140, "name == %@", .no, ["Quote \\"]),
    Row(141, "name == Alice", .no, managed: .error), Row(142, "age == '30'", .no),
    Row(143, "foo <= 2", .error, on: ["foo": "2"]), Row(144, "this = that", .yes, on: [String: Any]()),
    Row(144, "this = that", .yes, on: ["this": 1, "that": 1.0]),
    Row(144, "this = that", .no, on: ["this": 1, "that": "1"]), Row(153, "NO == YES", .no),
    Row(154, "(SELF.g)[0] == 2", .yes, on: ["g": [2, 3]]),
    Row(155, "b CONTAINS[cdl] 'ABC'", .yes, on: ["b": "xäbC"]),
  ]

  private func answer(_ row: Row, on object: Any) throws -> Answer {
    let predicate = try NSPredicate(parsing: row.format, arguments: row.arguments)
    do {
      let result = try predicate.matches(object)
      #expect(predicate.evaluate(with: object) == result)
      #expect(try NSPredicate(predicate.tree).matches(object) == result)
      return result ? .yes : .no
    } catch let error as PredicateEvaluationError {
      #expect(!error.message.isEmpty && !error.expression.isEmpty, "\(error)")
      return .error
    }
  }

  @Test func `the table's rows hold of a dictionary`() throws {
    for row in PredicateTableTests.rows {
      #expect(try answer(row, on: row.object ?? ObjectO.dictionary) == row.answer, "\(row.description)")
    }
  }

  @Test func `the table's rows hold of managed objects, unsaved and saved`() throws {
    let stack = try Stack(ObjectO.model())
    let object = ObjectO.insert(into: stack.context)
    for row in PredicateTableTests.rows where row.object == nil {
      #expect(try answer(row, on: object) == row.managed ?? row.answer, "\(row.description), unsaved")
    }
    try stack.context.save()
    for row in PredicateTableTests.rows where row.object == nil {
      #expect(try answer(row, on: object) == row.managed ?? row.answer, "\(row.description), saved")
    }
  }

  @Test func `variables have their values from the evaluation or from a substitution`() throws {
    let predicate = NSPredicate(format: "name == $N")
    #expect(predicate.evaluate(with: ObjectO.dictionary, substitutionVariables: ["N": "Alice"]))
    #expect(!predicate.evaluate(with: ObjectO.dictionary, substitutionVariables: ["N": "Bob"]))
    let bound = predicate.withSubstitutionVariables(["N": "Alice"])
    #expect(bound.canonicalFormat == "name == \"Alice\"" && bound.evaluate(with: ObjectO.dictionary))
    let isNil = NSPredicate(format: "nick == $N").withSubstitutionVariables(["N": NSNull()])
    #expect(isNil.canonicalFormat == "nick == nil")
    let error = #expect(throws: PredicateEvaluationError.self) {
      try predicate.matches(ObjectO.dictionary)
    }
    #expect(error?.reason == .unboundVariable && error?.description.contains("$N") == true)
  }
}
