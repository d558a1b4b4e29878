// Payloads that are right and that no encoder of ours would make: every form that fits, at random, at every
// place (Formats/encodings.md).

import CairnModel
import Foundation

@testable import CairnStores

/// The same numbers on every run.
struct FixedNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }

  mutating func below(_ bound: Int) -> Int { bound < 1 ? 0 : Int(next() % UInt64(bound)) }
}

/// Writes columns in forms that chance picks.
struct OddPayload {
  var numbers: FixedNumbers
  /// Every form that was used so far, such as "stream 7".
  private(set) var used: Set<String> = []
  /// How many texts were told as items of others.
  private(set) var itemCount = 0
  private var writer = RecordWriter()

  init(seed: UInt64) { numbers = FixedNumbers(seed: seed) }

  /// The payload of columns that stand behind each other in one block.
  mutating func payload(_ columns: [Column]) -> [UInt8] {
    writer = RecordWriter()
    let type = columns[0].type
    let rows = columns.flatMap { column in (0..<column.count).map { (column, $0) } }
    let isNull = rows.map { $0.0.isNull($0.1) }
    let present = rows.filter { !$0.0.isNull($0.1) }
    if let null = inBand(type, rows, isNull) {
      note("nulls", 4)
      writer.put(zigzag: null)
      putStream(zip(rows, isNull).map { $1 ? null : $0.0.integer($0.1) })
      return writer.bytes
    }
    putNulls(isNull)
    if present.isEmpty { return writer.bytes }
    switch type {
    case .int16, .int32, .int64, .bool, .key: putStream(present.map { $0.0.integer($0.1) })
    case .double, .date, .float: putFloating(present.map { OddPayload.pattern($0.0, $0.1) }, type == .float)
    case .decimal: putDecimals(present.map { $0.0.decimal($0.1) })
    case .uuid: putUUIDs(present.map { $0.0.uuid($0.1) })
    case .string, .uri, .data, .transformable: putTexts(present.map { Array($0.0.bytes($0.1)) })
    }
    return writer.bytes
  }

  private mutating func note(_ what: String, _ form: UInt8) {
    used.insert("\(what) \(form)")
    writer.put(form)
  }

  // MARK: Nulls

  /// A number that stands for null, if nulls are to be in band.
  private mutating func inBand(_ type: ValueType, _ rows: [(Column, Int)], _ isNull: [Bool]) -> Int64? {
    guard type.integerRange != nil, !rows.isEmpty, numbers.below(4) == 0 else { return nil }
    let values = Set(rows.filter { !$0.0.isNull($0.1) }.map { $0.0.integer($0.1) })
    let candidate = Int64(truncatingIfNeeded: numbers.next()) >> Int64(numbers.below(60))
    return values.contains(candidate) ? nil : candidate
  }

  private mutating func putNulls(_ isNull: [Bool]) {
    let count = isNull.filter { $0 }.count
    let isTrivial = numbers.below(2) == 0
    if count == 0, isTrivial || isNull.isEmpty { return note("nulls", 0) }
    if count == isNull.count, isTrivial { return note("nulls", 1) }
    if numbers.below(2) == 0 {
      note("nulls", 2)
      var bits = [UInt8](repeating: 0, count: (isNull.count + 7) / 8)
      for (row, isNull) in isNull.enumerated() where isNull { bits[row >> 3] |= 1 << UInt8(row & 7) }
      return writer.put(bytes: bits)
    }
    note("nulls", 3)
    var lengths: [Int64] = [0]
    var current = false
    for isNull in isNull {
      if isNull != current {
        lengths.append(0)
        current = isNull
      }
      lengths[lengths.count - 1] += 1
    }
    // A run of no rows is allowed, where there is room for it.
    if lengths.count <= isNull.count { lengths.append(0) }
    writer.put(varint: lengths.count)
    putStream(lengths)
  }

  // MARK: Streams

  private mutating func putStream(_ values: [Int64], depth: Int = 1) {
    if values.isEmpty { return }
    let low = values.min()!
    let span = UInt64(bitPattern: values.max()! &- low)
    while true {
      switch numbers.below(10) {
      case 0 where values.allSatisfy { $0 == values[0] }:
        note("stream", 1)
        return writer.put(zigzag: values[0])
      case 1: return putFrame(values, low, span, planes: false)
      case 2: return putFrame(values, low, span, planes: true)
      case 3 where span >> 56 == 0: return putBits(values, low, span)
      case 4:
        note("stream", 5)
        for value in values { writer.put(zigzag: value) }
        return
      case 5 where depth < 5:
        note("stream", 6)
        writer.put(zigzag: values[0])
        return putStream(zip(values, values.dropFirst()).map { $1 &- $0 }, depth: depth + 1)
      case 6 where depth < 5: return putRuns(values, depth)
      case 7 where depth < 5: return putDictionary(values, depth)
      case 8 where depth < 5:
        note("stream", 9)
        let base = Int64(truncatingIfNeeded: numbers.next())
        // An odd factor has an inverse modulo 2^64.
        let factor = numbers.next() >> UInt64(numbers.below(64)) | 1
        var inverse = factor
        for _ in 0..<6 { inverse = inverse &* (2 &- factor &* inverse) }
        writer.put(zigzag: base)
        writer.put(varint: factor)
        return putStream(
          values.map { Int64(bitPattern: UInt64(bitPattern: $0 &- base) &* inverse) }, depth: depth + 1)
      case 9 where depth < 5: return putPatched(values, depth)
      default: continue
      }
    }
  }

  private mutating func putFrame(_ values: [Int64], _ low: Int64, _ span: UInt64, planes: Bool) {
    note("stream", planes ? 3 : 2)
    let needed = max((64 - span.leadingZeroBitCount + 7) / 8, planes ? 2 : 1)
    let width = needed + numbers.below(9 - needed)
    // With all eight bytes any base will do.
    let base = width == 8 ? Int64(truncatingIfNeeded: numbers.next()) : low
    writer.put(zigzag: base)
    writer.put(varint: width)
    let differences = values.map { UInt64(bitPattern: $0 &- base) }
    if planes {
      for k in 0..<width {
        for x in differences { writer.put(UInt8(truncatingIfNeeded: x >> UInt64(8 * k))) }
      }
    } else {
      for x in differences {
        for k in 0..<width { writer.put(UInt8(truncatingIfNeeded: x >> UInt64(8 * k))) }
      }
    }
  }

  private mutating func putBits(_ values: [Int64], _ low: Int64, _ span: UInt64) {
    note("stream", 4)
    let needed = max(64 - span.leadingZeroBitCount, 1)
    let width = needed + numbers.below(57 - needed)
    writer.put(zigzag: low)
    writer.put(varint: width)
    var bytes = [UInt8](repeating: 0, count: (values.count * width + 7) / 8)
    for (i, value) in values.enumerated() {
      for k in 0..<width where UInt64(bitPattern: value &- low) >> UInt64(k) & 1 == 1 {
        bytes[(i * width + k) >> 3] |= 1 << UInt8((i * width + k) & 7)
      }
    }
    writer.put(bytes: bytes)
  }

  private mutating func putRuns(_ values: [Int64], _ depth: Int) {
    note("stream", 7)
    var runs: [(value: Int64, length: Int64)] = []
    for value in values {
      // A run may end though the next value is the same.
      if let last = runs.last, last.value == value, numbers.below(5) > 0 {
        runs[runs.count - 1].length += 1
      } else {
        runs.append((value, 0))
      }
    }
    writer.put(varint: runs.count)
    putStream(runs.map(\.value), depth: depth + 1)
    putStream(runs.map(\.length), depth: depth + 1)
  }

  private mutating func putDictionary(_ values: [Int64], _ depth: Int) {
    note("stream", 8)
    var entries = Array(Set(values)).sorted()
    // Some twice, in any order.
    while entries.count < values.count, numbers.below(3) == 0 {
      entries.append(values[numbers.below(values.count)])
    }
    entries.shuffle(using: &numbers)
    writer.put(varint: entries.count)
    putStream(entries, depth: depth + 1)
    putStream(values.map { Int64(entries.firstIndex(of: $0)!) }, depth: depth + 1)
  }

  private mutating func putPatched(_ values: [Int64], _ depth: Int) {
    note("stream", 10)
    let count = 1 + numbers.below(values.count)
    let rows = (0..<count).map { _ in numbers.below(values.count) }
    var rest = values
    for row in rows { rest[row] = Int64(numbers.below(100)) }
    writer.put(varint: count)
    putStream(rows.map(Int64.init), depth: depth + 1)
    putStream(rows.map { values[$0] }, depth: depth + 1)
    putStream(rest, depth: depth + 1)
  }

  // MARK: Values

  static func pattern(_ column: Column, _ row: Int) -> UInt64 {
    column.type == .float
      ? UInt64(column.rawValues.assumingMemoryBound(to: UInt32.self)[row])
      : column.rawValues.assumingMemoryBound(to: UInt64.self)[row]
  }

  private mutating func putFloating(_ patterns: [UInt64], _ isFloat: Bool) {
    if numbers.below(2) == 0 {
      note("floating", 1)
      return putStream(patterns.map { Int64(bitPattern: $0) })
    }
    note("floating", 2)
    let exponent = numbers.below(16)
    let power = Double("1e\(exponent)")!
    writer.put(UInt8(exponent))
    var exceptions: [(row: Int64, pattern: Int64)] = []
    let integers = patterns.enumerated().map { row, pattern -> Int64 in
      let x = isFloat ? Double(Float(bitPattern: UInt32(pattern))) : Double(bitPattern: pattern)
      let scaled = (x * power).rounded()
      if abs(scaled) < 0x1p53 {
        // An integer has no negative zero.
        let back = Double(Int64(scaled)) / power
        let found = isFloat ? UInt64(Float(back).bitPattern) : back.bitPattern
        if found == pattern { return Int64(scaled) }
      }
      exceptions.append((Int64(row), Int64(bitPattern: pattern)))
      return Int64(numbers.below(1000))
    }
    writer.put(varint: exceptions.count)
    putStream(exceptions.map(\.row))
    putStream(exceptions.map(\.pattern))
    putStream(integers)
  }

  private mutating func putDecimals(_ values: [Decimal]) {
    var parts: [(exponent: Int, flags: Int, size: UInt128)] = []
    for value in values {
      if value.isNaN {
        parts.append((0, 16, 0))
        continue
      }
      let digits = Decimal(sign: .plus, exponent: 0, significand: value.significand).magnitude.description
      var size = UInt128(digits)!
      var exponent = value.exponent
      // The same number, written longer.
      while size < UInt128.max / 10, exponent > -128, numbers.below(3) == 0 {
        size *= 10
        exponent -= 1
      }
      let words = (128 - size.leadingZeroBitCount + 15) / 16
      parts.append((size == 0 ? 0 : exponent, words | (value.isSignMinus ? 16 : 0), size))
    }
    used.insert("decimal")
    putStream(parts.map { Int64($0.exponent) })
    putStream(parts.map { Int64($0.flags) })
    putStream(parts.map { Int64(bitPattern: UInt64(truncatingIfNeeded: $0.size)) })
    putStream(parts.map { Int64(bitPattern: UInt64(truncatingIfNeeded: $0.size >> 64)) })
  }

  private mutating func putUUIDs(_ values: [UUID]) {
    let all = values.map { value in withUnsafeBytes(of: value.uuid) { Array($0) } }
    let form = UInt8(1 + numbers.below(3))
    note("uuid", form)
    switch form {
    case 1: writer.put(bytes: all.joined())
    case 2:
      for half in [0, 8] {
        putStream(all.map { $0[half..<half + 8].reduce(0) { $0 << 8 | Int64($1) } })
      }
    default:
      var entries = Array(Set(all)).sorted { $0.lexicographicallyPrecedes($1) }
      entries.shuffle(using: &numbers)
      writer.put(varint: entries.count)
      writer.put(bytes: entries.joined())
      putStream(all.map { Int64(entries.firstIndex(of: $0)!) })
    }
  }

  private mutating func putTexts(_ values: [[UInt8]]) {
    if numbers.below(3) > 0 { return putList(values) }
    note("texts", 4)
    var entries = Array(Set(values)).sorted { $0.lexicographicallyPrecedes($1) }
    entries.shuffle(using: &numbers)
    writer.put(varint: entries.count)
    putList(entries)
    putStream(values.map { Int64(entries.firstIndex(of: $0)!) })
  }

  private mutating func putList(_ entries: [[UInt8]], isInner: Bool = false) {
    let form = UInt8(1 + numbers.below(isInner ? 2 : 4))
    if form == 4 { return putItems(entries) }
    if form == 3 {
      note("texts", 3)
      var shared: [Int64] = []
      var previous: [UInt8] = []
      for entry in entries {
        let common = zip(previous, entry).prefix { $0 == $1 }.count
        // Less than there is in common is allowed.
        shared.append(Int64(numbers.below(4) == 0 ? numbers.below(common + 1) : common))
        previous = entry
      }
      putStream(shared)
      return putList(zip(entries, shared).map { Array($0[Int($1)...]) }, isInner: true)
    }
    if form == 2,
      let separator = (0..<256).map({ UInt8($0) }).shuffled(using: &numbers).first(where: { byte in
        entries.allSatisfy { !$0.contains(byte) }
      })
    {
      note(isInner ? "inner texts" : "texts", 2)
      writer.put(separator)
      for entry in entries { writer.put(bytes: entry + [separator]) }
      return
    }
    note(isInner ? "inner texts" : "texts", 1)
    putStream(entries.map { Int64($0.count) })
    writer.put(bytes: entries.joined())
  }
}

extension OddPayload {
  /// Entries as items with a byte between them, the items in classes that mean nothing.
  private mutating func putItems(_ entries: [[UInt8]]) {
    note("texts", 5)
    let joint = entries.joined().randomElement(using: &numbers) ?? 7
    let items = entries.map { $0.split(separator: joint, omittingEmptySubsequences: false).map(Array.init) }
    let classCount = 1 + numbers.below(4)
    let classes = items.joined().map { _ in numbers.below(classCount) }
    writer.put(joint)
    putStream(items.map { Int64($0.count) })
    writer.put(varint: classCount)
    putStream(classes.map { Int64($0) })
    for number in 0..<classCount {
      putList(zip(items.joined(), classes).filter { $0.1 == number }.map(\.0), isInner: true)
    }
  }
}

// MARK: Values that follow from other slots

extension OddPayload {
  /// The payload of columns, told by what others say in the same rows. nil where no relation has these types.
  mutating func payload(_ columns: [Column], from sources: [(slot: Int, columns: [Column])]) -> [UInt8]? {
    let type = columns[0].type
    let isInteger = type.integerRange != nil
    let isFloating = [.double, .date, .float].contains(type)
    let types = sources.map { $0.columns[0].type }
    if ItemRelation.types.contains(type), types.count == 1, ItemRelation.types.contains(types[0]) {
      return itemPayload(columns, sources[0])
    }
    guard isInteger || isFloating, !types.contains(.decimal), !types.contains(.uuid) else { return nil }
    let allIntegers = isInteger && types.allSatisfy { $0.integerRange != nil }
    var kinds: [ColumnRelation.Kind] = [.lastOfKey, .nearLastOfKey]
    if allIntegers {
      kinds +=
        ColumnRelation.Sum.allCases.map { .sum($0) } + [
          .quotient(Int64(2 + numbers.below(99))), .remainder(7),
        ]
    }
    kinds = kinds.filter { $0.sourceCount ?? sources.count == sources.count }
    let kind = kinds[numbers.below(kinds.count)]
    writer = RecordWriter()
    writer.put(UInt8(16))
    writer.put(varint: sources.count)
    for source in sources { writer.put(varint: source.slot) }
    note("relation", kind.code)
    switch kind {
    case .sum(let sum): note("sum", sum.rawValue)
    case .quotient(let divisor), .remainder(let divisor): writer.put(varint: divisor)
    default: break
    }
    let rows = columns.flatMap { column in (0..<column.count).map { (column, $0) } }
    let others = sources.map { source in
      source.columns.flatMap { column in (0..<column.count).map { (column, $0) } }
    }
    putNulls(rows.map { $0.0.isNull($0.1) }, like: others.map { $0.map { $0.0.isNull($0.1) } })
    let present = rows.indices.filter { !rows[$0].0.isNull(rows[$0].1) }
    if present.isEmpty { return writer.bytes }
    var values = present.map { row in
      isInteger
        ? rows[row].0.integer(rows[row].1) : Int64(bitPattern: OddPayload.pattern(rows[row].0, rows[row].1))
    }
    if isFloating {
      let whole = values.map { OddPayload.whole($0, type == .float) }
      let isWhole = whole.allSatisfy { $0 != nil }
      note("view", isWhole ? 1 : 0)
      if isWhole { values = whole.map { $0! } }
    }
    if kind.isKeyed {
      putKeyed(values, keys: present.map { row in others.map { OddPayload.key($0[row].0, $0[row].1) } }, kind)
    } else {
      let inputs = others.map { other in present.map { other[$0].0.integer(other[$0].1) } }
      var predictions = [Int64](repeating: 0, count: values.count)
      kind.predictions(inputs[0], inputs.count > 1 ? inputs[1] : nil, values.count, into: &predictions)
      putStream(zip(values, predictions).map { $0 &- $1 })
    }
    return writer.bytes
  }

  /// Texts as items of another's, some of them listed though they are items.
  private mutating func itemPayload(_ columns: [Column], _ source: (slot: Int, columns: [Column])) -> [UInt8]
  {
    let joint = [UInt8(ascii: "a"), 0, UInt8(ascii: "-"), 0xC3][numbers.below(4)]
    writer = RecordWriter()
    writer.put(UInt8(16))
    writer.put(varint: 1)
    writer.put(varint: source.slot)
    note("relation", 6)
    writer.put(joint)
    let rows = columns.flatMap { column in (0..<column.count).map { (column, $0) } }
    let others = source.columns.flatMap { column in (0..<column.count).map { (column, $0) } }
    putNulls(rows.map { $0.0.isNull($0.1) }, like: [others.map { $0.0.isNull($0.1) }])
    let present = rows.indices.filter { !rows[$0].0.isNull(rows[$0].1) }
    if present.isEmpty { return writer.bytes }
    var found: [Int64] = []
    var listed: [[UInt8]] = []
    for row in present {
      let value = Array(rows[row].0.bytes(rows[row].1))
      let items = Array(others[row].0.bytes(others[row].1)).split(
        separator: joint, omittingEmptySubsequences: false)
      let number = numbers.below(5) == 0 ? nil : items.lastIndex { Array($0) == value }
      found.append(Int64(number.map { $0 + 1 } ?? 0))
      itemCount += number == nil ? 0 : 1
      if number == nil { listed.append(value) }
    }
    putStream(found)
    if !listed.isEmpty { putList(listed) }
    return writer.bytes
  }

  /// The whole number that a pattern comes back from.
  private static func whole(_ pattern: Int64, _ isFloat: Bool) -> Int64? {
    let x =
      isFloat
      ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: pattern)))
      : Double(bitPattern: UInt64(bitPattern: pattern))
    guard abs(x) < 0x1p53, x == x.rounded(), !(x == 0 && x.sign == .minus) else { return nil }
    return Int64(x)
  }

  private static func key(_ column: Column, _ row: Int) -> [UInt8] {
    switch column.type {
    case .string, .uri, .data, .transformable: return Array(column.bytes(row))
    case .double, .date, .float: return withUnsafeBytes(of: pattern(column, row)) { Array($0) }
    default: return withUnsafeBytes(of: column.integer(row)) { Array($0) }
    }
  }

  private mutating func putKeyed(_ values: [Int64], keys: [[[UInt8]]], _ kind: ColumnRelation.Kind) {
    var last: [[[UInt8]]: Int64] = [:]
    var met: [Int64] = []
    var listed: [Int64] = []
    for (value, key) in zip(values, keys) {
      if let before = last[key] {
        // A value may be listed though it is the last one.
        let isListed = before != value || numbers.below(4) == 0
        met.append(kind == .lastOfKey ? (isListed ? 1 : 0) : value &- before)
        if kind == .lastOfKey, isListed { listed.append(value) }
      } else {
        listed.append(value)
      }
      last[key] = value
    }
    putStream(met)
    putStream(listed)
  }

  private mutating func putNulls(_ isNull: [Bool], like sources: [[Bool]]) {
    if numbers.below(2) == 0 { return putNulls(isNull) }
    let number = numbers.below(sources.count)
    var others = isNull.indices.filter { isNull[$0] != sources[number][$0] }
    // A row that comes twice is turned twice.
    if others.count + 2 <= isNull.count { others += [0, 0] }
    others.shuffle(using: &numbers)
    note("nulls", 5)
    writer.put(varint: number)
    writer.put(varint: others.count)
    putStream(others.map(Int64.init))
  }
}

extension ArchiveParts {
  /// Writes all blocks of columns that the newest footer names anew, in odd forms. Throws where one can't be
  /// read. Without `sharing` each group gets blocks of its own, with the parts that it uses; `relating` says
  /// how many of ten columns are then told by others of the group.
  mutating func makeBlocksOdd(_ odd: inout OddPayload, sharing: Bool = true, relating: Int = 0) throws {
    var moved: [UInt64: (offset: UInt64, length: UInt64)] = [:]
    for s in footer.splices.indices {
      for g in footer.splices[s].groups.indices {
        let old = footer.splices[s].groups[g]
        // What the blocks say, before any of them is changed.
        let columns = try old.references.indices.map { place in
          try old.references[place].flags == 0 ? [] : stored(old, place, Int(footer.splices[s].table))
        }
        var depths = [Int](repeating: 0, count: columns.count)
        for place in columns.indices where old.references[place].flags != 0 {
          let header = try BlockHeader.read(block(old.references[place])[..<32]).header
          // Where values are kept apart, the list of them stays as it is, and nothing follows from the column.
          if header.encoding == 1 {
            depths[place] = 3
            continue
          }
          if !sharing {
            let part = try own(columns, place, old, header, relating, &odd, &depths)
            footer.splices[s].groups[g].references[place] = part
            continue
          }
          let offset = old.references[place].offset
          if moved[offset] == nil {
            moved[offset] = append(
              ArchiveParts.odd(odd.payload(columns[place]), columns[place], like: header, &odd))
          }
          footer.splices[s].groups[g].references[place].flags &= ~64
          (
            footer.splices[s].groups[g].references[place].offset,
            footer.splices[s].groups[g].references[place].length
          ) =
            moved[offset]!
        }
      }
    }
    if odd.used.contains("relation 6") { self.header.incompatible |= ArchiveHeader.Feature.items }
  }

  /// A block of its own for a column of a group, with the parts that it uses, and the reference to it.
  private mutating func own(
    _ columns: [[Column]], _ place: Int, _ group: FooterParts.Group, _ old: BlockHeader, _ relating: Int,
    _ odd: inout OddPayload, _ depths: inout [Int]
  ) throws -> FooterParts.Reference {
    func used(_ place: Int) -> [Column] {
      let first = group.references[place].flags & 16 == 0 ? 0 : Int(group.references[place].part)
      return Array(columns[place][first..<first + Int(group.chunkCount)])
    }
    var header = old
    header.group = UInt32(group.id)
    var reference = group.references[place]
    reference.flags &= ~112
    let slotCount = columns.count - 2
    // Only slots before it, so that there are no circles.
    let candidates = (0..<min(place, slotCount)).filter { depths[$0] < 3 && group.references[$0].flags != 0 }
    var payload: [UInt8]?
    if place < slotCount, !candidates.isEmpty, odd.numbers.below(10) < relating {
      let sources = (0..<1 + odd.numbers.below(3)).map { _ in candidates[odd.numbers.below(candidates.count)]
      }
      payload = odd.payload(used(place), from: sources.map { ($0, used($0)) })
      if payload != nil {
        reference.flags |= 64
        reference.sources = sources.map { UInt64($0) }
        depths[place] = sources.map { depths[$0] + 1 }.max()!
      }
    }
    let place = append(ArchiveParts.odd(payload ?? odd.payload(used(place)), used(place), like: header, &odd))
    (reference.offset, reference.length) = place
    return reference
  }

  /// The columns of all parts of a block.
  private func stored(_ group: FooterParts.Group, _ place: Int, _ table: Int) throws -> [Column] {
    let bytes = block(group.references[place])
    let header = try BlockHeader.read(bytes[..<32]).header
    let types = ArchiveTables.types(table, schema)
    return try ColumnBlock.decode(
      header, Array(bytes[32...]), type: ArchiveTables.type(ofPlace: place, types), decoder: ColumnDecoder()
    ) { slot, _ in try stored(group, slot, table) }
  }

  /// A block of columns with a payload, deflated or not.
  static func odd(
    _ payload: [UInt8], _ columns: [Column], like old: BlockHeader, _ odd: inout OddPayload
  ) -> [UInt8] {
    var writer = RecordWriter()
    writer.put(UInt8(columns.count))
    for column in columns { writer.put(UInt16(column.count)) }
    var header = old
    header.rows = UInt32(columns.reduce(0) { $0 + $1.count })
    header.codec = 0
    header.rawLength = UInt32(payload.count)
    let deflater = BlockDeflater()
    let deflated = payload.withUnsafeBufferPointer { buffer in
      withExtendedLifetime(deflater) {
        deflater.deflate(buffer, level: 9, limit: payload.count + 100).map { Array($0) }
      }
    }
    if let deflated, odd.numbers.below(2) == 0 {
      header.codec = 1
      writer.put(bytes: deflated)
    } else {
      writer.put(bytes: payload)
    }
    header.storedLength = UInt32(writer.bytes.count)
    return header.bytes(over: writer.bytes) + writer.bytes
  }
}
