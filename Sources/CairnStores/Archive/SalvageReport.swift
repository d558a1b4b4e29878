// What salvaging an archive found, and what is lost.

package import Foundation

/// What `ArchiveSalvager` saved of an archive, and what it couldn't.
package struct SalvageReport: Sendable {
  /// Values, or rows, of one entity that couldn't be read.
  package struct Loss: Sendable, Equatable {
    /// Or the owner and the name of a relationship that is kept in a table of its own.
    package let entity: String
    /// nil where whole rows, or pairs of such a relationship, are lost.
    package let property: String?
    /// Of the rows concerned, as the damaged file has them; ascending.
    package internal(set) var keys: [ClosedRange<Int64>]
    package internal(set) var rowCount: Int
    /// What was wrong with the first of the blocks concerned.
    package let reason: String
  }

  /// The commit whose state was saved, and when it was made.
  package let generation: Int64
  package let time: Date
  /// How many rows of each entity the new archive has.
  package internal(set) var rows: [(entity: String, count: Int)] = []
  package internal(set) var losses: [Loss] = []
  /// Commits that are lost as a whole, or may be, as a sentence; nil where the newest state was saved.
  package internal(set) var lostCommits: String?
  /// What was damaged and had to be done without, though no row is lost by it.
  package internal(set) var notes: [String] = []

  /// Whether every value of the newest commit was saved.
  package var isWhole: Bool { losses.isEmpty && lostCommits == nil }

  /// Adds rows of a chunk to what is lost of a column.
  mutating func lose(
    _ entity: String, _ property: String?, keys: ClosedRange<Int64>, rows: Int, _ reason: String
  ) {
    guard let place = losses.firstIndex(where: { $0.entity == entity && $0.property == property }) else {
      losses.append(Loss(entity: entity, property: property, keys: [keys], rowCount: rows, reason: reason))
      return
    }
    losses[place].rowCount += rows
    if let last = losses[place].keys.last, last.upperBound < Int64.max, last.upperBound + 1 >= keys.lowerBound
    {
      losses[place].keys[losses[place].keys.count - 1] =
        last.lowerBound...max(last.upperBound, keys.upperBound)
    } else {
      losses[place].keys.append(keys)
    }
  }
}
