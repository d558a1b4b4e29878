// Variables and key paths of trees.

import Testing

@testable import CairnModel

struct WalkingTests {
  private func tree(_ format: String) throws -> PredicateTree { try PredicateFormat.parse(format) }

  @Test func `a variable gives way to an expression wherever it stands`() throws {
    let open = try tree(
      """
      a == $x OR NOT b IN {$x, 1} OR $x.c == $y OR sum:($x) > 1 OR d[$x] == TERNARY($x == 1, $x, 2)
      OR FUNCTION($x, "f:" , $x) == ($z := $x) OR $x UNION e == FETCH($x, $x, NO)
      """)
    #expect(open.unresolvedVariables == ["x", "y"])
    let closed = open.substituting(variables: ["x": .keyPath(["k"]), "unused": .constant(1)])
    #expect(closed.unresolvedVariables == ["y"])
    #expect(
      closed.canonicalFormat
        == "a == k OR NOT b IN {k, 1} OR k.c == $y OR sum:(k) > 1 OR d[k] == TERNARY(k == 1, k, 2) "
        + "OR FUNCTION(k, \"f:\" , k) == $z := k OR k UNION e == FETCH(k, k, NO)")
  }

  @Test func `a subquery's variable hides one of the same name in its condition, not in its collection`()
    throws
  {
    let open = try tree("SUBQUERY($x.kids, $x, $x.age > $limit AND name == $x.name).@count > $x")
    #expect(open.unresolvedVariables == ["x", "limit"])
    #expect(
      open.substituting(variables: ["x": .evaluatedObject, "limit": .constant(3)])
        == (try tree("SUBQUERY(SELF.kids, $x, $x.age > 3 AND name == $x.name).@count > SELF")))
  }

  @Test func `the key paths from the evaluated object, each once`() throws {
    let paths = try tree(
      "ANY a.b > c AND SELF.d == 1 AND SUBQUERY(a.b, $x, $x.e == f AND SELF.g[h] == 1).@count > c"
    ).keyPaths
    #expect(paths == [["a", "b"], ["c"], ["d"], ["f"], ["g"], ["h"]])
  }
}
