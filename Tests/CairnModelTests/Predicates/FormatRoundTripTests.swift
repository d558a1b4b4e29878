// Random trees: what prints parses to the same tree again. Random bytes: what doesn't parse throws.

import Foundation
import Testing

@testable import CairnModel

struct FormatRoundTripTests {
  @Test(arguments: seeds) func `a tree's text parses to the tree again`(seed: UInt64) throws {
    var generator = TreeGenerator(random: SplitMix64(seed: seed))
    var failures = Failures()
    for round in 0..<4000 {
      let tree = generator.predicate(4)
      let text = tree.canonicalFormat
      do {
        let again = try PredicateFormat.parse(text)
        failures.check(again == tree, "round \(round): \(text) became \(again.canonicalFormat)")
        failures.check(again.canonicalFormat == text, "round \(round): \(text) printed again")
      } catch {
        failures.add("round \(round): \(error)")
      }
    }
    #expect(failures.isEmpty, "seed \(seed): \(failures)")
  }

  @Test(arguments: seeds) func `a text with something changed parses or throws`(seed: UInt64) throws {
    var generator = TreeGenerator(random: SplitMix64(seed: seed))
    var parsedCount = 0
    for _ in 0..<3000 {
      var bytes = Array(generator.predicate(3).canonicalFormat.utf8)
      let place = generator.random.below(bytes.count)
      switch generator.random.below(3) {
      case 0: bytes.remove(at: place)
      case 1: bytes.insert(generator.random.pick(Array("()[]{}'\"\\%@$#.:=<>!&|*-+/~^,0aé".utf8)), at: place)
      default: bytes.removeSubrange(place...)
      }
      let text = String(decoding: bytes, as: UTF8.self)
      do {
        let tree = try PredicateFormat.parse(text, arguments: [.constant(1), .constant("x")])
        parsedCount += 1
        #expect(throws: Never.self) { try PredicateFormat.parse(tree.canonicalFormat) }
      } catch let error as PredicateFormatError {
        #expect(error.offset <= text.count && !error.description.isEmpty)
      }
    }
    #expect(parsedCount > 0)
  }
}

/// Trees of every shape that has a text.
struct TreeGenerator {
  var random: SplitMix64

  mutating func predicate(_ depth: Int) -> PredicateTree {
    switch depth <= 0 ? random.below(3) : random.below(8) {
    case 0: return .constant(random.oneIn(2))
    case 1, 2, 3: return .comparison(comparison(depth - 1))
    case 4: return .not(predicate(depth - 1))
    case 5, 6: return .and((0..<2 + random.below(3)).map { _ in predicate(depth - 1) })
    default: return .or((0..<2 + random.below(3)).map { _ in predicate(depth - 1) })
    }
  }

  private mutating func comparison(_ depth: Int) -> PredicateTree.Comparison {
    .init(
      expression(depth), random.pick(ComparisonOperator.allCases), expression(depth),
      options: StringOptions(rawValue: random.oneIn(3) ? UInt8(random.below(16)) : 0),
      modifier: random.pick(PredicateTree.Comparison.Modifier.allCases))
  }

  mutating func expression(_ depth: Int) -> ExpressionTree {
    if depth <= 0 { return leaf() }
    switch random.below(13) {
    case 0: return .list((0..<random.below(4)).map { _ in expression(depth - 1) })
    case 1: return .keyPathOf(base(depth - 1), path())
    case 2, 3:
      // A cast of a literal would be done by the parser.
      let name = random.pick(PredicateFunctions.names.filter { $0 != PredicateFunctions.cast })
      let counts = PredicateFunctions.argumentCount(of: name)!
      let count = counts.upperBound == .max ? 1 + random.below(3) : counts.lowerBound
      return .function(name, (0..<count).map { _ in expression(depth - 1) })
    case 4: return .function(PredicateFunctions.cast, [.keyPath(path()), .constant("NSNumber")])
    case 5:
      return .call(
        expression(depth - 1), selector: string(), (0..<random.below(3)).map { _ in expression(depth - 1) })
    case 6:
      let index: ExpressionTree.ElementIndex =
        random.oneIn(2) ? .at(expression(depth - 1)) : random.pick([.first, .last, .size])
      return .element(of: expression(depth - 1), index)
    case 7: return .conditional(predicate(depth - 1), expression(depth - 1), expression(depth - 1))
    case 8: return .subquery(expression(depth - 1), variable: variable(), predicate(depth - 1))
    case 9:
      return .setOperation(
        random.pick(ExpressionTree.SetOperator.allCases), expression(depth - 1), expression(depth - 1))
    case 10: return .assignment(variable(), expression(depth - 1))
    case 11:
      return .fetch(
        request: expression(depth - 1), context: expression(depth - 1), countOnly: random.oneIn(2))
    default: return leaf()
    }
  }

  /// What isn't a key path, since `a.b` is one path and not one of another.
  private mutating func base(_ depth: Int) -> ExpressionTree {
    while true {
      let tree = expression(depth)
      switch tree {
      case .keyPath, .keyPathOf: continue
      default: return tree
      }
    }
  }

  private mutating func leaf() -> ExpressionTree {
    switch random.below(12) {
    case 0: return .evaluatedObject
    case 1: return .anyKey
    case 2: return .variable(variable())
    case 3, 4, 5: return .keyPath(path())
    default: return .constant(value())
    }
  }

  private mutating func value() -> Value {
    switch random.below(9) {
    case 0: return .null
    case 1: return .bool(random.oneIn(2))
    case 2: return .int(random.integer(Int64.min...Int64.max))
    case 3: return .double(random.double())
    case 4: return .float(Float(random.below(1000)) / 7)
    case 5: return .date(Date(timeIntervalSinceReferenceDate: Double(random.below(4000) - 2000) / 8))
    case 6: return .decimal(Decimal(sign: .plus, exponent: random.below(19), significand: 7))
    default: return .string(string())
    }
  }

  private mutating func string() -> String {
    random.oneIn(3)
      ? random.pick(["", "\"", "'", "\\", "\\\\\"", "%@", "$x", "a\nb\t", "\u{0}", "\\u0041", "\\n"])
      : random.string()
  }

  private mutating func variable() -> String { random.pick(["x", "y", "_z9", "in", "self"]) }

  private mutating func path() -> [String] {
    (0..<1 + random.below(3)).map { _ in
      random.pick([
        "a", "name", "kids", "self", "In", "first", "SIZE", "@count", "@sum", "_x1", "étrange", "café", "日本",
        "union", "TRUEPREDICATE", "ci", "e5", "x",
      ])
    }
  }
}
