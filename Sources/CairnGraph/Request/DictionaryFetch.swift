// Fetches whose results are dictionaries: columns of rows, or figures over groups of them, without making objects.
//
// A figure over rows (`sum:`, `count:` …) within an expression is a leaf. Leaves are worked out once for each
// group; the expressions around them, and `havingPredicate`, are then evaluated with the leaves' results in their
// places. Unsaved changes don't count, as in Core Data.

import CairnModel
import Foundation

struct DictionaryFetch {
  let context: NSManagedObjectContext
  let sources: [FetchSource]
  let entity: CompiledEntity
  let request: StoreRequest
  let columns: [FetchedColumn]
  let groupBy: [FetchedColumn]
  let having: PredicateTree?
  let isDistinct: Bool
  let offset: Int
  let limit: Int?
  let evaluator: Evaluator
  /// The figures of all columns and of the having predicate, each once.
  private(set) var leaves: [Leaf] = []

  /// Throws `unsupportedRequest` for a combination that makes no sense.
  init<T>(
    _ fetch: NSFetchRequest<T>, _ context: NSManagedObjectContext, _ sources: [FetchSource],
    _ entity: CompiledEntity, _ request: StoreRequest
  ) throws {
    self.context = context
    self.sources = sources
    self.entity = entity
    self.request = request
    offset = max(fetch.fetchOffset, 0)
    limit = fetch.fetchLimit > 0 ? fetch.fetchLimit : nil
    isDistinct = fetch.returnsDistinctResults
    evaluator = Evaluator(context: context)
    groupBy = try (fetch.propertiesToGroupBy ?? []).map { try FetchedColumn($0, entity) }
    let all =
      entity.properties.compactMap { name, property -> String? in
        switch property {
        case .attribute: name
        case .relationship(let relation): relation.keySlot == nil ? nil : name
        case .transient: nil
        }
      } + entity.composites.keys
    columns = try (fetch.propertiesToFetch ?? all.sorted()).map { try FetchedColumn($0, entity) }
    having = fetch.havingPredicate?.tree
    if having != nil, groupBy.isEmpty {
      throw StoreError(
        .unsupportedRequest, "a havingPredicate needs propertiesToGroupBy", entity: entity.name)
    }
    for column in columns { collect(column.expression) }
    _ = having?.rewritten { expression in
      collect(expression)
      return nil
    }
    try checkGrouping()
    try checkPaths()
  }

  private mutating func collect(_ expression: ExpressionTree) {
    var found: [Leaf] = []
    _ = expression.rewritten { part in
      guard let leaf = Leaf(part) else { return nil }
      found.append(leaf)
      return part
    }
    for leaf in found where !leaves.contains(leaf) { leaves.append(leaf) }
  }

  private func checkGrouping() throws {
    if groupBy.isEmpty { return }
    let keys = Set(groupBy.map(\.expression))
    for column in columns where !keys.contains(column.expression) && !hasLeaf(column.expression) {
      throw StoreError(
        .unsupportedRequest,
        "SELECT clauses in queries with GROUP BY components can only contain properties named in the GROUP BY "
          + "or aggregate functions (\(column.name) is not in the GROUP BY)", entity: entity.name,
        property: column.name)
    }
  }

  /// Names that the model doesn't have are found before any row is looked at.
  private func checkPaths() throws {
    let operands =
      leaves.compactMap(\.operand) + groupBy.map(\.expression)
      + columns.map(\.expression).filter { !hasLeaf($0) }
    for case .keyPath(let names) in operands { _ = try RowPath(names, entity, context.compiledModel) }
  }

  private func hasLeaf(_ expression: ExpressionTree) -> Bool {
    var found = false
    _ = expression.rewritten { part in
      if Leaf(part) != nil { found = true }
      return found ? part : nil
    }
    return found
  }

  // MARK: Running

  func results() throws -> [NSDictionary] {
    var rows = try groupBy.isEmpty ? plainRows() : groupedRows()
    if isDistinct {
      // By the one equality of values: Foundation's takes strings for equal that fetches keep apart.
      var seen: Set<[ExpressionTree]> = []
      rows = rows.filter { row in
        seen.insert(columns.map { constant(row.object(forKey: $0.name)) }).inserted
      }
    }
    if groupBy.isEmpty, isWindowedByStore { return rows }
    return Array(rows.dropFirst(offset).prefix(limit ?? rows.count))
  }

  /// Whether the store itself can be asked for the window.
  private var isWindowedByStore: Bool { sources.count == 1 && !isDistinct && !isOneRow }

  /// Only figures, and no groups: one dictionary.
  private var isOneRow: Bool {
    groupBy.isEmpty && !columns.isEmpty && columns.allSatisfy { hasLeaf($0.expression) }
  }

  private func plainRows() throws -> [NSDictionary] {
    var figures: [Leaf: Any] = [:]
    if !leaves.isEmpty {
      figures = try Dictionary(
        uniqueKeysWithValues: zip(leaves, wholeFigures()).compactMap { leaf, any in any.map { (leaf, $0) } })
    }
    if isOneRow { return [try dictionary { try evaluate($0.expression, figures, nil) }] }
    var rows: [NSDictionary] = []
    try eachRow(windowed: isWindowedByStore) { row in
      rows.append(try dictionary { try evaluate($0.expression, figures, row) })
    }
    return rows
  }

  private func wholeFigures() throws -> [Any?] {
    if let rows = try engineRows(groupBy: []) { return rows.first?.figures ?? leaves.map { _ in nil } }
    var group = GroupFigures(leaves)
    try eachRow(windowed: false) { row in try group.add(row, self) }
    return try group.figures()
  }

  private func groupedRows() throws -> [NSDictionary] {
    let groups = try engineRows(groupBy: groupBy) ?? groupsByRow()
    var rows: [NSDictionary] = []
    for group in groups {
      let figures = Dictionary(
        uniqueKeysWithValues: zip(leaves, group.figures).compactMap { leaf, any in any.map { (leaf, $0) } })
      let keys = Dictionary(
        uniqueKeysWithValues: zip(groupBy, group.keys).compactMap { column, any in
          any.map { (column.name, $0) }
        })
      let made = try dictionary { column in
        if let index = groupBy.firstIndex(where: { $0.expression == column.expression }) {
          return group.keys[index]
        }
        return try evaluate(column.expression, figures, keys)
      }
      if let having {
        var values = keys
        for (key, value) in made { if let key = key as? String { values[key] = value } }
        let tree = having.rewritten { part in Leaf(part).map { constant(figures[$0]) } }
        guard try Evaluator(variables: values, context: context).holds(tree, for: values) else { continue }
      }
      rows.append(made)
    }
    return try sorted(rows)
  }

  private func sorted(_ rows: [NSDictionary]) throws -> [NSDictionary] {
    if request.sort.isEmpty { return rows }
    let names = try request.sort.map { term in
      let name = term.path.joined(separator: ".")
      guard (groupBy + columns).contains(where: { $0.name == name }) else {
        throw StoreError(
          .unsupportedRequest,
          "a grouped fetch can only be sorted by what it groups by or fetches, not by \(name)",
          entity: entity.name, property: name)
      }
      return (name, term.ascending)
    }
    let keyed = rows.map { row in (row, names.map { value(row.object(forKey: $0.0)) }) }
    return keyed.enumerated().sorted { a, b in
      order(a.element.1, b.element.1, names.map(\.1)) ?? (a.offset < b.offset)
    }.map(\.element.0)
  }

  private func dictionary(_ value: (FetchedColumn) throws -> Any?) throws -> NSDictionary {
    var result: [String: Any] = [:]
    for column in columns {
      guard let any = try value(column) else { continue }
      result[column.name] = column.resultType.map { ResultCoercion.coerce(any, to: $0) } ?? any
    }
    return NSDictionary(dictionary: result)
  }

  /// An expression with the figures in the places of its leaves.
  func evaluate(_ expression: ExpressionTree, _ figures: [Leaf: Any], _ row: Any?) throws -> Any? {
    if let leaf = Leaf(expression) { return figures[leaf] }
    if let row = row as? FetchedRowView {
      if case .keyPath(let names) = expression { return try row.any(names) }
      if expression == .evaluatedObject { return row.objectID }
    }
    let tree =
      leaves.isEmpty ? expression : expression.rewritten { part in Leaf(part).map { constant(figures[$0]) } }
    return try evaluator.value(tree, for: row)
  }

  func constant(_ any: Any?) -> ExpressionTree {
    any.map { ExpressionTree(argument: $0) } ?? .constant(.null)
  }
}
