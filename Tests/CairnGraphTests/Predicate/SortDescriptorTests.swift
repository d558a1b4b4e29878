// Sort descriptors in memory, in fetches, and written.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct SortDescriptorTests {
  @Test func `descriptors know what they were made of, and are equal by it`() {
    let byName = NSSortDescriptor(key: "name", ascending: false, selector: .localizedStandardCompare)
    #expect(byName.key == "name" && !byName.ascending && byName.selector == "localizedStandardCompare:")
    #expect(byName == NSSortDescriptor(key: "name", ascending: false, selector: "localizedStandardCompare:"))
    #expect(byName != NSSortDescriptor(key: "name", ascending: false))
    #expect(byName != NSSortDescriptor(key: "name", ascending: true, selector: .localizedStandardCompare))
    #expect(
      NSSortDescriptor(key: "a", ascending: true)
        == NSSortDescriptor(key: "a", ascending: true, selector: .compare))
    #expect(NSSortDescriptor(key: nil, ascending: true) == NSSortDescriptor(key: "self", ascending: true))
    #expect(Set([byName, byName.copy() as? NSSortDescriptor]).count == 1)
    let reversed = byName.reversedSortDescriptor as? NSSortDescriptor
    #expect(reversed?.ascending == true && reversed?.key == "name" && reversed?.selector == byName.selector)
    let block = NSSortDescriptor(key: "a", ascending: true, comparator: { _, _ in .orderedSame })
    #expect(block == block && block.selector == nil)
    #expect(block != NSSortDescriptor(key: "a", ascending: true, comparator: { _, _ in .orderedSame }))
  }

  @Test func `nil comes first, whatever the rule, and last when descending`() {
    let objects: NSArray = [["v": "b"], [String: String](), ["v": "a"]]
    let rules = [
      NSSortDescriptor(key: "v", ascending: true),
      NSSortDescriptor(key: "v", ascending: true, selector: .localizedCompare),
      NSSortDescriptor(
        key: "v", ascending: true,
        comparator: { a, b in
          (a as? String ?? "") < (b as? String ?? "") ? .orderedAscending : .orderedDescending
        }),
    ]
    for rule in rules {
      let up = objects.sortedArray(using: [rule]).map { ($0 as? [String: String])?["v"] }
      #expect(up == [nil, "a", "b"])
      let down = objects.sortedArray(using: [rule.reversedSortDescriptor as! NSSortDescriptor])
        .map { ($0 as? [String: String])?["v"] }
      #expect(down == ["b", "a", nil])
    }
  }

  @Test func `objects are sorted by paths, by themselves, and by several keys`() {
    let people: NSArray = [
      ["n": ["x": 2], "m": "b"], ["n": ["x": 1], "m": "b"], ["n": ["x": 3], "m": "a"],
    ]
    let sorted = people.sortedArray(
      using: [NSSortDescriptor(key: "m", ascending: true), NSSortDescriptor(key: "n.x", ascending: true)])
    #expect(sorted.map { (($0 as? [String: Any])?["n"] as? [String: Int])?["x"] } == [3, 1, 2])
    let numbers: NSArray = [3, 1, 2]
    for key in [nil, "self"] {
      #expect(
        numbers.sortedArray(using: [NSSortDescriptor(key: key, ascending: false)]) as? [Int] == [3, 2, 1])
    }
  }

  @Test(arguments: [
    (Selector.compare, ["B", "a", "b", "file10", "file2", "\u{E9}", "f\u{301}"]),
    (.caseInsensitiveCompare, ["a", "B", "b", "file10", "file2", "\u{E9}", "f\u{301}"]),
    (.localizedStandardCompare, ["a", "b", "B", "file2", "file10"]),
  ]) func `each selector has its own order`(selector: Selector, order: [String]) {
    let descriptor = NSSortDescriptor(key: nil, ascending: true, selector: selector)
    for (index, text) in order.enumerated() where index > 0 && order[index - 1] < "c" && text < "g" {
      let result = descriptor.compare(order[index - 1], to: text)
      #expect(result == .orderedAscending || result == .orderedSame, "\(order[index - 1]) \(text)")
      #expect(descriptor.compare(text, to: order[index - 1]) != .orderedAscending)
    }
    if selector == .localizedStandardCompare {
      #expect(descriptor.compare("file2", to: "file10") == .orderedAscending)
    } else {
      #expect(descriptor.compare("file2", to: "file10") == .orderedDescending)
    }
    #expect((descriptor.compare("a", to: "A") == .orderedSame) == (selector == .caseInsensitiveCompare))
  }

  // MARK: Fetches

  private static let names: [String?] = ["b", "A", "file10", "a", nil, "file2", "B", "é", "e", "F"]

  /// Every selector, order and window, over saved rows and with unsaved changes, held against sorting the same
  /// objects in memory.
  @Test func `a fetch has the order that its descriptors have in memory`() throws {
    let stack = try Stack()
    for (index, name) in SortDescriptorTests.names.enumerated() {
      let person = Person(context: stack.context)
      person.name = name
      person.age = Int32(index)
    }
    try stack.context.save()
    for hasChanges in [false, true] {
      if hasChanges {
        stack.person("file3", age: 90)
        let first = try #require(
          try stack.context.fetch(request(Person.self, .compare("age", .equal, 1))).first)
        first.name = "zz"
      }
      let all = try stack.context.fetch(request(Person.self))
      for selector in [
        Selector.compare, .caseInsensitiveCompare, .localizedCompare, .localizedCaseInsensitiveCompare,
        .localizedStandardCompare,
      ] {
        for ascending in [true, false] {
          let fetch = request(Person.self)
          let descriptors = [
            NSSortDescriptor(key: "name", ascending: ascending, selector: selector),
            NSSortDescriptor(key: "age", ascending: true),
          ]
          fetch.sortDescriptors = descriptors
          let wanted = (NSArray(array: all).sortedArray(using: descriptors) as? [Person])?.map(\.age)
          #expect(try stack.context.fetch(fetch).map(\.age) == wanted, "\(selector) \(ascending)")
          fetch.fetchOffset = 2
          fetch.fetchLimit = 3
          let window = wanted.map { Array($0[2..<5]) }
          #expect(try stack.context.fetch(fetch).map(\.age) == window, "\(selector) \(ascending) window")
          #expect(try stack.context.count(for: fetch) == 3)
        }
      }
    }
  }

  @Test func `a fetch refuses comparators and unknown selectors by name`() throws {
    let stack = try Stack()
    for (descriptor, message) in [
      (
        NSSortDescriptor(key: "name", ascending: true, comparator: { _, _ in .orderedSame }),
        "unsupported NSSortDescriptor (comparator blocks are not supported)"
      ),
      (
        NSSortDescriptor(key: "name", ascending: true, selector: "byLength:"),
        "unsupported NSSortDescriptor selector: byLength:"
      ),
    ] {
      let fetch = request(Person.self)
      fetch.sortDescriptors = [descriptor]
      let error = #expect(throws: StoreError.self) { try stack.context.fetch(fetch) }
      #expect(error?.code == .unsupportedRequest && error?.description.contains(message) == true)
    }
  }

  @Test func `key paths and Foundation's typed descriptors sort a fetch`() throws {
    let stack = try Stack()
    for (name, age) in [("b", 2), ("a", 3), ("c", 1)] as [(String, Int32)] { stack.person(name, age: age) }
    try stack.context.save()
    for descriptor in [
      NSSortDescriptor(keyPath: \Person.age, ascending: false),
      try #require(NSSortDescriptor(SortDescriptor(\Person.age, order: .reverse))),
    ] {
      #expect(descriptor.key == "age")
      let fetch = request(Person.self)
      fetch.sortDescriptors = [descriptor]
      #expect(try stack.context.fetch(fetch).map(\.name) == ["a", "b", "c"])
    }
    let byName = NSSortDescriptor(keyPath: \Person.name, ascending: false)
    #expect(byName.key == "name")
    let people = try stack.context.fetch(request(Person.self))
    #expect(
      (NSArray(array: people).sortedArray(using: [byName]) as? [Person])?.map(\.name) == ["c", "b", "a"])
    #expect(NSSortDescriptor(keyPath: \Person.company?.name, ascending: true).key == "company.name")
  }

  @Test func `an own selector is found among the members of the class`() {
    final class Box: KeyedMembersProviding {
      let size: Int
      init(_ size: Int) { self.size = size }
      class var keyedMembers: KeyedMembers {
        KeyedMembers().function("compareSize:") { (box: Box, arguments) in
          box.size - ((arguments[0] as? Box)?.size ?? 0)
        }
      }
    }
    let descriptor = NSSortDescriptor(key: nil, ascending: false, selector: "compareSize:")
    #expect(
      [Box(1), Box(3), Box(2)].sorted { descriptor.compare($0, to: $1) == .orderedAscending }.map(\.size) == [
        3, 2, 1,
      ])
  }

  @Test func `descriptors are written and read`() throws {
    for descriptor in [
      NSSortDescriptor(key: "a.b", ascending: false), NSSortDescriptor(key: nil, ascending: true),
      NSSortDescriptor(key: "a", ascending: true, selector: .localizedStandardCompare),
    ] {
      let data = try JSONEncoder().encode(descriptor)
      #expect(try JSONDecoder().decode(NSSortDescriptor.self, from: data) == descriptor)
      let archive = try NSKeyedArchiver.archivedData(withRootObject: descriptor, requiringSecureCoding: true)
      #expect(
        try NSKeyedUnarchiver.unarchivedObject(ofClass: NSSortDescriptor.self, from: archive) == descriptor)
    }
    #expect(throws: EncodingError.self) {
      try JSONEncoder().encode(
        NSSortDescriptor(key: "a", ascending: true, comparator: { _, _ in .orderedSame }))
    }
  }
}
