// Grouping and aggregates, straight over columns: no row becomes an object.

import Foundation

/// Figures over the groups of a selection.
struct Aggregator {
  let groupBy: [BoundPath]
  let terms: [(function: AggregateRequest.Function, path: BoundPath?)]
  let source: any ChunkSource

  /// One row a group, ordered by the group's values. Without `groupBy` one row, even over nothing.
  func run(_ selection: RowSelection) -> [AggregateRow] {
    let grouping = Grouping(groupBy, selection, source)
    let columns = terms.map { term -> [Value] in
      guard let path = term.path else { return grouping.sizes().map { .int(Int64($0)) } }
      return figures(term.function, path, selection, grouping)
    }
    let readers = groupBy.map { PathReader($0, source: source) }
    return grouping.present.map { group in
      let first = grouping.firstRows[group]
      let values = readers.map { $0.value(selection.chunks[first.chunk], first.row) }
      return AggregateRow(group: values, values: columns.map { $0[group] })
    }.sorted { a, b in
      for (x, y) in zip(a.group, b.group) {
        let order = Value.compare(x, y)
        if order != 0 { return order < 0 }
      }
      return false
    }
  }

  private func figures(
    _ function: AggregateRequest.Function, _ path: BoundPath, _ selection: RowSelection, _ grouping: Grouping
  ) -> [Value] {
    let layout = Column.Layout.fixed(for: path.type)
    guard path.hops.isEmpty, case .slot(let slot) = path.target, layout == nil || layout!.isFloatingPoint
    else {
      return generalFigures(function, path, selection, grouping)
    }
    if layout == nil, path.type != .key {
      let needsBounds = function == .min || function == .max
      return integerFigures(slot, selection, grouping, needsBounds).map { $0.value(function, path.type) }
    }
    if layout != nil { return doubleFigures(slot, selection, grouping).map { $0.value(function, path.type) } }
    return generalFigures(function, path, selection, grouping)
  }

  // MARK: Integers

  private struct IntegerFigures {
    var count: Int64 = 0
    /// 128 bits hold the sum of as many Int64 as there can be rows.
    var sum: Int128 = 0
    var low = Int64.max
    var high = Int64.min

    mutating func add(_ x: Int64) {
      count += 1
      sum += Int128(x)
      low = min(low, x)
      high = max(high, x)
    }

    func value(_ function: AggregateRequest.Function, _ type: ValueType) -> Value {
      func typed(_ x: Int64) -> Value { type == .bool ? .bool(x != 0) : .int(x) }
      switch function {
      case .count: return .int(count)
      case .sum: return Int64(exactly: sum).map { .int($0) } ?? .double(Double(sum))
      case .average: return count == 0 ? .null : .double(Double(sum) / Double(count))
      case .min: return count == 0 ? .null : typed(low)
      case .max: return count == 0 ? .null : typed(high)
      }
    }
  }

  private func integerFigures(
    _ slot: Int, _ selection: RowSelection, _ grouping: Grouping, _ needsBounds: Bool
  ) -> [IntegerFigures] {
    var figures = [IntegerFigures](repeating: IntegerFigures(), count: grouping.firstRows.count)
    figures.withUnsafeMutableBufferPointer { figures in
      for (index, chunk) in selection.chunks.enumerated() {
        let column = chunk.columns[slot]
        let groups = grouping.groups[index]
        switch column.layout {
        case .int8:
          add(column.values.assumingMemoryBound(to: Int8.self), column, groups, figures, needsBounds)
        case .int16:
          add(column.values.assumingMemoryBound(to: Int16.self), column, groups, figures, needsBounds)
        case .int32:
          add(column.values.assumingMemoryBound(to: Int32.self), column, groups, figures, needsBounds)
        default: add(column.values.assumingMemoryBound(to: Int64.self), column, groups, figures, needsBounds)
        }
      }
    }
    return figures
  }

  /// The figures of one group within one chunk.
  private struct Part {
    var count: Int64 = 0
    var sum: Int64 = 0
  }

  /// Sums within a chunk fit Int64 for narrow columns; only 8-byte ones need 128 bits a row.
  private func add<T: FixedWidthInteger>(
    _ p: UnsafePointer<T>, _ column: Column, _ groups: [UInt32],
    _ figures: UnsafeMutableBufferPointer<IntegerFigures>, _ needsBounds: Bool
  ) {
    groups.withUnsafeBufferPointer { groups in
      if T.bitWidth == 64 || needsBounds || figures.count > 1024 {
        for row in groups.indices where groups[row] != Grouping.unselected && !column.isNull(row) {
          figures[Int(groups[row])].add(Int64(p[row]))
        }
        return
      }
      // Rows that don't count go to one part more than there are groups, which saves a branch. Two sets of
      // parts take turns, so that neighbours of one group don't wait for each other's addition.
      let aside = figures.count
      let size = figures.count + 1
      withUnsafeTemporaryAllocation(of: Part.self, capacity: 2 * size) { parts in
        parts.initialize(repeating: Part())
        for row in groups.indices {
          let part = min(Int(groups[row]), aside) &+ (row & 1 == 0 ? 0 : size)
          parts[part].count &+= 1
          parts[part].sum &+= Int64(truncatingIfNeeded: p[row])
        }
        // The place of a null holds 0, so it only has to be taken out of the count.
        column.nulls?.forEach(below: groups.count) { row in parts[min(Int(groups[row]), aside)].count &-= 1 }
        for group in figures.indices {
          figures[group].count += parts[group].count + parts[group + size].count
          figures[group].sum += Int128(parts[group].sum + parts[group + size].sum)
        }
      }
    }
  }

  // MARK: Doubles and dates

  private struct DoubleFigures {
    var count: Int64 = 0
    var sum = 0.0
    var low = Double.infinity
    var high = -Double.infinity
    var hasNaN = false

    func value(_ function: AggregateRequest.Function, _ type: ValueType) -> Value {
      func typed(_ x: Double) -> Value {
        switch type {
        case .date: .date(Date(timeIntervalSinceReferenceDate: x))
        case .float: .float(Float(x))
        default: .double(x)
        }
      }
      switch function {
      case .count: return .int(count)
      // A date is no number.
      case .sum: return type == .date ? .int(0) : .double(sum)
      case .average: return count == 0 || type == .date ? .null : .double(sum / Double(count))
      // NaN is the least value of the one order.
      case .min: return count == 0 ? .null : typed(hasNaN ? .nan : low)
      case .max: return count == 0 ? .null : typed(low > high ? .nan : high)
      }
    }
  }

  private func doubleFigures(_ slot: Int, _ selection: RowSelection, _ grouping: Grouping) -> [DoubleFigures]
  {
    var figures = [DoubleFigures](repeating: DoubleFigures(), count: grouping.firstRows.count)
    for (index, chunk) in selection.chunks.enumerated() {
      let column = chunk.columns[slot]
      let groups = grouping.groups[index]
      for row in groups.indices where groups[row] != Grouping.unselected && !column.isNull(row) {
        let group = Int(groups[row])
        let x = column.double(row)
        figures[group].count += 1
        figures[group].sum += x
        if x.isNaN { figures[group].hasNaN = true }
        if x < figures[group].low { figures[group].low = x }
        if x > figures[group].high { figures[group].high = x }
      }
    }
    return figures
  }

  // MARK: Everything else, value by value

  private func generalFigures(
    _ function: AggregateRequest.Function, _ path: BoundPath, _ selection: RowSelection, _ grouping: Grouping
  ) -> [Value] {
    let reader = PathReader(path, source: source)
    var values = [[Value]](repeating: [], count: grouping.firstRows.count)
    for (index, chunk) in selection.chunks.enumerated() {
      for (row, group) in grouping.groups[index].enumerated() where group != Grouping.unselected {
        let value = reader.value(chunk, row)
        if !value.isNull { values[Int(group)].append(value) }
      }
    }
    return values.map { Aggregator.figure(function, $0) }
  }

  /// See `AggregateRequest.figure`.
  static func figure(_ function: AggregateRequest.Function, _ values: [Value]) -> Value {
    switch function {
    case .count: return .int(Int64(values.count))
    case .min: return values.min() ?? .null
    case .max: return values.max() ?? .null
    case .sum: return sum(values)
    case .average:
      let count = values.count { $0.family == .number }
      if count == 0 { return .null }
      switch sum(values) {
      case .int(let x): return .double(Double(x) / Double(count))
      case .double(let x): return .double(x / Double(count))
      case .decimal(let x): return .double((x / Decimal(count)).nearestDouble)
      default: return .null
      }
    }
  }

  private static func sum(_ values: [Value]) -> Value {
    var whole: Int128 = 0
    var real = 0.0
    var exact: Decimal = 0
    var hasReal = false
    var hasDecimal = false
    for value in values {
      switch value {
      case .int(let x): whole += Int128(x)
      case .bool(let x): whole += x ? 1 : 0
      case .double(let x):
        real += x
        hasReal = true
      case .float(let x):
        real += Double(x)
        hasReal = true
      case .decimal(let x):
        exact += x
        hasDecimal = true
      default: break
      }
    }
    if hasDecimal { return .decimal(exact) }
    if hasReal { return .double(real + Double(whole)) }
    return Int64(exactly: whole).map { .int($0) } ?? .double(Double(whole))
  }
}

extension AggregateRequest {
  /// The plain meaning of an aggregate, which the typed loops have to agree with: of values that aren't null.
  package static func figure(_ function: Function, _ values: [Value]) -> Value {
    Aggregator.figure(function, values)
  }
}
