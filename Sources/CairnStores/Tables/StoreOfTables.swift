// What Cairn's own stores can do beside the store protocol, once for all of them: it is the engine's.

package import CairnModel

/// A store whose rows are tables of the engine.
package protocol StoreOfTables: CheckingStore, ExplainingStore, SingleRowStore {
  var tables: TableEngine { get }

  /// What `body` returns; throws instead where it had to do without a column that can't be read. A store whose columns
  /// always can leaves it as it is.
  func checked<T>(_ body: () throws -> T) throws -> T
}

extension StoreOfTables {
  package func checked<T>(_ body: () throws -> T) throws -> T { try body() }

  package func check(_ changes: ChangeSet) throws { try checked { try tables.check(changes) } }

  package func fetch(
    _ request: StoreRequest, in snapshot: any StoreSnapshot, trace: StoreTrace
  ) throws -> RowBatch {
    try checked { try tables.fetch(request, in: snapshot, trace: trace) }
  }

  package func count(
    _ request: StoreRequest, in snapshot: any StoreSnapshot, trace: StoreTrace
  ) throws -> Int {
    try checked { try tables.count(request, in: snapshot, trace: trace) }
  }

  package func aggregate(
    _ request: AggregateRequest, in snapshot: any StoreSnapshot, trace: StoreTrace
  ) throws -> [AggregateRow] {
    try checked { try tables.aggregate(request, in: snapshot, trace: trace) }
  }

  package func row(_ key: RowKey, in snapshot: any StoreSnapshot) throws -> (chunk: Chunk, row: Int)? {
    try checked { try tables.row(key, in: snapshot) }
  }

  package func newestRow(_ key: RowKey) throws -> (chunk: Chunk, row: Int)? {
    try checked { try tables.newestRow(key) }
  }
}
