// The distinct entries of a list of strings or data, and each entry's number among them.

import CairnModel
import Foundation

struct TextDictionary {
  let entries: TextList
  let codes: UnsafeMutablePointer<Int64>

  /// Distinct entries in the order in which they come; nil where there are more than `limit`.
  init?(_ list: TextList, limit: Int, scratch: Scratch) {
    codes = scratch.take(Int64.self, list.count)
    let starts = scratch.take(UnsafePointer<UInt8>.self, limit + 1)
    let lengths = scratch.take(Int64.self, limit + 1)
    let hashes = scratch.take(UInt64.self, limit + 1)
    var bits = 4
    while 1 << bits < 2 * limit + 2 { bits += 1 }
    let mask = 1 << bits - 1
    let table = scratch.take(Int32.self, mask + 1)
    table.update(repeating: 0, count: mask + 1)
    var found = 0
    var byteCount = 0
    for i in 0..<list.count {
      let (start, length) = (list.starts[i], list.lengths[i])
      // The same memory again is the same entry: rows of a column that has a dictionary.
      if i > 0, start == list.starts[i - 1], length == list.lengths[i - 1] {
        codes[i] = codes[i - 1]
        continue
      }
      let hash = TextDictionary.hash(start, Int(length))
      var place = Int(truncatingIfNeeded: hash >> 8) & mask
      while table[place] != 0 {
        let entry = Int(table[place]) - 1
        if hashes[entry] == hash, lengths[entry] == length,
          starts[entry] == start || memcmp(starts[entry], start, Int(length)) == 0
        {
          break
        }
        place = (place + 1) & mask
      }
      if table[place] == 0 {
        guard found < limit else { return nil }
        starts[found] = start
        lengths[found] = length
        hashes[found] = hash
        byteCount += Int(length)
        found += 1
        table[place] = Int32(found)
      }
      codes[i] = Int64(table[place]) - 1
    }
    entries = TextList(starts: starts, lengths: lengths, count: found, byteCount: byteCount)
  }

  private init(entries: TextList, codes: UnsafeMutablePointer<Int64>) {
    self.entries = entries
    self.codes = codes
  }

  /// The same dictionary with its entries in the order of their bytes.
  func sorted(rows: Int, scratch: Scratch) -> TextDictionary {
    let order = scratch.order(entries.count) { a, b in
      let (left, right) = (entries[a], entries[b])
      let common = memcmp(left.baseAddress!, right.baseAddress!, min(left.count, right.count))
      return common == 0 ? left.count < right.count : common < 0
    }
    return reordered(order, rows: rows, scratch: scratch)
  }

  /// The same dictionary with the most frequent entry first; of equally frequent ones the earlier first.
  func byFrequency(rows: Int, scratch: Scratch) -> TextDictionary {
    let frequencies = scratch.take(Int64.self, entries.count)
    frequencies.update(repeating: 0, count: entries.count)
    for row in 0..<rows { frequencies[Int(codes[row])] += 1 }
    let order = scratch.order(entries.count) { a, b in
      frequencies[a] == frequencies[b] ? a < b : frequencies[a] > frequencies[b]
    }
    return reordered(order, rows: rows, scratch: scratch)
  }

  private func reordered(_ order: UnsafePointer<Int64>, rows: Int, scratch: Scratch) -> TextDictionary {
    let list = TextList(
      starts: scratch.take(UnsafePointer<UInt8>.self, entries.count),
      lengths: scratch.take(Int64.self, entries.count), count: entries.count, byteCount: entries.byteCount)
    let rank = scratch.take(Int64.self, entries.count)
    for i in 0..<entries.count {
      list.starts[i] = entries.starts[Int(order[i])]
      list.lengths[i] = entries.lengths[Int(order[i])]
      rank[Int(order[i])] = Int64(i)
    }
    let newCodes = scratch.take(Int64.self, rows)
    for row in 0..<rows { newCodes[row] = rank[Int(codes[row])] }
    return TextDictionary(entries: list, codes: newCodes)
  }

  /// Eight bytes a step. Bytes decide it alone, so that the order of nothing depends on a run's seed.
  private static func hash(_ start: UnsafePointer<UInt8>, _ count: Int) -> UInt64 {
    var h: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(count)
    let raw = UnsafeRawPointer(start)
    var i = 0
    while i + 8 <= count {
      h = (h ^ (raw + i).loadUnaligned(as: UInt64.self)) &* 0xFF51_AFD7_ED55_8CCD
      h ^= h >> 32
      i += 8
    }
    var tail: UInt64 = 0
    while i < count {
      tail = tail << 8 | UInt64(start[i])
      i += 1
    }
    h = (h ^ tail) &* 0xC4CE_B9FE_1A85_EC53
    return h ^ (h >> 29)
  }
}
