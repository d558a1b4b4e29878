// The map of what an object has changed, held to a dictionary.

import Testing

@testable import CairnGraph

@Suite struct SmallMapTests {
  @Test func `a small map has what a dictionary has, its entries in the order in which their keys came`() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var map: SmallMap<Int, String> = [:]
      var expected: [(key: Int, value: String)] = []
      for step in 0..<Int.random(in: 0...12, using: &generator) {
        let key = Int.random(in: 0..<5, using: &generator)
        let value = Int.random(in: 0..<3, using: &generator) == 0 ? nil : "\(step)"
        map[key] = value
        if let place = expected.firstIndex(where: { $0.key == key }) {
          if let value { expected[place].value = value } else { expected.remove(at: place) }
        } else if let value {
          expected.append((key, value))
        }
        #expect(map.map(\.key) == expected.map(\.key) && map.map(\.value) == expected.map(\.value))
        #expect(map.keys == expected.map(\.key) && map.values == expected.map(\.value))
        #expect(map.count == expected.count && map.isEmpty == expected.isEmpty)
        #expect(map.only?.value == (expected.count == 1 ? expected[0].value : nil))
        for key in 0..<5 { #expect(map[key] == expected.first { $0.key == key }?.value) }
      }
    }
    #expect(SmallMap(uniqueKeysWithValues: [(1, "a"), (2, "b")]).keys == [1, 2])
  }
}
