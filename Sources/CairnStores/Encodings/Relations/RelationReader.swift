// Reads the values of a slot that are predicted from others.

import CairnModel

struct RelationReader {
  let reader: IntegerReader
  let counts: [Int]
  /// The columns of a slot for the same rows.
  let source: (Int) throws -> [Column]

  private var scratch: Scratch { reader.scratch }

  /// Reads what follows the marker.
  func read(_ type: ValueType, _ rowCount: Int, from bytes: inout ByteSource) throws -> [Column] {
    let start = bytes.offset
    let relation = try header(from: &bytes)
    guard RelationWriter.canPredict(type, by: relation.kind) else {
      throw PayloadError(what: "\(type) can't be predicted like this", byteOffset: start)
    }
    let sources = try relation.sources.map { slot in
      let columns = try source(slot)
      guard columns.map(\.count) == counts, let type = columns.first?.type,
        RelationWriter.canRead(type, for: relation.kind), columns.allSatisfy({ $0.type == type })
      else {
        throw PayloadError(what: "slot \(slot) can't be what this one is predicted from", byteOffset: start)
      }
      return BlockRows(columns, scratch: scratch)
    }
    let mask = try nulls(rowCount, sources, from: &bytes)
    let assembly = ColumnAssembly(type: type, counts: counts, mask: mask, scratch: scratch)
    if let joint = relation.kind.joint {
      return try ItemRelation.read(assembly, sources[0], joint: joint, from: &bytes, reader)
    }
    var view = PredictedView.patterns
    if type.integerRange == nil, assembly.valueCount > 0 {
      let byte = try bytes.byte()
      guard let known = PredictedView(rawValue: byte) else { throw bytes.error("no view is \(byte)") }
      view = known
    }
    let values = scratch.take(Int64.self, rowCount)
    if assembly.valueCount == 0 {
      values.update(repeating: 0, count: rowCount)
    } else if relation.kind.isKeyed {
      try readKeyed(relation.kind, assembly, sources, from: &bytes, into: values)
    } else {
      try readDifferences(relation.kind, assembly, sources, from: &bytes, into: values)
    }
    assembly.mask.expand(values, filler: 0)
    if type.integerRange != nil { return try assembly.integers(values) }
    return try FloatingReader(reader: reader).columns(values, isWhole: view == .whole, assembly)
  }

  private func header(from bytes: inout ByteSource) throws -> ColumnRelation {
    let count = try bytes.count(from: 1, upTo: ColumnRelation.maxSources)
    let slots = try (0..<count).map { _ in try bytes.count(upTo: Int(UInt16.max)) }
    let code = try bytes.byte()
    let kind: ColumnRelation.Kind
    switch code {
    case 1: kind = .lastOfKey
    case 2: kind = .nearLastOfKey
    case 3:
      let byte = try bytes.byte()
      guard let sum = ColumnRelation.Sum(rawValue: byte) else { throw bytes.error("no sum is \(byte)") }
      kind = .sum(sum)
    case 4, 5:
      let divisor = Int64(try bytes.count(from: 2, upTo: Int.max))
      kind = code == 4 ? .quotient(divisor) : .remainder(divisor)
    case 6: kind = .item(try bytes.byte())
    default: throw bytes.error("no relation is \(code)")
    }
    guard kind.sourceCount ?? count == count else { throw bytes.error("\(kind) hasn't \(count) sources") }
    return ColumnRelation(kind, of: slots)
  }

  private func nulls(_ rowCount: Int, _ sources: [BlockRows], from bytes: inout ByteSource) throws -> NullMask
  {
    let byte = try bytes.byte()
    var mask = NullMask(rowCount: rowCount, scratch: scratch)
    switch NullForm(rawValue: byte) {
    case .none?: break
    case .all: mask.setAll()
    case .bitmap: try mask.readBitmap(from: &bytes)
    case .runs: try mask.readRuns(from: &bytes, reader)
    case .likeSource:
      let index = try bytes.count(upTo: sources.count - 1)
      let count = try bytes.count(upTo: rowCount)
      let rows = scratch.take(Int64.self, count)
      try reader.readIndexes(count, below: rowCount, from: &bytes, into: rows)
      mask.set(like: sources[index].nullBits, except: rows, count)
    case .inBand, nil:
      throw PayloadError(what: "nulls have no form \(byte) here", byteOffset: bytes.offset - 1)
    }
    return mask
  }

  private func readKeyed(
    _ kind: ColumnRelation.Kind, _ assembly: ColumnAssembly, _ sources: [BlockRows],
    from bytes: inout ByteSource, into out: UnsafeMutablePointer<Int64>
  ) throws {
    guard let codes = KeyedRows.codes(sources, assembly.rowCount, scratch) else {
      throw bytes.error("a source can't be part of a key")
    }
    assembly.mask.compact(codes.codes)
    let keys = KeyedRows(codes, assembly.valueCount, scratch: scratch)
    let seenCount = keys.seenCount()
    let seen = scratch.take(Int64.self, seenCount)
    var listedCount = assembly.valueCount - seenCount
    if kind == .lastOfKey {
      try reader.readIndexes(seenCount, below: 2, from: &bytes, into: seen)
      for i in 0..<seenCount { listedCount += Int(seen[i]) }
    } else {
      try reader.read(seenCount, from: &bytes, into: seen)
    }
    let listed = scratch.take(Int64.self, listedCount)
    try reader.read(listedCount, from: &bytes, into: listed)
    var (nextSeen, nextListed) = (0, 0)
    let isNear = kind == .nearLastOfKey
    keys.forEach { i, last in
      var value: Int64 = 0
      var isListed = true
      if let last {
        isListed = !isNear && seen[nextSeen] != 0
        value = isNear ? last &+ seen[nextSeen] : last
        nextSeen += 1
      }
      if isListed {
        value = listed[nextListed]
        nextListed += 1
      }
      out[i] = value
      return value
    }
  }

  private func readDifferences(
    _ kind: ColumnRelation.Kind, _ assembly: ColumnAssembly, _ sources: [BlockRows],
    from bytes: inout ByteSource, into out: UnsafeMutablePointer<Int64>
  ) throws {
    let first = sources[0].integers(scratch: scratch)
    let second = sources.count > 1 ? sources[1].integers(scratch: scratch) : nil
    kind.predictions(first, second, assembly.rowCount, into: out)
    assembly.mask.compact(out)
    let differences = scratch.take(Int64.self, assembly.valueCount)
    try reader.read(assembly.valueCount, from: &bytes, into: differences)
    for i in 0..<assembly.valueCount { out[i] = out[i] &+ differences[i] }
  }
}
