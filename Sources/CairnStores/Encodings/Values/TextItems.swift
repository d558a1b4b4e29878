// Strings that are lists themselves, such as names joined by commas: their items, sorted into classes by
// script, so that deflate finds Greek beside Greek.

struct TextItems {
  let joint: UInt8
  /// How many items each entry has.
  private let counts: UnsafeMutablePointer<Int64>
  /// Each item's class.
  private let classes: UnsafeMutablePointer<Int64>
  /// For each class its items, in order.
  private let lists: [TextList]
  private let entryCount: Int
  private let itemCount: Int

  /// nil where there is only one class.
  init?(_ list: TextList, joint: UInt8, scratch: Scratch) {
    self.joint = joint
    entryCount = list.count
    var items = list.count
    for i in 0..<list.count {
      for byte in list[i] where byte == joint { items += 1 }
    }
    itemCount = items
    counts = scratch.take(Int64.self, list.count)
    classes = scratch.take(Int64.self, items)
    let all = TextList(capacity: items, scratch: scratch)
    var sizes = Array(repeating: 0, count: TextItems.scriptCount)
    var next = 0
    for i in 0..<list.count {
      let first = next
      var rest = list[i]
      while true {
        let end = rest.firstIndex(of: joint) ?? rest.endIndex
        let item = UnsafeBufferPointer(rebasing: rest[..<end])
        let script = TextItems.script(of: item)
        all.starts[next] = item.baseAddress ?? TextList.nowhere
        all.lengths[next] = Int64(item.count)
        classes[next] = Int64(script)
        sizes[script] += 1
        next += 1
        if end == rest.endIndex { break }
        rest = UnsafeBufferPointer(rebasing: rest[(end + 1)...])
      }
      counts[i] = Int64(next - first)
    }
    // Classes are numbered without those that have no item.
    var numbers: [Int64] = []
    var lists: [TextList] = []
    for size in sizes {
      numbers.append(Int64(lists.count))
      if size > 0 { lists.append(TextList(capacity: size, scratch: scratch)) }
    }
    guard lists.count > 1 else { return nil }
    var filled = Array(repeating: 0, count: lists.count)
    for item in 0..<items {
      let number = Int(numbers[Int(classes[item])])
      classes[item] = Int64(number)
      lists[number].starts[filled[number]] = all.starts[item]
      lists[number].lengths[filled[number]] = all.lengths[item]
      filled[number] += 1
    }
    self.lists = lists.indices.map {
      TextList(starts: lists[$0].starts, lengths: lists[$0].lengths, count: filled[$0], byteCount: 0)
    }
  }

  func write(to sink: ByteSink, _ chooser: IntegerChooser) {
    sink.append(TextForm.items.rawValue)
    sink.append(joint)
    chooser.write(counts, entryCount, to: sink)
    sink.append(count: lists.count)
    chooser.write(classes, itemCount, to: sink)
    for list in lists {
      // No item has the joint in it. Each takes a byte at least, which bounds how many there are.
      sink.append(TextForm.separated.rawValue)
      sink.append(joint)
      for i in 0..<list.count {
        sink.append(list[i])
        sink.append(joint)
      }
    }
  }

  /// The byte that may join items: of those that are used so, the one that occurs most; a space only where
  /// no other does. nil where hardly an entry has one.
  static func joint(_ list: TextList) -> UInt8? {
    var counts = Array(repeating: 0, count: 256)
    counts.withUnsafeMutableBufferPointer { counts in
      for i in 0..<list.count {
        for byte in list[i] { counts[Int(byte)] += 1 }
      }
    }
    let joints = "|;,/\n\t".utf8.max { counts[Int($0)] < counts[Int($1)] }!
    for joint in [joints, 0x20] where counts[Int(joint)] * 2 >= list.count && list.count > 0 { return joint }
    return nil
  }

  private static let scriptCount = 46

  /// A number for the script of the first character beyond ASCII, told by its first two bytes; 0 where there
  /// is none. Readers don't depend on it.
  private static func script(of item: UnsafeBufferPointer<UInt8>) -> Int {
    guard let place = item.firstIndex(where: { $0 >= 0xC0 }) else { return 0 }
    let second = place + 1 < item.count ? Int(item[place + 1]) & 0x3F : 0
    switch item[place] {
    case 0xC0...0xCB: return 1  // Latin
    case 0xCC...0xCF: return 2  // Greek
    case 0xD0...0xD3: return 3  // Cyrillic
    case 0xD4...0xD5: return 4  // Armenian
    case 0xD6...0xD7: return 5  // Hebrew
    case 0xD8...0xDB: return 6  // Arabic
    case 0xDC...0xDF: return 7
    case 0xE0: return 8 + second / 4  // the scripts of India, two second bytes each
    case 0xE1: return 24 + second / 4
    case 0xE2: return 40
    case 0xE3: return 41  // kana
    case 0xE4...0xE9: return 42  // Han
    case 0xEA...0xED: return 43  // Hangul
    case 0xEE...0xEF: return 44
    default: return 45
    }
  }
}

extension TextReader {
  /// Reads entries of joined items: `n` of them into a list that has places for `room`.
  func readItems(_ n: Int, room: Int, from source: inout ByteSource) throws -> TextList {
    let scratch = reader.scratch
    let start = source.offset
    let joint = try source.byte()
    let counts = scratch.take(Int64.self, n)
    try reader.read(n, from: &source, into: counts)
    var itemCount = 0
    for i in 0..<n {
      guard counts[i] >= 1, counts[i] <= Int64(source.count - itemCount) else {
        throw PayloadError(what: "entries have no items, or more than there are bytes", byteOffset: start)
      }
      itemCount += Int(counts[i])
    }
    let classCount = try source.count(from: 1, upTo: 255)
    let classes = scratch.take(Int64.self, itemCount)
    try reader.readIndexes(itemCount, below: classCount, from: &source, into: classes)
    var sizes = Array(repeating: 0, count: classCount)
    for item in 0..<itemCount { sizes[Int(classes[item])] += 1 }
    var byteCount = itemCount
    let lists = try sizes.map { size in
      let list = try readList(size, try source.byte(), room: size, isInner: true, from: &source)
      byteCount += list.byteCount
      return list
    }
    let entries = TextList(capacity: room, scratch: scratch)
    var place = scratch.take(UInt8.self, byteCount)
    var taken = Array(repeating: 0, count: classCount)
    var item = 0
    for i in 0..<n {
      entries.starts[i] = UnsafePointer(place)
      for k in 0..<Int(counts[i]) {
        if k > 0 {
          place[0] = joint
          place += 1
        }
        let number = Int(classes[item])
        let bytes = lists[number][taken[number]]
        place.update(from: lists[number].starts[taken[number]], count: bytes.count)
        place += bytes.count
        taken[number] += 1
        item += 1
      }
      entries.lengths[i] = Int64(UnsafePointer(place) - entries.starts[i])
    }
    return TextList(
      starts: entries.starts, lengths: entries.lengths, count: n, byteCount: byteCount - n)
  }
}
