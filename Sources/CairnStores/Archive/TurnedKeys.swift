// Keys of one-to-one pairs that a file has on the other side than the schema that it was opened with.

import CairnModel
import Foundation

/// The keys that lead back: found by one pass over the rows that have the inverse's key, when first asked for.
///
/// Needs the memory of two keys a pair. A store that writes doesn't go on with these: its first commit has the file
/// written anew, in the order of the schema that it was opened with.
final class TurnedKeys: Sendable {
  private let sources: [(groups: [ArchiveGroup], slot: Int)]
  /// By key of the row that the pair leads to; of several the lowest, as everywhere.
  private let found = Lock<Result<[Int64: Int64], StoreError>?>(nil)

  init(_ sources: [(groups: [ArchiveGroup], slot: Int)]) { self.sources = sources }

  /// The column for rows with `keys`. Where a block can't be read, a column that says why.
  func column(for keys: [Int64]) -> Column {
    let result = found.withLock { found in
      if let found { return found }
      let result = look()
      found = result
      return result
    }
    switch result {
    case .failure(let error): return .damaged(type: .key, count: keys.count, error)
    case .success(let sourceOf):
      let builder = ColumnBuilder(.key)
      for key in keys { sourceOf[key].map { builder.append($0) } ?? builder.appendNull() }
      return builder.finish()
    }
  }

  private func look() -> Result<[Int64: Int64], StoreError> {
    var result: [Int64: Int64] = [:]
    for (groups, slot) in sources {
      for group in groups {
        for index in group.chunks.indices {
          let part = ArchivePart(group, index)
          let column = part.column(slot)
          if let damage = column.damage { return .failure(damage) }
          let keys = part.keys
          if let damage = keys.damage { return .failure(damage) }
          let deleted = group.chunks[index].deleted
          for row in 0..<group.chunks[index].count where !column.isNull(row) && deleted?[row] != true {
            let (key, target) = (keys.list[row], column.integer(row))
            result[target] = min(result[target] ?? key, key)
          }
        }
      }
    }
    return .success(result)
  }
}

extension ArchivePart {
  /// The keys of all rows; what was wrong where they can't be read, and no keys then.
  var keys: (list: [Int64], damage: StoreError?) {
    let info = group.chunks[index]
    if info.hasDenseKeys { return (Array(info.firstKey...info.lastKey), nil) }
    let column = stored(group.types.count + 1)
    if let damage = column.damage { return ([], damage) }
    return ((0..<info.count).map { column.integer($0) }, nil)
  }
}
