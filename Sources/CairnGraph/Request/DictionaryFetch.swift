// Fetches whose results are dictionaries: columns of rows, or figures over groups of them, without making objects.
//
// A figure over rows (`sum:`, `count:` …) within an expression is a leaf. Leaves are worked out once for each
// group; the expressions around them, and `havingPredicate`, are then evaluated with the leaves' results in their
// places. Unsaved changes don't count, as in Core Data.

import CairnModel
import Foundation

/// One column of a dictionary fetch.
struct FetchedColumn {
  let name: String
  let expression: ExpressionTree
  /// nil leaves values as they are.
  let resultType: NSAttributeType?

  /// Throws `unsupportedRequest` for anything that is no property and no name.
  init(_ any: Any, _ entity: CompiledEntity) throws {
    switch any {
    case let computed as NSExpressionDescription:
      guard let expression = computed.expression else {
        throw StoreError(
          .unsupportedRequest, "the expression description \"\(computed.name)\" has no expression",
          entity: entity.name)
      }
      name = computed.name
      self.expression = expression.tree
      resultType =
        computed.expressionResultType == .undefinedAttributeType ? nil : computed.expressionResultType
    case let property as NSPropertyDescription:
      name = property.name
      expression = .path(property.name)
      resultType = nil
    case let path as String:
      name = path
      expression = .path(path)
      resultType = nil
    default:
      throw StoreError(
        .unsupportedRequest, "Invalid keypath \(any) passed to setPropertiesToFetch:", entity: entity.name,
        remedy: "give names, property descriptions or expression descriptions")
    }
  }
}

/// A figure over the rows of a group.
struct Leaf: Hashable {
  enum Figure: String {
    case sum = "sum:"
    case count = "count:"
    case min = "min:"
    case max = "max:"
    case average = "average:"
    case median = "median:"
    case mode = "mode:"
    case stddev = "stddev:"

    init?(operator name: String) {
      switch name {
      case "@sum": self = .sum
      case "@count": self = .count
      case "@min": self = .min
      case "@max": self = .max
      case "@avg": self = .average
      default: return nil
      }
    }

    /// The engine's name for it, where it has one.
    var function: AggregateRequest.Function? {
      switch self {
      case .sum: .sum
      case .count: .count
      case .min: .min
      case .max: .max
      case .average: .average
      case .median, .mode, .stddev: nil
      }
    }
  }

  let figure: Figure
  /// nil counts rows.
  let operand: ExpressionTree?
  let isDistinct: Bool

  /// nil for an expression that is no figure over rows.
  init?(_ expression: ExpressionTree) {
    switch expression {
    case .function(let name, let arguments):
      guard let figure = Figure(rawValue: name), arguments.count == 1 else { return nil }
      self.figure = figure
      switch arguments[0] {
      case .evaluatedObject: (operand, isDistinct) = (nil, false)
      case .function("distinct:", let inner) where inner.count == 1: (operand, isDistinct) = (inner[0], true)
      case .keyPath(let names):
        // `count:(rel.@distinctUnionOfObjects.x)` is the way to say distinct with Core Data's own words.
        if names.first == "@distinctUnionOfObjects" {
          (operand, isDistinct) = (.keyPath(Array(names.dropFirst())), true)
        } else {
          (operand, isDistinct) = (.keyPath(names), false)
        }
      default: (operand, isDistinct) = (arguments[0], false)
      }
    case .keyPath(let names):
      // `@sum.price`: over all rows, as in `price` of each.
      guard let figure = names.first.flatMap(Figure.init(operator:)) else { return nil }
      self.figure = figure
      isDistinct = false
      operand = names.count == 1 ? nil : .keyPath(Array(names.dropFirst()))
    default: return nil
    }
  }

  /// The path of an operand that is one, which the engine can work with.
  var path: [String]? {
    if case .keyPath(let names)? = operand { names } else { nil }
  }
}

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
  let order: ObjectOrder
  let evaluator: Evaluator
  /// The figures of all columns and of the having predicate, each once.
  private(set) var leaves: [Leaf] = []

  /// Throws `unsupportedRequest` for a combination that makes no sense.
  init<T>(
    _ fetch: NSFetchRequest<T>, _ context: NSManagedObjectContext, _ sources: [FetchSource],
    _ entity: CompiledEntity, _ request: StoreRequest, _ order: ObjectOrder
  ) throws {
    self.order = order
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
      var seen: Set<NSDictionary> = []
      rows = rows.filter { seen.insert($0).inserted }
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
    func value(_ row: NSDictionary, _ name: String) -> Value {
      row.object(forKey: name).flatMap { ExpressionTree(argument: $0).plainValue } ?? .null
    }
    return rows.enumerated().sorted { a, b in
      for (name, ascending) in names {
        let order = Value.compare(value(a.element, name), value(b.element, name))
        if order != 0 { return (order < 0) == ascending }
      }
      return a.offset < b.offset
    }.map(\.element)
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
  private func evaluate(_ expression: ExpressionTree, _ figures: [Leaf: Any], _ row: Any?) throws -> Any? {
    if let leaf = Leaf(expression) { return figures[leaf] }
    if let row = row as? FetchedRowView {
      if case .keyPath(let names) = expression { return try row.any(names) }
      if expression == .evaluatedObject { return row.objectID }
    }
    let tree =
      leaves.isEmpty ? expression : expression.rewritten { part in Leaf(part).map { constant(figures[$0]) } }
    return try evaluator.value(tree, for: row)
  }

  private func constant(_ any: Any?) -> ExpressionTree {
    any.map { ExpressionTree(argument: $0) } ?? .constant(.null)
  }

  // MARK: Rows

  func eachRow(windowed: Bool, _ body: (FetchedRowView) throws -> Void) throws {
    var request = request
    if !groupBy.isEmpty { request.sort = [] }
    if windowed { (request.offset, request.limit) = (offset, limit) }
    if sources.count > 1, !request.sort.isEmpty {
      var all: [NSManagedObject] = []
      for source in sources {
        let batch = try context.checked(source.store.fetch(request, in: source.snapshot), in: source.scope)
        all = order.merge(all, source.scope.register(batch))
      }
      for object in all {
        guard let scope = object.table.scope, let source = sources.first(where: { $0.scope === scope }),
          let chunk = object.chunk
        else { continue }
        try body(FetchedRowView(source, context, chunk, Int(object.row)))
      }
      return
    }
    for source in sources {
      let batch = try context.checked(source.store.fetch(request, in: source.snapshot), in: source.scope)
      for index in 0..<batch.count {
        try body(FetchedRowView(source, context, batch.chunk(index), batch.row(index)))
      }
    }
  }

  /// What the engine works out by itself, on columns; nil where it can't.
  private func engineRows(groupBy: [FetchedColumn]) throws -> [Group]? {
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
    return try sources[0].store.aggregate(aggregate, in: sources[0].snapshot).map { row in
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

  private func groupsByRow() throws -> [Group] {
    var order: [[AnyHashable?]] = []
    var groups: [[AnyHashable?]: (keys: [Any?], figures: GroupFigures)] = [:]
    try eachRow(windowed: false) { row in
      let keys = try groupBy.map { try evaluate($0.expression, [:], row) }
      let hashed = keys.map { ($0 as? NSObject).map { AnyHashable($0) } ?? ($0 as? AnyHashable) }
      if groups[hashed] == nil {
        groups[hashed] = (keys, GroupFigures(leaves))
        order.append(hashed)
      }
      try groups[hashed]?.figures.add(row, self)
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

/// The values of one group, as far as its figures need them.
struct GroupFigures {
  private let leaves: [Leaf]
  private var values: [[Value]]
  private var seen: [Set<Value>]
  private var rowCount = 0

  init(_ leaves: [Leaf]) {
    self.leaves = leaves
    values = leaves.map { _ in [] }
    seen = leaves.map { _ in [] }
  }

  mutating func add(_ row: FetchedRowView, _ fetch: DictionaryFetch) throws {
    rowCount += 1
    for (index, leaf) in leaves.enumerated() {
      guard let operand = leaf.operand else { continue }
      for value in GroupFigures.values(try fetch.operand(operand, row)) where !value.isNull {
        if leaf.isDistinct, !seen[index].insert(value).inserted { continue }
        values[index].append(value)
      }
    }
  }

  /// A to-many path gives many.
  private static func values(_ any: Any?) -> [Value] {
    guard let any else { return [] }
    let tree = ExpressionTree(argument: any)
    if case .list(let elements) = tree { return elements.map { $0.plainValue ?? .bool(true) } }
    return [tree.plainValue ?? .bool(true)]
  }

  func figures() throws -> [Any?] {
    try leaves.indices.map { index in
      let leaf = leaves[index]
      if leaf.operand == nil, leaf.figure == .count { return NSNumber(value: rowCount) }
      let values = values[index]
      switch leaf.figure {
      case .count: return NSNumber(value: values.count)
      case .sum: return try Statistics.sum(values).keyValueForm
      case .average:
        if values.isEmpty { return nil }
        let total = try Statistics.sum(values)
        guard let double = (total.keyValueForm as? NSNumber)?.doubleValue else { return nil }
        return NSNumber(value: double / Double(values.count))
      case .min: return values.min().flatMap(\.keyValueForm)
      case .max: return values.max().flatMap(\.keyValueForm)
      case .median: return values.isEmpty ? nil : try Statistics.median(values).keyValueForm
      case .mode: return Statistics.mode(values).first?.keyValueForm
      case .stddev: return values.isEmpty ? nil : Statistics.standardDeviation(values).keyValueForm
      }
    }
  }
}

/// Results turned into what `expressionResultType` says.
enum ResultCoercion {
  static func coerce(_ any: Any, to type: NSAttributeType) -> Any {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      guard let number = any as? NSNumber else { return any }
      let double = number.doubleValue
      if abs(double) >= 9.2e18 { return number }
      return NSNumber(value: double == double.rounded() ? number.int64Value : Int64(double))
    case .doubleAttributeType: return (any as? NSNumber).map { NSNumber(value: $0.doubleValue) } ?? any
    case .floatAttributeType: return (any as? NSNumber).map { NSNumber(value: $0.floatValue) } ?? any
    case .decimalAttributeType:
      return (any as? NSNumber).map { NSDecimalNumber(decimal: $0.decimalValue) } ?? any
    case .booleanAttributeType: return (any as? NSNumber).map { NSNumber(value: $0.boolValue) } ?? any
    case .stringAttributeType:
      return (any as? NSNumber).map { "\($0.doubleValue)" } ?? (any as? String) ?? "\(any)"
    case .dateAttributeType:
      return (any as? NSNumber).map { Date(timeIntervalSinceReferenceDate: $0.doubleValue) } ?? any
    default: return any
    }
  }
}

extension ExpressionTree {
  /// The value of a plain constant.
  fileprivate var plainValue: Value? {
    if case .constant(let value) = self { value } else { nil }
  }
}
