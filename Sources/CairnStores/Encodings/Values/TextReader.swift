// Reads strings, URIs, data and transformable values.

import CairnModel
import Foundation

struct TextReader {
  let reader: IntegerReader
  var allowsFronts = true

  /// How many bytes a list of entries with common fronts may have, given the length of what it is made of.
  static func expansionLimit(_ byteCount: Int) -> Int { 64 * byteCount + 65_536 }

  /// A dictionary becomes the columns' own: their rows aren't copied out of it.
  func read(_ assembly: ColumnAssembly, from source: inout ByteSource) throws -> [Column] {
    if assembly.valueCount == 0 {
      let none = TextList(capacity: assembly.rowCount, scratch: reader.scratch)
      return spread(none, assembly)
    }
    let byte = try source.byte()
    guard TextForm(rawValue: byte) == .dictionary else {
      return spread(
        try readList(assembly.valueCount, byte, room: assembly.rowCount, from: &source), assembly)
    }
    let entryCount = try source.count(from: 1, upTo: assembly.valueCount)
    let entries = try readList(entryCount, try source.byte(), room: entryCount, from: &source)
    let codes = reader.scratch.take(Int64.self, assembly.rowCount)
    try reader.readIndexes(assembly.valueCount, below: entryCount, from: &source, into: codes)
    return coded(entries, codes, assembly)
  }

  // MARK: Lists

  /// A list of `n` entries, whose memory has places for `room`. One that is part of another list has simple
  /// forms only.
  func readList(_ n: Int, _ byte: UInt8, room: Int, isInner: Bool = false, from source: inout ByteSource)
    throws
    -> TextList
  {
    switch TextForm(rawValue: byte) {
    case .lengths: return try readLengths(n, room: room, from: &source)
    case .separated: return try readSeparated(n, room: room, from: &source)
    case .fronts where !isInner && allowsFronts: return try readFronts(n, room: room, from: &source)
    case .items where !isInner: return try readItems(n, room: room, from: &source)
    default: throw PayloadError(what: "a list has no form \(byte) here", byteOffset: source.offset - 1)
    }
  }

  private func readLengths(_ n: Int, room: Int, from source: inout ByteSource) throws -> TextList {
    let list = TextList(capacity: room, scratch: reader.scratch)
    try reader.readIndexes(n, below: source.count + 1, from: &source, into: list.lengths)
    var byteCount = 0
    for i in 0..<n { byteCount += Int(list.lengths[i]) }
    var place = try source.take(byteCount)
    for i in 0..<n {
      list.starts[i] = place
      place += Int(list.lengths[i])
    }
    return TextList(starts: list.starts, lengths: list.lengths, count: n, byteCount: byteCount)
  }

  private func readSeparated(_ n: Int, room: Int, from source: inout ByteSource) throws -> TextList {
    let list = TextList(capacity: room, scratch: reader.scratch)
    let separator = Int32(try source.byte())
    var place = source.base + source.offset
    let end = source.base + source.count
    var byteCount = 0
    for i in 0..<n {
      guard place < end, let found = memchr(place, separator, end - place) else {
        throw source.error("a list of \(n) entries has only \(i) separators")
      }
      let length = UnsafeRawPointer(found) - UnsafeRawPointer(place)
      list.starts[i] = place
      list.lengths[i] = Int64(length)
      byteCount += length
      place += length + 1
    }
    _ = try source.take(byteCount + n)
    return TextList(starts: list.starts, lengths: list.lengths, count: n, byteCount: byteCount)
  }

  private func readFronts(_ n: Int, room: Int, from source: inout ByteSource) throws -> TextList {
    let start = source.offset
    let shared = reader.scratch.take(Int64.self, n)
    try reader.read(n, from: &source, into: shared)
    let rest = try readList(n, try source.byte(), room: room, isInner: true, from: &source)
    var byteCount = 0
    var previous: Int64 = 0
    let limit = TextReader.expansionLimit(source.count)
    for i in 0..<n {
      guard shared[i] >= 0, shared[i] <= previous else {
        throw PayloadError(what: "an entry shares more than the one before has", byteOffset: start)
      }
      previous = shared[i] + rest.lengths[i]
      byteCount += Int(previous)
      guard byteCount <= limit else {
        throw PayloadError(what: "a list grows to more than \(limit) bytes", byteOffset: start)
      }
    }
    var place = reader.scratch.take(UInt8.self, byteCount)
    for i in 0..<n {
      let common = Int(shared[i])
      if common > 0 { place.update(from: rest.starts[i - 1], count: common) }
      (place + common).update(from: rest.starts[i], count: Int(rest.lengths[i]))
      rest.starts[i] = UnsafePointer(place)
      rest.lengths[i] += Int64(common)
      place += Int(rest.lengths[i])
    }
    return TextList(starts: rest.starts, lengths: rest.lengths, count: n, byteCount: byteCount)
  }

  // MARK: Columns

  /// Columns with one entry a row.
  func spread(_ list: TextList, _ assembly: ColumnAssembly) -> [Column] {
    let (starts, lengths) = (list.starts, list.lengths)
    if list.count == 0 {
      for row in 0..<assembly.rowCount {
        starts[row] = TextList.nowhere
        lengths[row] = 0
      }
    } else {
      assembly.mask.expand(starts, filler: TextList.nowhere)
      assembly.mask.expand(lengths, filler: 0)
    }
    return assembly.parts { start, count, nulls in
      Column.raw(
        type: assembly.type, count: count, nulls: nulls,
        entries: TextReader.pool(starts + start, lengths + start, count))
    }
  }

  private static func pool(
    _ starts: UnsafePointer<UnsafePointer<UInt8>>, _ lengths: UnsafePointer<Int64>, _ count: Int
  ) -> BytesPool {
    var byteCount = 0
    for i in 0..<count { byteCount += Int(lengths[i]) }
    return BytesPool.filled(entryCount: count, byteCount: byteCount) { ends, bytes in
      var end = 0
      for i in 0..<count {
        let length = Int(lengths[i])
        (bytes + end).update(from: starts[i], count: length)
        end += length
        ends[i] = UInt64(end)
      }
    }
  }

  /// Columns of codes that share the dictionary. Its entry 0 is empty and stands where rows are null; it is
  /// the empty string's as well.
  private func coded(_ entries: TextList, _ codes: UnsafeMutablePointer<Int64>, _ assembly: ColumnAssembly)
    -> [Column]
  {
    let numbers = reader.scratch.take(Int64.self, entries.count)
    var next = 1
    for i in 0..<entries.count {
      numbers[i] = entries.lengths[i] == 0 ? 0 : Int64(next)
      next += entries.lengths[i] == 0 ? 0 : 1
    }
    let dictionary = BytesPool.filled(entryCount: next, byteCount: entries.byteCount) { ends, bytes in
      ends[0] = 0
      var end = 0
      for i in 0..<entries.count where entries.lengths[i] > 0 {
        (bytes + end).update(from: entries.starts[i], count: Int(entries.lengths[i]))
        end += Int(entries.lengths[i])
        ends[Int(numbers[i])] = UInt64(end)
      }
    }
    for i in 0..<assembly.valueCount { codes[i] = numbers[Int(codes[i])] }
    assembly.mask.expand(codes, filler: 0)
    return assembly.parts { start, count, nulls in
      Column.raw(type: assembly.type, count: count, nulls: nulls, dictionary: dictionary) { target in
        for i in 0..<count { target[i] = UInt16(truncatingIfNeeded: codes[start + i]) }
      }
    }
  }
}
