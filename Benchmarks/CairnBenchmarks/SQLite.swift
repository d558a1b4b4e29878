// Databases and statements over SQLite's C interface.
//
// Invariants: any result code but success traps with SQLite's own message, since a benchmark that goes on
// after an error measures nothing. A statement keeps its database open. One thread uses them.

import Foundation

/// A database in memory or in a file.
final class Database {
  fileprivate enum Code {
    static let ok: Int32 = 0
    static let row: Int32 = 100
    static let done: Int32 = 101
  }

  let library: SQLiteLibrary
  fileprivate let connection: SQLiteLibrary.Connection

  /// Opens the database in the file at `path`, or an empty one: in a new file, or by default in memory.
  init(_ library: SQLiteLibrary, path: String = ":memory:") {
    self.library = library
    let readWrite: Int32 = 0x2
    let create: Int32 = 0x4
    // One thread uses it, so it needn't pay for locks.
    let noMutex: Int32 = 0x8000
    var connection: SQLiteLibrary.Connection?
    let code = library.openV2(path, &connection, readWrite | create | noMutex, nil)
    guard code == Code.ok, let connection else { fatalError("SQLite can't open (code \(code))") }
    self.connection = connection
    // All else stays at SQLite's defaults. `temp_store=MEMORY` in particular makes its large sorts a third
    // slower: it then sorts one long list instead of merging short ones that fit the processor's cache.
    execute("PRAGMA foreign_keys=ON")
  }

  deinit { _ = library.closeV2(connection) }

  func execute(_ sql: String) { check(library.exec(connection, sql, nil, nil, nil)) }

  func prepare(_ sql: String) -> Statement { Statement(sql, in: self) }

  /// The single integer that `sql` selects.
  func integer(_ sql: String) -> Int64 {
    prepare(sql).singleInteger()
  }

  /// A second database with the same content, copied page by page.
  func copy() -> Database {
    let copy = Database(library)
    guard let backup = library.backupInit(copy.connection, "main", connection, "main") else {
      fatalError("SQLite: \(copy.message)")
    }
    let code = library.backupStep(backup, -1)
    guard code == Code.done else { fatalError("SQLite can't copy (code \(code))") }
    copy.check(library.backupFinish(backup))
    return copy
  }

  fileprivate var message: String { String(cString: library.errmsg(connection)) }

  @inline(__always)
  fileprivate func check(_ code: Int32) {
    if code != Code.ok { fatalError("SQLite: \(message)") }
  }
}

/// A prepared statement. Parameters count from 1 and columns from 0, as in SQLite.
final class Statement {
  private let database: Database
  private let library: SQLiteLibrary
  private let handle: SQLiteLibrary.StatementHandle

  fileprivate init(_ sql: String, in database: Database) {
    self.database = database
    library = database.library
    var handle: SQLiteLibrary.StatementHandle?
    database.check(library.prepareV2(database.connection, sql, -1, &handle, nil))
    guard let handle else { fatalError("not a statement: \(sql)") }
    self.handle = handle
  }

  deinit { _ = library.finalize(handle) }

  /// Binds an integer, or NULL for `FlightData.null`.
  func bind(_ value: Int32, at index: Int) {
    if value == FlightData.null {
      database.check(library.bindNull(handle, Int32(index)))
    } else {
      database.check(library.bindInt(handle, Int32(index), value))
    }
  }

  func bind(_ value: Int64?, at index: Int) {
    if let value {
      database.check(library.bindInt64(handle, Int32(index), value))
    } else {
      database.check(library.bindNull(handle, Int32(index)))
    }
  }

  func bind(_ value: Double?, at index: Int) {
    if let value {
      database.check(library.bindDouble(handle, Int32(index), value))
    } else {
      database.check(library.bindNull(handle, Int32(index)))
    }
  }

  func bind(_ value: String?, at index: Int) {
    if let value {
      // -1 is SQLITE_TRANSIENT: SQLite copies the text before this call returns.
      let transient = SQLiteLibrary.Unused(bitPattern: -1)
      database.check(library.bindText(handle, Int32(index), value, -1, transient))
    } else {
      database.check(library.bindNull(handle, Int32(index)))
    }
  }

  /// Steps to the next row; false after the last one.
  func step() -> Bool {
    let code = library.step(handle)
    if code == Database.Code.row { return true }
    if code == Database.Code.done { return false }
    fatalError("SQLite: \(database.message)")
  }

  /// Makes the statement ready to run again; what is bound stays.
  func reset() { database.check(library.reset(handle)) }

  /// Runs a statement that gives no rows.
  func run() {
    if step() { fatalError("rows where none are expected") }
    reset()
  }

  func int32(_ column: Int32) -> Int32 { library.columnInt(handle, column) }

  func optionalInt32(_ column: Int32) -> Int32? {
    let null: Int32 = 5
    return library.columnType(handle, column) == null ? nil : library.columnInt(handle, column)
  }

  func optionalText(_ column: Int32) -> String? {
    library.columnText(handle, column).map { String(cString: $0) }
  }

  func int64(_ column: Int) -> Int64 { library.columnInt64(handle, Int32(column)) }

  func double(_ column: Int) -> Double { library.columnDouble(handle, Int32(column)) }

  func text(_ column: Int) -> String {
    library.columnText(handle, Int32(column)).map { String(cString: $0) } ?? ""
  }

  /// Runs the statement from its start and collects column 0 of every row, which mustn't be NULL.
  func keys() -> [Int32] {
    var keys: [Int32] = []
    while step() { keys.append(library.columnInt(handle, 0)) }
    reset()
    return keys
  }

  /// Runs the statement from its start and returns column 0 of its only row.
  func singleInteger() -> Int64 {
    guard step() else { fatalError("no row where one is expected") }
    let value = int64(0)
    reset()
    return value
  }
}
