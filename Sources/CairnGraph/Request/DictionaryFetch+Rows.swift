// Where a dictionary fetch has its rows and groups from: the engine where it can, else row by row.

import CairnModel
import Foundation

extension DictionaryFetch {
  func eachRow(windowed: Bool, _ body: (FetchedRowView) throws -> Void) throws {
    var request = request
    if !groupBy.isEmpty { request.sort = [] }
    if windowed { (request.offset, request.limit) = (offset, limit) }
    var all: [FetchedRowView] = []
    for source in sources {
      let batch = try context.checked(source.fetch(request), in: source.scope)
      let rows = (0..<batch.count).lazy.map {
        FetchedRowView(source, context, batch.chunk($0), batch.row($0))
      }
      // Rows of one store come in order.
      if sources.count == 1 || request.sort.isEmpty { try rows.forEach(body) } else { all += rows }
    }
    for row in try sorted(all, by: request.sort) { try body(row) }
  }

  private func sorted(_ rows: [FetchedRowView], by terms: [SortTerm]) throws -> [FetchedRowView] {
    let keyed = try rows.map { row in (row, try terms.map { value(try row.any($0.path)) }) }
    return keyed.enumerated().sorted { a, b in
      order(a.element.1, b.element.1, terms.map(\.ascending)) ?? (a.offset < b.offset)
    }.map(\.element.0)
  }

  /// Whether the values of `a` come before those of `b`; nil where they don't differ.
  func order(_ a: [Value], _ b: [Value], _ ascending: [Bool]) -> Bool? {
    for index in a.indices {
      let order = Value.compare(a[index], b[index])
      if order != 0 { return (order < 0) == ascending[index] }
    }
    return nil
  }

  func value(_ any: Any?) -> Value { any.flatMap { ExpressionTree(argument: $0).plainValue } ?? .null }

  /// What the engine works out by itself, on columns; nil where it can't.
  func engineRows(groupBy: [FetchedColumn]) throws -> [Group]? {
    guard sources.count == 1 else { return nil }
    var terms: [AggregateRequest.Term] = []
    for leaf in leaves {
      guard let function = leaf.figure.function, !leaf.isDistinct else { return nil }
      if leaf.operand == nil {
        guard function == .count else { return nil }
        terms.append(AggregateRequest.Term(.count, nil))
      } else {
        guard let path = leaf.path, isAttribute(path) else { return nil }
        terms.append(AggregateRequest.Term(function, path.joined(separator: ".")))
      }
    }
    var names: [String] = []
    for column in groupBy {
      guard case .keyPath(let path) = column.expression, isAttribute(path) else { return nil }
      names.append(path.joined(separator: "."))
    }
    let aggregate = AggregateRequest(
      entity: request.entity, includesSubentities: request.includesSubentities, predicate: request.predicate,
      groupBy: names, terms: terms)
    return try sources[0].aggregate(aggregate).map { row in
      Group(keys: row.group.map(\.keyValueForm), figures: row.values.map(\.keyValueForm))
    }
  }

  private func isAttribute(_ path: [String]) -> Bool {
    guard let bound = try? BoundPath(path, from: entity.id, in: context.compiledModel.schema) else {
      return false
    }
    return bound.type != .key && bound.type != .transformable
  }

  struct Group {
    /// As many as `groupBy`.
    let keys: [Any?]
    /// As many as `leaves`.
    let figures: [Any?]
  }

  func groupsByRow() throws -> [Group] {
    var order: [[ExpressionTree]] = []
    var groups: [[ExpressionTree]: (keys: [Any?], figures: GroupFigures)] = [:]
    try eachRow(windowed: false) { row in
      let keys = try groupBy.map { try evaluate($0.expression, [:], row) }
      let group = keys.map(constant)
      if groups[group] == nil {
        groups[group] = (keys, GroupFigures(leaves))
        order.append(group)
      }
      try groups[group]?.figures.add(row, self)
    }
    return try order.map { key in
      let group = groups[key].unsafelyUnwrapped
      return Group(keys: group.keys, figures: try group.figures.figures())
    }
  }

  func operand(_ expression: ExpressionTree, _ row: FetchedRowView) throws -> Any? {
    try evaluate(expression, [:], row)
  }
}
