// Memory that an encoder or a decoder uses again from block to block: touching fresh memory costs more than
// most encodings do.

/// A stack of memory. Confined to its encoder or decoder.
final class Scratch {
  private var slabs: [UnsafeMutableRawBufferPointer] = []
  private var slab = 0
  private var used = 0
  private static let slabSize = 1 << 20
  /// What is kept from block to block; more than that, which a block of huge strings took, is given back.
  private static let keptSize = 8 << 20

  deinit { for slab in slabs { slab.deallocate() } }

  /// A place in the stack.
  struct Mark {
    fileprivate let slab: Int
    fileprivate let used: Int
  }

  var mark: Mark { Mark(slab: slab, used: used) }

  /// Gives back what was taken since `mark`.
  func release(to mark: Mark) {
    slab = mark.slab
    used = mark.used
    guard slab == 0, used == 0 else { return }
    var kept = 0
    while kept < slabs.count, slabs[..<(kept + 1)].reduce(0, { $0 + $1.count }) <= Scratch.keptSize {
      kept += 1
    }
    for slab in slabs[kept...] { slab.deallocate() }
    slabs.removeSubrange(kept...)
  }

  /// Memory for `count` values, which isn't cleared. Valid until a mark from before is released.
  func take<T: BitwiseCopyable>(_ type: T.Type, _ count: Int) -> UnsafeMutablePointer<T> {
    let size = (max(count, 1) * MemoryLayout<T>.stride + 31) & ~15
    while slab < slabs.count, used + size > slabs[slab].count {
      slab += 1
      used = 0
    }
    if slab == slabs.count {
      slabs.append(.allocate(byteCount: max(size, Scratch.slabSize), alignment: 16))
      used = 0
    }
    let memory = slabs[slab].baseAddress! + used
    used += size
    return memory.assumingMemoryBound(to: T.self)
  }

  /// The numbers below `count` in an order, in which no two may be equal.
  func order(_ count: Int, by precedes: (Int, Int) -> Bool) -> UnsafeMutablePointer<Int64> {
    let memory = take(Int64.self, count)
    for i in 0..<count { memory[i] = Int64(i) }
    var buffer = UnsafeMutableBufferPointer(start: memory, count: count)
    buffer.sort { precedes(Int(truncatingIfNeeded: $0), Int(truncatingIfNeeded: $1)) }
    return memory
  }
}
