// SQLite's C interface, found at run time.
//
// It is the peer that Cairn is measured against and no part of Cairn, so neither the manifest nor a header
// names it: who builds needs no SQLite, and who has none sees "-" in the peer's column.
//
// Invariant: a library value has all the functions below; a function's type here is its C prototype.

import Foundation

struct SQLiteLibrary {
  typealias Connection = OpaquePointer
  typealias StatementHandle = OpaquePointer
  typealias Text = UnsafePointer<CChar>
  /// `sqlite3_exec`'s callback and a text's destructor; always nil or the constant -1 here.
  typealias Unused = UnsafeRawPointer

  let openV2: @convention(c) (Text, UnsafeMutablePointer<Connection?>, Int32, Text?) -> Int32
  let closeV2: @convention(c) (Connection?) -> Int32
  let exec: @convention(c) (Connection, Text, Unused?, Unused?, Unused?) -> Int32
  let errmsg: @convention(c) (Connection) -> Text
  let prepareV2:
    @convention(c) (Connection, Text, Int32, UnsafeMutablePointer<StatementHandle?>, Unused?) -> Int32
  let step: @convention(c) (StatementHandle) -> Int32
  let reset: @convention(c) (StatementHandle) -> Int32
  let finalize: @convention(c) (StatementHandle?) -> Int32
  let bindInt: @convention(c) (StatementHandle, Int32, Int32) -> Int32
  let bindInt64: @convention(c) (StatementHandle, Int32, Int64) -> Int32
  let bindDouble: @convention(c) (StatementHandle, Int32, Double) -> Int32
  let bindText: @convention(c) (StatementHandle, Int32, Text, Int32, Unused?) -> Int32
  let bindNull: @convention(c) (StatementHandle, Int32) -> Int32
  let columnInt: @convention(c) (StatementHandle, Int32) -> Int32
  let columnType: @convention(c) (StatementHandle, Int32) -> Int32
  let columnInt64: @convention(c) (StatementHandle, Int32) -> Int64
  let columnDouble: @convention(c) (StatementHandle, Int32) -> Double
  let columnText: @convention(c) (StatementHandle, Int32) -> UnsafePointer<UInt8>?
  let backupInit: @convention(c) (Connection, Text, Connection, Text) -> OpaquePointer?
  let backupStep: @convention(c) (OpaquePointer, Int32) -> Int32
  let backupFinish: @convention(c) (OpaquePointer) -> Int32
  let libversion: @convention(c) () -> Text
  let memoryUsed: @convention(c) () -> Int64

  /// The names under which Linux (with and without development files) and macOS have it.
  private static let fileNames = ["libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib"]

  /// Throws with the remedy if the library isn't installed.
  init() throws {
    guard let handle = Self.fileNames.lazy.compactMap({ dlopen($0, RTLD_NOW) }).first else {
      throw BenchmarkError("no SQLite to compare with: apt-get install libsqlite3-0")
    }
    func function<Function>(_ name: String) throws -> Function {
      guard let address = dlsym(handle, "sqlite3_" + name) else {
        throw BenchmarkError("SQLite without sqlite3_\(name): apt-get install libsqlite3-0")
      }
      return unsafeBitCast(address, to: Function.self)
    }
    openV2 = try function("open_v2")
    closeV2 = try function("close_v2")
    exec = try function("exec")
    errmsg = try function("errmsg")
    prepareV2 = try function("prepare_v2")
    step = try function("step")
    reset = try function("reset")
    finalize = try function("finalize")
    bindInt = try function("bind_int")
    bindInt64 = try function("bind_int64")
    bindDouble = try function("bind_double")
    bindText = try function("bind_text")
    bindNull = try function("bind_null")
    columnInt = try function("column_int")
    columnType = try function("column_type")
    columnInt64 = try function("column_int64")
    columnDouble = try function("column_double")
    columnText = try function("column_text")
    backupInit = try function("backup_init")
    backupStep = try function("backup_step")
    backupFinish = try function("backup_finish")
    libversion = try function("libversion")
    memoryUsed = try function("memory_used")
  }

  var version: String { String(cString: libversion()) }
}
