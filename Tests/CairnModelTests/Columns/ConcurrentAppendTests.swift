// The protocol by which a writer appends behind the count of what readers hold. Says little alone: run it
// under `swift test --sanitize=thread`.

import Foundation
import Synchronization
import Testing

@testable import CairnModel

/// The newest version, as a store publishes it.
private final class Published<T: Sendable>: Sendable {
  private let newest: Mutex<T>
  init(_ first: T) { newest = Mutex(first) }
  var value: T {
    get { newest.withLock { $0 } }
    set { newest.withLock { $0 = newValue } }
  }
}

struct ConcurrentAppendTests {
  /// The value that row `row` has in every version.
  private static func value(_ type: ValueType, _ row: Int) -> Value {
    var random = SplitMix64(seed: UInt64(row / 7) &* 31 &+ 1)
    return row % 5 == 0 ? .null : random.value(type)
  }

  @Test(arguments: ValueType.allCases)
  func `readers of any published version see its rows and nothing else while a writer appends`(
    type: ValueType
  ) async {
    let rowCount = 600
    let published = Published(Column.empty(type: type, capacity: 16))
    let source = column(type, (0..<rowCount).map { ConcurrentAppendTests.value(type, $0) })
    await withTaskGroup(of: Failures.self) { group in
      group.addTask {
        var next = 0
        while next < rowCount {
          let end = min(rowCount, next + 1 + next % 13)
          let longer = published.value.appending(source, next..<end, capacity: max(64, end))
          published.value = longer
          next = end
        }
        return Failures()
      }
      for _ in 0..<2 {
        group.addTask {
          var failures = Failures()
          var count = 0
          while count < rowCount {
            let column = published.value
            count = column.count
            for row in stride(from: count % 3, to: count, by: 3) {
              failures.check(isSame(column.value(row), source.value(row)), "row \(row) of \(count)")
            }
            _ = column.footprint
          }
          return failures
        }
      }
      for await failures in group { #expect(failures.isEmpty, "\(type): \(failures)") }
    }
  }

  @Test func `readers of a chunk see no later append, update or delete`() async {
    let types: [ValueType] = [.int32, .string, .key]
    @Sendable func columns(_ key: Int64) -> [Column?] {
      [
        column(.int32, [.int(key * 100)]), column(.string, [.string("row \(key % 40)")]),
        column(.key, [.key(key)]),
      ]
    }
    let first = Chunk.make(entity: EntityID(0), types: types, keys: [1], columns: columns(1), range: 0..<1)
    let published = Published(first)
    await withTaskGroup(of: Failures.self) { group in
      group.addTask {
        for key in Int64(2)...400 {
          var chunk = published.value
          chunk = chunk.appending(keys: [key], columns: columns(key), range: 0..<1)
          if key % 7 == 0 {
            chunk = chunk.updating(
              [chunk.count - 1], [(1, column(.string, [.string("changed \(key)")]))], from: 0)
          }
          if key % 11 == 0 { chunk = chunk.deleting([chunk.count - 2]) }
          published.value = chunk
        }
        return Failures()
      }
      group.addTask {
        var failures = Failures()
        var count = 0
        while count < 400 {
          let chunk = published.value
          count = chunk.count
          for row in 0..<count {
            let key = Int64(row + 1)
            failures.check(chunk.key(row) == key && chunk.columns[2].integer(row) == key, "key of \(row)")
            failures.check(chunk.columns[0].integer(row) == key * 100, "number of \(row)")
            let text: Value = key > 1 && key % 7 == 0 ? .string("changed \(key)") : .string("row \(key % 40)")
            failures.check(chunk.columns[1].value(row) == text, "text of \(row)")
            failures.check(chunk.version(row) == (key > 1 && key % 7 == 0 ? 2 : 1), "version of \(row)")
          }
        }
        return failures
      }
      for await failures in group { #expect(failures.isEmpty, "\(failures)") }
    }
  }
}
