// A table view without a screen: rows in sections, changed between `beginUpdates` and `endUpdates` by UIKit's
// rules.

import Foundation
import Testing

/// Deletions are in the places before the updates, insertions in those after them, whatever the order of
/// calls.
final class ModelTable<Row> {
  /// What UIKit raises an exception for.
  struct InvalidUpdate: Error, CustomStringConvertible {
    let description: String
  }

  private(set) var sections: [[Row]]
  private var isUpdating = false
  private var deletedSections: Set<Int> = []
  private var insertedSections: Set<Int> = []
  private var deletedRows: Set<IndexPath> = []
  private var insertedRows: [(path: IndexPath, row: Row)] = []

  init(_ sections: [[Row]]) { self.sections = sections }

  func beginUpdates() {
    isUpdating = true
    (deletedSections, insertedSections, deletedRows, insertedRows) = ([], [], [], [])
  }

  func deleteSection(_ index: Int) { deletedSections.insert(index) }
  func insertSection(_ index: Int) { insertedSections.insert(index) }
  func deleteRow(_ path: IndexPath) { deletedRows.insert(path) }
  func insertRow(_ row: Row, _ path: IndexPath) { insertedRows.append((path, row)) }

  func moveRow(_ row: Row, _ path: IndexPath, _ newPath: IndexPath) {
    deleteRow(path)
    insertRow(row, newPath)
  }

  /// `counts`: what the data source says that its sections have now. Throws `InvalidUpdate` where that
  /// doesn't follow from the updates.
  func endUpdates(counts: [Int]) throws {
    guard isUpdating else { throw InvalidUpdate(description: "endUpdates without beginUpdates") }
    isUpdating = false
    for path in deletedRows where !sections.indices.contains(path[0]) || path[1] >= sections[path[0]].count {
      throw InvalidUpdate(description: "attempt to delete row \(path) which does not exist")
    }
    for index in deletedSections where !sections.indices.contains(index) {
      throw InvalidUpdate(description: "attempt to delete section \(index) which does not exist")
    }
    var survivors = sections.indices.filter { !deletedSections.contains($0) }
    let newCount = survivors.count + insertedSections.count
    var result: [[Row]] = []
    for index in 0..<newCount {
      var rows: [Row] = []
      if !insertedSections.contains(index) {
        if survivors.isEmpty {
          throw InvalidUpdate(description: "section \(index) was inserted out of bounds")
        }
        let old = survivors.removeFirst()
        rows = sections[old].indices.filter { !deletedRows.contains([old, $0]) }.map { sections[old][$0] }
      }
      for (path, row) in insertedRows.filter({ $0.path[0] == index }).sorted(by: { $0.path < $1.path }) {
        guard path[1] <= rows.count else {
          throw InvalidUpdate(description: "attempt to insert row \(path), but there are only \(rows.count)")
        }
        rows.insert(row, at: path[1])
      }
      result.append(rows)
    }
    if let lost = insertedRows.first(where: { $0.path[0] >= newCount }) {
      throw InvalidUpdate(
        description: "attempt to insert row \(lost.path) into a section that does not exist")
    }
    guard result.map(\.count) == counts else {
      throw InvalidUpdate(
        description:
          "Invalid update: the sections have \(counts) rows, but after the updates there should be "
          + "\(result.map(\.count))")
    }
    sections = result
  }
}

@Suite struct ModelTableTests {
  @Test("The model of a table refuses updates that don't add up")
  func refuses() throws {
    let table = ModelTable([["a", "b"], ["c"]])
    table.beginUpdates()
    table.deleteRow([0, 0])
    #expect(throws: ModelTable<String>.InvalidUpdate.self) { try table.endUpdates(counts: [2, 1]) }
    table.beginUpdates()
    table.deleteRow([0, 2])
    #expect(throws: ModelTable<String>.InvalidUpdate.self) { try table.endUpdates(counts: [1, 1]) }
    table.beginUpdates()
    table.deleteSection(0)
    table.insertSection(1)
    table.insertRow("x", [1, 0])
    try table.endUpdates(counts: [1, 1])
    #expect(table.sections == [["c"], ["x"]])
  }
}
