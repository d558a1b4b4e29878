// Random predicates over random graphs: columns, objects and the judge have to agree.

import Cairn
import Testing

@testable import CairnGraph

/// Random rows and conditions from one seed.
private struct RandomPredicates: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  private mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &self)] }

  private static let texts = [
    "", "a", "A", "ab", "aB", "\u{E9}", "e\u{301}", "\u{C9}", "e", "\u{DF}", "ss", "日本", "👍🏽", "a*b",
    "z\u{323}\u{307}",
    "z\u{307}\u{323}", "\u{1E9B}\u{323}", "i", "I", "\u{130}", "\u{212B}", "한", "\u{1112}\u{1161}\u{11AB}",
  ]
  private static let patterns = ["*", "?", "a*", "*b", "?b", "*\u{E9}*", "??", "A?", "*\u{301}", "日?"]

  private mutating func value(_ name: String, missing: Int = 20) -> JudgeValue {
    if chance(missing) { return .none }
    switch name {
    case "s": return .text(pick(RandomPredicates.texts))
    case "i": return .int(Int.random(in: -3...5, using: &self))
    case "d": return .real(pick([-1.5, -0.0, 0, 0.5, 1, 2, 3.25, .nan, .infinity, -.infinity]))
    case "c": return .decimal(Decimal(Int.random(in: -8...8, using: &self)) / pick([1, 4, 10]))
    default: return .int(Int.random(in: 0...1, using: &self))
    }
  }

  mutating func rows(_ count: Int) -> [JudgeRow] {
    var rows = (0..<count).map { _ in
      JudgeRow(
        values: [
          "s": value("s"), "i": value("i"), "d": value("d"), "c": value("c"), "b": value("b", missing: 0),
        ])
    }
    for index in rows.indices where chance(70) {
      let parent = Int.random(in: 0..<count, using: &self)
      rows[index].parent = parent
      rows[parent].kids.append(index)
    }
    for index in rows.indices {
      rows[index].links = Array(
        rows.indices.shuffled(using: &self).prefix(Int.random(in: 0...3, using: &self)))
    }
    return rows
  }

  private mutating func number(_ depth: Int, isInner: Bool) -> JudgeExpression {
    switch Int.random(in: 0..<(depth > 0 ? 11 : 5), using: &self) {
    case 0, 1: return .attribute(parents: pick([0, 0, 1, 2]), pick(["i", "d", "c", "b"]))
    case 2: return .attribute(parents: 0, "i")
    case 3, 4: return .constant(value(pick(["i", "d", "c"]), missing: 5))
    case 5, 6:
      return .arithmetic(
        number(depth - 1, isInner: isInner), pick(["+", "-", "*", "/", "%"]),
        number(depth - 1, isInner: isInner))
    case 7: return .figure(pick(["kids", "links"]), "@count", nil)
    case 8, 9: return bits(depth)
    default:
      return .figure(
        pick(["kids", "links"]), pick(["@sum", "@avg", "@min", "@max"]), pick(["i", "i", "c", "b"]))
    }
  }

  /// Whole numbers only: the bits of others are refused.
  private mutating func bits(_ depth: Int) -> JudgeExpression {
    let plain: JudgeExpression =
      chance(70)
      ? .attribute(parents: pick([0, 0, 1]), pick(["i", "i", "b"])) : .constant(value("i", missing: 5))
    if depth == 0 { return plain }
    return .arithmetic(bits(depth - 1), pick(["&", "|", "^", "<<", ">>"]), plain)
  }

  mutating func condition(_ depth: Int, isInner: Bool = false) -> JudgeCondition {
    let orders = ["==", "!=", "<", "<=", ">", ">="]
    switch Int.random(in: 0..<(depth > 0 ? 14 : 8), using: &self) {
    case 0, 1:
      return .compare(number(2, isInner: isInner), pick(orders), number(1, isInner: isInner), options: "")
    case 2, 3:
      let op = pick(orders + ["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE"])
      let options = pick(["", "", "[c]", "[d]", "[cd]"])
      let right: JudgeExpression =
        op == "LIKE"
        ? .constant(.text(pick(RandomPredicates.patterns)))
        : pick([.constant(value("s", missing: 5)), .attribute(parents: 1, "s")])
      return .compare(.attribute(parents: pick([0, 0, 1]), "s"), op, right, options: options)
    case 4:
      let name = pick(["s", "i", "d", "c"])
      return .isIn(.attribute(parents: pick([0, 1]), name), (0..<3).map { _ in value(name) })
    case 5:
      let name = pick(["s", "i", "d", "c"])
      return .between(
        .attribute(parents: pick([0, 1]), name), value(name, missing: 5), value(name, missing: 5))
    case 6:
      return .compare(
        .attribute(parents: pick([0, 1]), pick(["s", "i", "d", "c"])), pick(["==", "!="]), .constant(.none),
        options: "")
    case 7:
      let name = pick(["s", "i", "d", "c"])
      let options = name == "s" ? pick(["", "[c]", "[cd]"]) : ""
      return .some(
        pick(["ANY", "ALL"]), relation: pick(["kids", "links"]), name: name, pick(orders),
        value(name, missing: 10), options: options)
    case 8, 9:
      return .count(
        relation: pick(["kids", "links"]), condition(depth - 1, isInner: true), pick(orders),
        Int.random(in: 0...2, using: &self))
    case 10:
      return .and(
        (0..<Int.random(in: 1...3, using: &self)).map { _ in condition(depth - 1, isInner: isInner) })
    case 11, 12:
      return .or(
        (0..<Int.random(in: 1...3, using: &self)).map { _ in condition(depth - 1, isInner: isInner) })
    default: return .not(condition(depth - 1, isInner: isInner))
    }
  }
}

@Suite struct RandomPredicateTests {
  private static func model() -> NSManagedObjectModel {
    let row = TestModel.entity(
      "Row", NSManagedObject.self,
      [
        TestModel.attribute("number", .integer64), TestModel.attribute("s", .string),
        TestModel.attribute("i", .integer32), TestModel.attribute("d", .double),
        TestModel.attribute("c", .decimal),
        TestModel.attribute("b", .boolean),
      ])
    TestModel.relate(row, "kids", toMany: true, row, "parent")
    TestModel.relate(row, "links", toMany: true, ordered: true, row, "linked", inverseToMany: true)
    let model = NSManagedObjectModel()
    model.entities = [row]
    return model
  }

  private func insert(_ rows: [JudgeRow], _ context: NSManagedObjectContext) -> [NSManagedObject] {
    let objects = rows.indices.map { index in
      let object = NSEntityDescription.insertNewObject(forEntityName: "Row", into: context)
      object.setValue(index, forKey: "number")
      for (name, value) in rows[index].values {
        object.setValue(name == "b" ? value.number.map { $0 != 0 } : value.argument, forKey: name)
      }
      return object
    }
    for (index, row) in rows.enumerated() {
      object(objects[index], row, objects)
    }
    return objects
  }

  private func object(_ object: NSManagedObject, _ row: JudgeRow, _ objects: [NSManagedObject]) {
    if let parent = row.parent { object.setValue(objects[parent], forKey: "parent") }
    object.setValue(NSOrderedSet(array: row.links.map { objects[$0] }), forKey: "links")
  }

  /// Replay one with `CAIRN_SEED`, which then is the only one.
  private static let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["CAIRN_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? Array(1...6)

  @Test(arguments: seeds) func `columns, objects and the judge agree`(seed: UInt64) throws {
    var random = RandomPredicates(seed: seed)
    let rows = random.rows(24)
    let judge = Judge(rows: rows)
    let saved = try Stack(RandomPredicateTests.model())
    _ = insert(rows, saved.context)
    try saved.context.save()
    let reader = saved.otherContext()
    let unsaved = try Stack(RandomPredicateTests.model())
    let objects = insert(rows, unsaved.context)
    var (answeredByColumns, truths) = (0, 0)
    let count = 150
    for step in 0..<count {
      let condition = random.condition(2)
      var arguments: [Any?] = []
      let format = condition.text("", 0, &arguments)
      let predicate = try NSPredicate(parsing: format, arguments: arguments)
      let comment: Comment = "seed \(seed), step \(step): \(predicate.canonicalFormat)"
      let wanted = rows.indices.filter { judge.holds(condition, rows[$0]) }
      truths += wanted.count
      let fetch = NSFetchRequest<NSManagedObject>(entityName: "Row")
      fetch.predicate = predicate
      fetch.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      let numbers = try reader.fetch(fetch).compactMap { $0.value(forKey: "number") as? Int }
      try #require(numbers == wanted, comment)
      #expect(try reader.count(for: fetch) == wanted.count, comment)
      try #require(try objects.indices.filter { try predicate.matches(objects[$0]) } == wanted, comment)
      #expect(try unsaved.context.count(for: fetch) == wanted.count, comment)
      let model = reader.compiledModel
      let entity = try model.schema.requireEntity(named: "Row").id
      if try predicate.tree.split(bindableTo: entity, in: model.schema).rest == nil { answeredByColumns += 1 }
    }
    #expect(
      truths > count && truths < count * rows.count - count, "seed \(seed) says hardly anything: \(truths)")
    #expect(answeredByColumns > count / 3, "columns answer \(answeredByColumns) of \(count)")
  }
}
