// Laws of predicates beyond one property and one constant: functions, collections, subqueries. Written as format
// strings; what those mean is the parser's affair.

import CairnModel
import Foundation

extension StoreLaw {
  /// "a" of 30 and "b" of 20 in the department "X" (budget 25), "c" of 40 and "e" without an age in "Y"; "d" in none,
  /// and "Z" has nobody. "a" has the tags "red" and "blue", "b" has "red". Rooms 1 and 2 are X's, in that order,
  /// and one without a number.
  private static func company(_ trial: Trial) throws {
    let depts = try trial.insert(
      "Department", rows: [["name": "X", "budget": 25], ["name": "Y", "budget": 100], ["name": "Z"]])
    let people = try trial.insert(
      "Person",
      rows: [
        ["code": "a", "name": "Ann", "age": 30, "height": 1.5, "rank": 4, "dept": depts[0].value],
        ["code": "b", "name": "Annabel", "age": 20, "height": 2, "rank": 7, "dept": depts[0].value],
        ["code": "c", "name": "Élan", "age": 40, "rank": -7, "dept": depts[1].value],
        ["code": "d", "age": 50], ["code": "e", "name": "ann", "dept": depts[1].value],
      ])
    let tags = try trial.insert("Tag", rows: [["name": "red"], ["name": "blue"], ["name": "green"]])
    try trial.link(people[0], "tags", .add([tags[0], tags[1]]))
    try trial.link(people[1], "tags", .add([tags[0]]))
    try trial.update(people[1], ["mentor": people[0].value])
    let dept = depts[0].value
    _ = try trial.insert(
      "Room", rows: [["number": 1, "dept": dept], ["number": 2, "dept": dept], ["dept": dept]])
  }

  /// Format strings with the codes of the people, or the names of the departments, that each selects.
  private static func selecting(_ entity: String, _ name: String, _ cases: [(String, String)]) -> StoreLaw {
    law("predicates", name) { trial in
      try company(trial)
      let slot = try trial.slot(entity, entity == "Person" ? "code" : "name")
      for (format, expected) in cases {
        for (text, isInverted) in [
          (format, false), ("NOT (\(format))", true), ("TRUEPREDICATE AND \(format)", false),
        ] {
          let batch = try trial.fetch(trial.request(entity, PredicateFormat.parse(text)))
          let found = (0..<batch.count).map { batch.value($0, slot: slot) }
          let all = entity == "Person" ? "abcde" : "XYZ"
          let wanted = all.filter { expected.contains($0) != isInverted }.map { Value.string(String($0)) }
          try expectEqual(found, wanted, "what \(text) selects")
        }
      }
    }
  }

  static let predicateShapes: [StoreLaw] = [
    selecting(
      "Person", "arithmetic: whole numbers stay whole, a double makes doubles, nil makes nil",
      [
        ("age + 1 == 31", "a"), ("age - rank > 20", "ac"), ("age / 7 == 4", "a"), ("age / 7.0 > 4.2", "acd"),
        ("age * 2 == 40", "b"), ("modulus:by:(age, 7) == 2", "a"), ("rank / 2 == -3", "c"),
        ("modulus:by:(rank, 2) == -1", "c"), ("age / 0 == nil", "abcde"), ("height / 0 > 1000", "ab"),
        ("rank + age == nil", "de"), ("rank + age != nil", "abc"), ("2 ** rank == 16", "a"),
        ("0 - rank > 0", "c"),
        ("rank & 5 == 5", "b"), ("rank | 1 == 5", "a"), ("rank ^ 4 == 0", "a"), ("rank << 2 == 16", "a"),
        ("rank >> 1 == 3", "b"), ("~rank == 6", "c"), ("abs:(rank) == 7", "bc"), ("sqrt:(rank) == 2", "a"),
        ("max:(rank, age) == 20", "b"), ("sum:({age, rank}) == 33", "c"), ("floor:(height) == 1", "a"),
        ("ceiling:(height) == 2", "ab"), ("9223372036854775807 + rank > 9.3e18", ""),
        ("9223372036854775807 + rank > 9.2e18", "abc"),
      ]),
    selecting(
      "Person", "functions of strings, casts, TERNARY and now()",
      [
        ("uppercase:(name) == 'ANN'", "ae"), ("lowercase:(name) == 'annabel'", "b"),
        ("length:(name) > 3", "bc"),
        ("length:(name) == 3", "ae"), ("canonical:(name) == 'elan'", "c"), ("length:(name) == nil", "d"),
        ("CAST(age, 'NSString') == '30'", "a"), ("CAST('40', 'NSNumber') == age", "c"),
        ("CAST(age, 'NSDate') < now()", "abcd"), ("CAST(CAST(age, 'NSDate'), 'NSNumber') == 50", "d"),
        ("TERNARY(age > 25, 'old', 'young') == 'old'", "acd"), ("TERNARY(name == nil, 1, age) == 1", "d"),
        ("now() > CAST(0, 'NSDate')", "abcde"), ("TERNARY(rank == nil, 'x', name) BEGINSWITH 'Ann'", "ab"),
      ]),
    selecting(
      "Person", "two strings of a row, and constants on the left",
      [
        ("name BEGINSWITH mentor.name", "b"), ("name ==[c] 'ANN'", "ae"), ("name CONTAINS[cd] dept.name", ""),
        ("'Annabella' BEGINSWITH name", "ab"), ("'annabella' BEGINSWITH[c] name", "abe"),
        ("'xElanx' CONTAINS[d] name", "c"), ("'Ann' LIKE name", "a"), ("name ==[n] 'Ann'", "a"),
        ("name BEGINSWITH[cn] 'ANN'", ""), ("name CONTAINS[cl] 'ANN'", "abe"),
        ("name IN[c] {'ANN', 'X'}", "ae"), ("nil BEGINSWITH name", ""),
      ]),
    selecting(
      "Person", "IN and BETWEEN with properties in their lists",
      [
        ("age IN {rank, 30, mentor.age - 10}", "ab"), ("age BETWEEN {rank, 30}", "ab"),
        ("age BETWEEN {dept.budget, 45}", "a"), ("25 BETWEEN {rank, age}", "ac"),
        ("{20, 40} CONTAINS age", "bc"), ("nil IN {name}", ""), ("rank IN {nil, dept.budget}", ""),
      ]),
    selecting(
      "Department", "ANY, ALL and NONE over a to-many: nil is no element of a set, ALL of nothing holds",
      [
        ("ANY staff.age > 35", "Y"), ("ANY staff.age == nil", ""), ("SOME staff.name == 'Ann'", "X"),
        ("ALL staff.age > 15", "XYZ"), ("ALL staff.age > 25", "YZ"), ("NONE staff.age > 35", "XZ"),
        ("ANY staff.age < budget", "XY"), ("ALL staff.name ==[c] 'ANN'", "Z"),
        ("ANY staff.name IN {'ann', 'Bo'}", "Y"), ("ANY staff.age BETWEEN {29, 31}", "X"),
        ("ANY staff.mentor.name == 'Ann'", "X"), ("ANY staff.tags.name == 'blue'", "X"),
        ("ANY staff.tags.name == 'green'", ""), ("ANY staff == nil", ""), ("ANY {budget, 7} == 25", "X"),
        ("ALL staff.tags.name == 'red'", "YZ"), ("ANY staff.name BEGINSWITH name", ""),
      ]),
    selecting(
      "Department", "in an ordered to-many nil is an element that equals nothing",
      [
        ("ANY rooms.number == nil", ""), ("ANY rooms.number != 1", "X"), ("ALL rooms.number > 0", "YZ"),
        ("ANY rooms.number == 2", "X"),
      ]),
    selecting(
      "Person", "collections behind to-one relationships, and over join tables",
      [
        ("ANY dept.staff.age == 20", "ab"), ("ALL dept.staff.age == 40", "cde"),
        ("dept.staff.@count == 2", "abce"),
        ("dept.staff.@count == nil", "d"), ("tags.@count == 0", "cde"), ("tags.@count == 2", "a"),
        ("ANY tags.name == 'red'", "ab"), ("ALL tags.name == 'red'", "bcde"), ("'blue' IN tags.name", "a"),
        ("tags.name CONTAINS 'blue'", "a"), ("age IN dept.staff.age", "abc"), ("mentor IN dept.staff", "b"),
        ("ANY tags.things.code == 'b'", "ab"), ("tags.@count > rank", "c"), ("tags.@count + 1 == 3", "a"),
        ("dept.staff.@max.age == age", "ac"),
      ]),
    selecting(
      "Department",
      "@count, @sum, @avg, @min and @max: nil is 0 for sum and average, and nothing for the others",
      [
        ("staff.@count == 0", "Z"), ("staff.@count > 1", "XY"), ("staff.@sum.age == 50", "X"),
        ("staff.@avg.age == 20", "Y"), ("staff.@avg.age == 25", "X"), ("staff.@sum.age == 0", "Z"),
        ("staff.@avg.age == 0", "Z"), ("staff.@min.age == 40", "Y"), ("staff.@max.age == nil", "Z"),
        ("staff.@max.name == 'ann'", "Y"), ("staff.@min.name == 'Ann'", "X"),
        ("staff.@sum.height == 3.5", "X"),
        ("staff.@max.age > budget", "X"), ("staff.@max.mentor.age == 30", "X"), ("rooms.@count == 3", "X"),
      ]),
    selecting(
      "Department", "SUBQUERY: a plain key is the outer row's, a variable's the element's",
      [
        ("SUBQUERY(staff, $x, $x.age > 25).@count == 1", "XY"),
        ("SUBQUERY(staff, $x, $x.age > budget).@count == 1", "X"),
        ("SUBQUERY(staff, $x, $x.age == nil AND name == 'Y').@count > 0", "Y"),
        ("SUBQUERY(staff, $x, TRUEPREDICATE).@count == 0", "Z"),
        ("SUBQUERY(staff, $x, $x.dept == SELF).@count == 2", "XY"),
        ("ANY SUBQUERY(staff, $x, $x.age > 25).name == 'Ann'", "X"),
        ("SUBQUERY(staff, $x, $x.age > 15).@sum.age == 40", "Y"),
        ("SUBQUERY(staff, $x, $x.tags.@count > 1).@count == 1", "X"),
        (
          "SUBQUERY(staff, $x, SUBQUERY($x.tags, $t, $t.name == 'red' AND $x.age > 25).@count == 1).@count == 1",
          "X"
        ),
        ("SUBQUERY(SUBQUERY(staff, $x, $x.age > 5), $y, $y.age < 35).@count == 2", "X"),
        ("SUBQUERY(staff, $x, ANY $x.dept.staff.age > 35).@count == 2", "Y"),
      ]),
    selecting(
      "Person", "a SUBQUERY over a join table that speaks of both sides",
      [
        ("SUBQUERY(tags, $t, $t.name != 'red').@count == 1", "a"),
        ("SUBQUERY(tags, $t, $t.things.@count > rank).@count > 0", ""),
        ("SUBQUERY(tags, $t, $t.things.@count < rank).@count > 1", "a"),
        ("SUBQUERY(tags, $t, ANY $t.things.code == code).@count > 0", "ab"),
        ("SUBQUERY(dept.staff, $p, $p.age > age).@count == 1", "b"),
        ("SUBQUERY(dept.staff, $p, $p != SELF AND $p.age != nil).@count == 1", "abe"),
      ]),
    law("predicates", "what is wrong is refused, in whatever it stands") { trial in
      try company(trial)
      func refuse(_ format: String, _ code: StoreError.Code = .unbindablePredicate) throws {
        try expectError(code, by: format) { try trial.ids("Department", PredicateFormat.parse(format)) }
      }
      for format in [
        "ANY budget > 10", "budget.@count > 1", "staff.@sum.name == 1", "name + 1 == 2",
        "uppercase:(budget) == 'A'",
        "staff.@max.age < 'x'", "ANY staff.age < 'x'", "$x == 1",
        "SUBQUERY(staff, $x, $y.age == 1).@count > 0",
        "staff == nil", "staff.age == 3", "staff.@distinctUnionOfObjects.age.@count == 2",
        "staff.tags.@count > 1",
        "FUNCTION(name, 'f') == 1", "staff[0] == SELF", "median:(budget) == 1",
        "TERNARY(name == 'X', 1, 'a') < 5",
        "name < budget", "budget CONTAINS name", "{1} == 1", "name MATCHES name",
      ] { try refuse(format) }
      for format in [
        "ANY staff.nothing == 1", "staff.@max.nothing == 1",
        "SUBQUERY(staff, $x, $x.nothing == 1).@count > 0",
        "nothing + 1 == 2",
      ] { try refuse(format, .unknownProperty) }
    },
  ]
}
