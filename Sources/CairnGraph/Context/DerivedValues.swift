// The values of derived attributes, as a step of a save: which rows' values may differ after it, and what
// they are. How they get into the change set is in DerivedValues+Writing.swift.

import CairnModel
import Foundation

/// Computes what follows from one change set. Reads the store in its newest generation, which has to stay the
/// newest until the change set is committed.
final class DerivedValues {
  let plan: DerivedPlan
  let rows: RowsAfterSave
  /// One for all rows of the save.
  private let time = Date()
  /// Whether what new rows say of derived attributes counts, which of an object's values never does.
  private let keepsGiven: Bool
  /// What was given and isn't kept.
  var corrections: [DerivedImport.Correction] = []
  private var links: [RelationshipID: LinksAfterSave] = [:]
  /// One a derived attribute, in the order of the plan, as far as they are computed.
  private(set) var results: [Result] = []

  /// The values of one derived attribute.
  struct Result {
    /// Of new rows, by the number of their batch.
    var inserted: [Int: [Value]] = [:]
    /// Of rows that are there already, and may differ.
    var values: [Int64: Value] = [:]
    /// Those that do differ.
    var changed: [Int64] = []
  }

  init(_ plan: DerivedPlan, _ rows: RowsAfterSave, keepsGiven: Bool = false) {
    self.plan = plan
    self.rows = rows
    self.keepsGiven = keepsGiven
  }

  func compute() throws {
    for attribute in plan.attributes { results.append(try result(of: attribute)) }
  }

  private func result(of attribute: DerivedAttribute) throws -> Result {
    var result = Result()
    for (index, batch) in rows.changes.inserts.enumerated() where attribute.family.contains(batch.entity) {
      let values = try values(of: attribute, batch.keys)
      result.inserted[index] = keepsGiven ? try reconciled(values, batch, attribute) : values
    }
    let keys = try ownersToCompute(attribute)
    for (key, value) in zip(keys, try changedValues(of: attribute, keys)) {
      result.values[key] = value
      let stored = try rows.storedValue(key, root: attribute.root, attribute.slot)
      if !value.isStoredLike(stored) { result.changed.append(key) }
    }
    return result
  }

  /// The values of rows that are there already.
  private func changedValues(of attribute: DerivedAttribute, _ keys: [Int64]) throws -> [Value] {
    guard case .count(let relation) = attribute.form, case .inverse = relation.storage,
      let range = attribute.type.integerRange
    else { return try values(of: attribute, keys) }
    // What is stored was right, so that nobody need count again; what the type couldn't hold wasn't.
    let links = try links(relation)
    var known: [Int64: Value] = [:]
    for key in keys {
      guard case .int(let count) = try rows.storedValue(key, root: attribute.root, attribute.slot),
        count >= 0, count < range.upperBound
      else { continue }
      known[key] = Value.int(max(count + links.growth(of: key), 0)).nearest(attribute.type)
    }
    let rest = keys.filter { known[$0] == nil }
    for (key, value) in zip(rest, try values(of: attribute, rest)) { known[key] = value }
    return keys.map { known[$0] ?? .null }
  }

  func links(_ relation: Relation) throws -> LinksAfterSave {
    if let known = links[relation.id] { return known }
    let made = try LinksAfterSave(relation, rows)
    links[relation.id] = made
    return made
  }

  // MARK: Which rows

  /// The rows whose value may differ, ascending: those that have the attribute, were there before and still
  /// are.
  private func ownersToCompute(_ attribute: DerivedAttribute) throws -> [Int64] {
    let affected = try affected(attribute)
    try rows.load(affected, root: attribute.root)
    return try affected.filter { key in
      guard let chunk = try rows.stored(key, root: attribute.root)?.chunk else { return false }
      return attribute.family.contains(chunk.entity) && !rows.isDeleted(key, root: attribute.root)
    }.sorted()
  }

  /// May have rows that are new or gone, or of entities without the attribute.
  private func affected(_ attribute: DerivedAttribute) throws -> Set<Int64> {
    switch attribute.form {
    case .now:
      let updates = rows.changes.updates.filter { attribute.family.contains($0.entity) && !$0.slots.isEmpty }
      return Set(updates.flatMap(\.keys))
    case .count(let relation): return try links(relation).touched
    case .sum(let relation, let source):
      let links = try links(relation)
      return links.touched.union(try links.owners(of: changed(source)))
    case .value(let hops, let source, _):
      // Rows that come to lead elsewhere are touched themselves, so that all others lead where they did.
      return try hops.reversed().reduce(changed(source)) { found, hop in
        let links = try links(hop)
        return links.touched.union(try links.owners(of: found))
      }
    }
  }

  private func changed(_ source: DerivedSource) -> Set<Int64> {
    guard let derived = source.derived else {
      return Set(rows.keys(updating: source.slot, of: source.family))
    }
    return Set(results[derived].changed)
  }

  // MARK: What they are

  private func values(of attribute: DerivedAttribute, _ keys: [Int64]) throws -> [Value] {
    switch attribute.form {
    case .now: return keys.map { _ in .date(time) }
    case .count(let relation):
      let members = try links(relation).destinations(of: keys)
      return keys.map { Value.int(Int64(members[$0]?.count ?? 0)).nearest(attribute.type) }
    case .sum(let relation, let source):
      let members = try links(relation).destinations(of: keys)
      var summands = try values(
        of: source, keys.flatMap { members[$0] ?? [] }, areMembers: true)[...]
      return keys.map { key in
        let own = summands.prefix(members[key]?.count ?? 0)
        summands = summands.dropFirst(own.count)
        return DerivedValues.sum(own).nearest(attribute.type)
      }
    case .value(let hops, let source, let fold):
      let ends = try hops.reduce(keys as [Int64?]) { try links($1).destination(of: $0) }
      let values = try values(of: source, ends)
      guard let fold else { return values }
      return values.map { fold.apply([$0]) }
    }
  }

  /// As `ValueFunction.sum`, of values of one type.
  static func sum(_ values: ArraySlice<Value>) -> Value {
    var whole: Int64 = 0
    var double = 0.0
    var isDouble = false
    for value in values {
      switch value {
      case .null: continue
      case .double(let x): (double, isDouble) = (double + x, true)
      case .int(let x):
        let (sum, overflow) = whole.addingReportingOverflow(x)
        if overflow { return ValueFunction.sum.apply(Array(values)) }
        whole = sum
      default: return ValueFunction.sum.apply(Array(values))
      }
    }
    return isDouble ? .double(double) : .int(whole)
  }

  /// Members are read once and not kept.
  func values(
    of source: DerivedSource, _ keys: [Int64?], areMembers: Bool = false
  ) throws -> [Value] {
    if areMembers, source.derived == nil {
      return try rows.values(keys.compactMap(\.self), root: source.root, source.slot)
    }
    try rows.load(keys.lazy.compactMap(\.self), root: source.root)
    guard let derived = source.derived else {
      return try keys.map { try $0.map { try rows.value($0, root: source.root, source.slot) } ?? .null }
    }
    return try keys.map { key in
      guard let key else { return .null }
      if let (batch, row) = rows.inserted(key, root: source.root) {
        return results[derived].inserted[batch]?[row] ?? .null
      }
      if let value = results[derived].values[key] { return value }
      return rows.isDeleted(key, root: source.root)
        ? .null : try rows.storedValue(key, root: source.root, source.slot)
    }
  }
}

extension Value {
  /// A number as one that a slot of the type can hold: fractions are cut off where it holds none, and what is
  /// too great or too small becomes the greatest or the least. Null for what isn't a number.
  func nearest(_ type: ValueType) -> Value {
    switch type {
    case .double: return nearestDouble.map { .double($0) } ?? .null
    case .float: return nearestDouble.map { .float(Float($0)) } ?? .null
    case .decimal: return nearestDecimal.map { .decimal($0) } ?? .null
    case .bool: return nearestDouble.map { .bool($0 != 0) } ?? .null
    default:
      guard let range = type.integerRange, let double = nearestDouble, !double.isNaN else { return .null }
      if let whole = ValueFunction.truncate.apply([self]).wholeNumber {
        return .int(Swift.min(Swift.max(whole, range.lowerBound), range.upperBound))
      }
      return .int(double < 0 ? range.lowerBound : range.upperBound)
    }
  }
}
