// A slot of all the rows of a batch, end to end. Values are picked one by one: rows in a random order would
// make runs of one.

import Foundation

extension RowBatch {
  /// The values of `slot` in the order of the rows. Every row has to have that slot with that type: rows of
  /// one entity, or a slot that their common ancestor declares. Costs a copy.
  public func column(_ slot: Int) -> Column {
    guard let type = chunks.first?.type(of: slot) else { return ColumnBuilder(.int64).finish() }
    let sources = chunks.map { $0.columns[slot] }
    switch Column.Layout.fixed(for: type) {
    case nil: return integerColumn(sources, type)
    case .bytes?: return bytesColumn(sources, type)
    case let layout?: return fixedColumn(sources, type, layout)
    }
  }

  private func integerColumn(_ sources: [Column], _ type: ValueType) -> Column {
    let storage = ColumnStorage(layout: .int64, capacity: count)
    let values = storage.memory.assumingMemoryBound(to: Int64.self)
    pick(sources) { i, source, row in
      switch source.layout {
      case .int8: values[i] = Int64(source.memory.assumingMemoryBound(to: Int8.self)[row])
      case .int16: values[i] = Int64(source.memory.assumingMemoryBound(to: Int16.self)[row])
      case .int32: values[i] = Int64(source.memory.assumingMemoryBound(to: Int32.self)[row])
      default: values[i] = source.memory.assumingMemoryBound(to: Int64.self)[row]
      }
    }
    return picked(sources, type, .int64, storage)
  }

  private func fixedColumn(_ sources: [Column], _ type: ValueType, _ layout: Column.Layout) -> Column {
    let storage = ColumnStorage(layout: layout, capacity: count)
    let stride = layout.stride
    pick(sources) { i, source, row in
      (storage.memory + i * stride).copyMemory(from: source.memory + row * stride, byteCount: stride)
    }
    return picked(sources, type, layout, storage)
  }

  private func bytesColumn(_ sources: [Column], _ type: ValueType) -> Column {
    var byteCount = 0
    var external: [(row: Int, value: any ExternalValue)] = []
    for (row, place) in places.enumerated() {
      let source = sources[Int(place.chunk)]
      byteCount += source.inlineBytes(Int(place.row)).count
      if let value = source.external?[Int(place.row)] { external.append((row, value)) }
    }
    let pool = BytesPool(entryCapacity: count, byteCapacity: byteCount)
    // Empty where null.
    for place in places { pool.append(sources[Int(place.chunk)].inlineBytes(Int(place.row))) }
    let column = Column(
      type: type, layout: .bytes, count: count, nulls: gatheredNulls(sources),
      storage: ColumnStorage(layout: .bytes, capacity: 0), pool: pool, poolCount: count, zone: Zone())
    return column.with(
      externalValues: ExternalValues(rows: external.map(\.row), values: external.map(\.value)))
  }

  /// The fields of a column that picking needs, so that picking a value counts no reference.
  private typealias Outline = (memory: UnsafeMutableRawPointer, layout: Column.Layout)

  @inline(__always)
  private func pick(_ sources: [Column], _ body: (_ index: Int, _ source: Outline, _ row: Int) -> Void) {
    let outlines = sources.map { Outline(memory: $0.values, layout: $0.layout) }
    withExtendedLifetime(sources) {
      for (i, place) in places.enumerated() { body(i, outlines[Int(place.chunk)], Int(place.row)) }
    }
  }

  /// Bounds are those of the sources together, so they may be wider than the values.
  private func picked(
    _ sources: [Column], _ type: ValueType, _ layout: Column.Layout, _ storage: ColumnStorage
  ) -> Column {
    Column(
      type: type, layout: layout, count: count, nulls: gatheredNulls(sources), storage: storage, pool: nil,
      poolCount: 0, zone: sources.reduce(Zone()) { $0.union($1.zone) })
  }

  private func gatheredNulls(_ sources: [Column]) -> Bitmap? {
    if sources.allSatisfy({ $0.nulls == nil }) { return nil }
    return Bitmap(
      setting: places.indices.lazy.filter { i in
        sources[Int(places[i].chunk)].isNull(Int(places[i].row))
      }, capacity: count)
  }
}
