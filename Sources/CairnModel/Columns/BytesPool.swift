// The bytes of strings and data, end to end, with the places where each entry ends.

import Foundation

/// Entries of bytes, numbered from 0, that are only ever added to.
///
/// Sendable: an entry never changes once added, and memory is never moved: a pool that is full is copied into
/// a larger one. A reader only asks for entries whose number reached it through a published column, that is
/// after they were written. `entryCount`, `byteCount` and `lookup` belong to the one writer (the holder of
/// the store's write lock, or a builder's owner).
public final class BytesPool: @unchecked Sendable {
  @usableFromInline let ends: UnsafeMutablePointer<UInt64>
  @usableFromInline let bytes: UnsafeMutablePointer<UInt8>
  let entryCapacity: Int
  let byteCapacity: Int
  private(set) var entryCount = 0
  private(set) var byteCount = 0
  /// Hash table from bytes to entry number + 1; empty until `intern` is first used.
  private var lookup: [UInt32] = []

  init(entryCapacity: Int, byteCapacity: Int) {
    self.entryCapacity = max(entryCapacity, 1)
    self.byteCapacity = max(byteCapacity, 1)
    ends = .allocate(capacity: self.entryCapacity)
    bytes = .allocate(capacity: self.byteCapacity)
  }

  deinit {
    ends.deallocate()
    bytes.deallocate()
  }

  /// The bytes of an entry; valid while the pool is held.
  @inlinable @inline(__always)
  func entry(_ index: Int) -> UnsafeBufferPointer<UInt8> {
    let start = index == 0 ? 0 : Int(truncatingIfNeeded: ends[index - 1])
    return UnsafeBufferPointer(start: bytes + start, count: Int(truncatingIfNeeded: ends[index]) - start)
  }

  func hasRoom(forEntries entries: Int, bytes count: Int) -> Bool {
    entryCount + entries <= entryCapacity && byteCount + count <= byteCapacity
  }

  /// A larger copy of the first `entries` entries, with room for `moreEntries` and `moreBytes` at least.
  func grown(entries: Int, moreEntries: Int, moreBytes: Int) -> BytesPool {
    let used = entries == 0 ? 0 : Int(ends[entries - 1])
    let copy = BytesPool(
      entryCapacity: max(entries + moreEntries, entries * 2, 16),
      byteCapacity: max(used + moreBytes, used * 2, 64))
    copy.ends.update(from: ends, count: entries)
    copy.bytes.update(from: bytes, count: used)
    copy.entryCount = entries
    copy.byteCount = used
    return copy
  }

  /// Forgets entries that were added and never published.
  func truncate(to entries: Int) {
    guard entries < entryCount else { return }
    entryCount = entries
    byteCount = entries == 0 ? 0 : Int(ends[entries - 1])
    lookup = []
  }

  /// Counts entries that were written in one go into a new pool.
  func setFilled(entryCount: Int, byteCount: Int) {
    self.entryCount = entryCount
    self.byteCount = byteCount
  }

  /// Adds an entry. The caller has made sure of the room.
  func append(_ new: UnsafeBufferPointer<UInt8>) {
    if new.count > 0 { (bytes + byteCount).update(from: new.baseAddress!, count: new.count) }
    byteCount += new.count
    ends[entryCount] = UInt64(byteCount)
    entryCount += 1
  }

  /// The number of the entry with these bytes, added if it isn't there yet; nil if there is no room for it.
  func intern(_ new: UnsafeBufferPointer<UInt8>) -> Int? {
    if lookup.count < 2 * (entryCount + 1) { rebuildLookup() }
    let mask = lookup.count - 1
    var place = BytesPool.hash(new) & mask
    while lookup[place] != 0 {
      let index = Int(lookup[place]) - 1
      let old = entry(index)
      if old.count == new.count, new.count == 0 || memcmp(old.baseAddress!, new.baseAddress!, new.count) == 0
      {
        return index
      }
      place = (place + 1) & mask
    }
    guard hasRoom(forEntries: 1, bytes: new.count) else { return nil }
    append(new)
    lookup[place] = UInt32(entryCount)
    return entryCount - 1
  }

  private func rebuildLookup() {
    var size = 16
    while size < 4 * (entryCount + 1) { size *= 2 }
    lookup = [UInt32](repeating: 0, count: size)
    for index in 0..<entryCount {
      var place = BytesPool.hash(entry(index)) & (size - 1)
      while lookup[place] != 0 { place = (place + 1) & (size - 1) }
      lookup[place] = UInt32(index + 1)
    }
  }

  /// Eight bytes a step; quality matters little, since the tables are small and compared byte by byte.
  private static func hash(_ buffer: UnsafeBufferPointer<UInt8>) -> Int {
    Int(truncatingIfNeeded: hash64(buffer)) & Int.max
  }

  static func hash64(_ buffer: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var h: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(buffer.count)
    let raw = UnsafeRawBufferPointer(buffer)
    var i = 0
    while i + 8 <= raw.count {
      h = (h ^ raw.loadUnaligned(fromByteOffset: i, as: UInt64.self)) &* 0xFF51_AFD7_ED55_8CCD
      h ^= h >> 32
      i += 8
    }
    var tail: UInt64 = 0
    while i < raw.count {
      tail = tail << 8 | UInt64(raw[i])
      i += 1
    }
    h = (h ^ tail) &* 0xC4CE_B9FE_1A85_EC53
    return h ^ (h >> 29)
  }

  /// What the entries take in memory. The hash table is the writer's, so a reader mustn't ask for its size.
  var footprint: Int { entryCapacity * 8 + byteCapacity }
}
