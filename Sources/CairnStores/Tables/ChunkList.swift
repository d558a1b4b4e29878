// The chunks of a table in the order of their keys, as a persistent vector of two levels: a commit copies one
// page of references and the list of pages, not the whole.

import CairnModel

/// Chunks with ascending, disjoint ranges of keys. A value; versions share their pages.
struct ChunkList: Sendable {
  static let pageSize = 64
  /// A page is split when it has more chunks than this.
  static let longestPage = 2 * pageSize

  private final class Page: Sendable {
    let chunks: [Chunk]
    let firstKeys: [Int64]

    init(_ chunks: [Chunk]) {
      self.chunks = chunks
      firstKeys = chunks.map(\.firstKey)
    }
  }

  /// The place of a chunk in one version of the list.
  struct Position: Comparable {
    let page: Int
    let index: Int

    static func < (a: Position, b: Position) -> Bool { (a.page, a.index) < (b.page, b.index) }
  }

  private var pages: [Page] = []
  private var firstKeys: [Int64] = []

  init() {}

  /// Chunks in the order of their keys.
  init(_ chunks: [Chunk]) {
    pages = stride(from: 0, to: chunks.count, by: ChunkList.pageSize).map {
      Page(Array(chunks[$0..<min($0 + ChunkList.pageSize, chunks.count)]))
    }
    firstKeys = pages.map { $0.firstKeys[0] }
  }

  var isEmpty: Bool { pages.isEmpty }

  var last: Chunk? { pages.last?.chunks.last }

  var all: [Chunk] {
    if pages.count == 1 { return pages[0].chunks }
    return pages.flatMap(\.chunks)
  }

  var pageCount: Int { pages.count }

  var count: Int { pages.reduce(0) { $0 + $1.chunks.count } }

  /// The chunks of some places, counted from the first. Costs a look at each page, as the two below.
  subscript(range: Range<Int>) -> [Chunk] {
    var result: [Chunk] = []
    var start = 0
    for page in pages {
      let own = range.clamped(to: start..<start + page.chunks.count)
      if !own.isEmpty { result += page.chunks[own.lowerBound - start..<own.upperBound - start] }
      start += page.chunks.count
    }
    return result
  }

  /// Where two versions of a list differ: these places of the older one became those of this one. Empty where they
  /// don't. Pages that both have are passed over as a whole.
  func difference(from old: ChunkList) -> (old: Range<Int>, new: Range<Int>) {
    var first = 0
    var start = 0
    while first < min(pages.count, old.pages.count), pages[first] === old.pages[first] {
      start += pages[first].chunks.count
      first += 1
    }
    var last = 0
    while last < min(pages.count, old.pages.count) - first,
      pages[pages.count - 1 - last] === old.pages[old.pages.count - 1 - last]
    {
      last += 1
    }
    let mine = pages[first..<pages.count - last].flatMap(\.chunks)
    let theirs = old.pages[first..<old.pages.count - last].flatMap(\.chunks)
    let least = min(mine.count, theirs.count)
    var same = 0
    while same < least, mine[same] === theirs[same] { same += 1 }
    var sameEnd = 0
    while sameEnd < least - same, mine[mine.count - 1 - sameEnd] === theirs[theirs.count - 1 - sameEnd] {
      sameEnd += 1
    }
    start += same
    return (start..<start + theirs.count - same - sameEnd, start..<start + mine.count - same - sameEnd)
  }

  /// Puts as many chunks, of the same regions of keys, where those at `range` are.
  mutating func replace(_ range: Range<Int>, with chunks: [Chunk]) {
    precondition(range.count == chunks.count, "\(chunks.count) chunks in the place of \(range.count)")
    var start = 0
    for (index, page) in pages.enumerated() {
      let own = range.clamped(to: start..<start + page.chunks.count)
      if !own.isEmpty {
        var list = page.chunks
        list.replaceSubrange(
          own.lowerBound - start..<own.upperBound - start,
          with: chunks[own.lowerBound - range.lowerBound..<own.upperBound - range.lowerBound])
        pages[index] = Page(list)
      }
      start += page.chunks.count
    }
  }

  subscript(position: Position) -> Chunk { pages[position.page].chunks[position.index] }

  /// The last chunk that begins at or before `key`; nil if all begin after it.
  func position(of key: Int64) -> Position? {
    guard let page = ChunkList.lastIndex(in: firstKeys, notAfter: key),
      let index = ChunkList.lastIndex(in: pages[page].firstKeys, notAfter: key)
    else { return nil }
    return Position(page: page, index: index)
  }

  /// The live row with that key. Costs two binary searches.
  func locate(_ key: Int64) -> (chunk: Chunk, row: Int)? {
    guard let position = position(of: key) else { return nil }
    let chunk = self[position]
    guard let row = chunk.row(of: key), !chunk.isDeleted(row) else { return nil }
    return (chunk, row)
  }

  mutating func append(_ chunk: Chunk) {
    if let page = pages.last, page.chunks.count < ChunkList.pageSize {
      pages[pages.count - 1] = Page(page.chunks + [chunk])
    } else {
      pages.append(Page([chunk]))
      firstKeys.append(chunk.firstKey)
    }
  }

  mutating func replaceLast(_ chunk: Chunk) {
    let page = pages[pages.count - 1]
    pages[pages.count - 1] = Page(page.chunks.dropLast() + [chunk])
    firstKeys[pages.count - 1] = pages[pages.count - 1].firstKeys[0]
  }

  /// Puts `chunks`, which cover the same region of keys, where the chunk at `position` is. An empty
  /// replacement drops it.
  mutating func replace(_ position: Position, with chunks: [Chunk]) {
    var list = pages[position.page].chunks
    list.replaceSubrange(position.index...position.index, with: chunks)
    setPage(position.page, list)
  }

  /// Replaces one page, splitting it where it has become too long.
  private mutating func setPage(_ index: Int, _ list: [Chunk]) {
    let size = list.count <= ChunkList.longestPage ? max(list.count, 1) : ChunkList.pageSize
    let parts = stride(from: 0, to: list.count, by: size).map {
      Page(Array(list[$0..<min($0 + size, list.count)]))
    }
    pages.replaceSubrange(index...index, with: parts)
    firstKeys.replaceSubrange(index...index, with: parts.map { $0.firstKeys[0] })
  }

  static func lastIndex(in keys: [Int64], notAfter key: Int64) -> Int? {
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] <= key { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : low - 1
  }
}
