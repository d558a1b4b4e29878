// Fuzzes the reader of logs: any bytes either throw an error of the store or can be read as a whole, and what
// was recovered stays so.
//
// An input is the files of a log one behind the other, told apart by how they begin; or, where it begins
// otherwise, the changes of a transaction. Built by .ci/fuzz-logs as a file of CairnStores' module.

import CZlib
import CairnModel
import Foundation

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLog(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let files = FuzzedLog(bytes) else {
    fuzzTransaction(bytes, fuzzedSchema)
    return 0
  }
  // Checksums keep mutations from everything behind them: the same files once more with right ones.
  for candidate in [files, files.repaired()] {
    do {
      try candidate.open()
    } catch is StoreError {
    } catch {
      fatalError("a log threw what isn't a StoreError: \(error)")
    }
  }
  return 0
}

/// What is decoded can be encoded, and says the same then.
@discardableResult
private func fuzzTransaction(_ bytes: some Collection<UInt8>, _ schema: Schema) -> Bool {
  let limits = TransactionCoding.Limits(base: 1 << 22, perByte: 64)
  do {
    let changes = try Array(bytes).withUnsafeBytes {
      try TransactionCoding.decode($0, schema: schema, limits: limits)
    }
    let once = try TransactionCoding.encode(changes, schema: schema)
    let twice = try TransactionCoding.encode(TransactionCoding.decode(once, schema: schema), schema: schema)
    precondition(once == twice, "a transaction has changed by being written")
    return true
  } catch is PayloadError {
    return false
  } catch {
    fatalError("a transaction threw what isn't a PayloadError: \(error)")
  }
}

/// The first entity is that of the golden log "types".
private let fuzzedSchema = try! Schema(
  SchemaDescription(entities: [
    .init(
      name: "All",
      attributes: ValueType.allCases.filter { $0 != .key }.map {
        .init("the_\(ArchivedSchema.name(of: $0))", $0)
      }),
    .init(
      name: "Node", attributes: [.init("name", .string)],
      relationships: [
        .init("parent", to: "Node", inverse: "children", maxCount: 1),
        .init("children", to: "Node", inverse: "parent", isOrdered: true),
        .init("others", to: "All"),
      ]),
  ]))

private struct FuzzedLog {
  static let path = "/log"
  var manifest: [UInt8] = []
  var bases: [[UInt8]] = []
  var segments: [[UInt8]] = []

  init?(_ bytes: [UInt8]) {
    guard bytes.starts(with: LogManifest.magic) else { return nil }
    var starts: [Int] = []
    for place in bytes.indices.dropLast(7) where bytes[place] == 0x89 {
      let magic = Array(bytes[place..<place + 8])
      if [LogManifest.magic, LogSegmentHeader.magic, ArchiveHeader.magic].contains(magic) {
        starts.append(place)
      }
    }
    for (place, end) in zip(starts, starts.dropFirst() + [bytes.count]) {
      let file = Array(bytes[place..<end])
      if file.starts(with: LogManifest.magic) {
        manifest = file
      } else if file.starts(with: LogSegmentHeader.magic) {
        segments.append(file)
      } else {
        bases.append(file)
      }
    }
  }

  /// The names that the manifest gives them, if it says any.
  private func files() throws -> SimulatedFileSystem {
    let files = SimulatedFileSystem()
    try files.makeDirectory(Self.path)
    func put(_ name: String, _ bytes: [UInt8]) throws {
      let path = Paths.join(Self.path, name)
      if try files.information(path) != nil { return }
      let file = try files.open(path, .create(permissions: 0o644))
      try file.write(bytes, at: 0)
      try file.sync()
    }
    try put(LogNames.manifest, manifest)
    let named = try? LogManifest(manifest)
    for (index, base) in bases.enumerated() {
      let number = named.flatMap { index < $0.bases.count ? $0.bases[index].number : nil }
      try put(LogNames.base(number ?? UInt64(index + 1)), base)
    }
    for (index, segment) in segments.enumerated() {
      let number = named.flatMap { index < $0.segments.count ? $0.segments[index].number : nil }
      try put(LogNames.segment(number ?? UInt64(index + 20)), segment)
    }
    try files.syncDirectory(Self.path)
    try files.syncDirectory("/")
    return files
  }

  // MARK: Opening

  func open() throws {
    let files = try files()
    let schema = try LogFiles.schema(at: Self.path, on: files)
    guard isSmall(schema) else { return }
    var options = LogStore.Options()
    options.isReadOnly = true
    options.checkpoints = .never
    options.idleInterval = nil
    options.preallocation = 0
    let reader = try LogStore(
      at: Self.path, model: .init(schema: schema), options: options, fileSystem: files)
    let generation = try touch(reader)
    _ = try? reader.history(after: Generation(0))
    try reader.close()
    options.isReadOnly = false
    // What can be read can be recovered, unless features or the file system forbid it; and is the same
    // afterwards.
    for _ in 0..<2 {
      let store = try LogStore(
        at: Self.path, model: .init(schema: schema), options: options, fileSystem: files)
      guard try touch(store) == generation else { fatalError("another state after recovery") }
      try store.close()
    }
  }

  /// Looks at every value, and returns the number of the newest commit.
  private func touch(_ store: LogStore) throws -> Int64 {
    let (snapshot, _, _) = try store.engine.state()
    try store.damage.checking {
      var sum = 0
      for table in 0..<ArchiveTables.count(store.schema) {
        for chunk in snapshot.table(table)?.chunks.all ?? [] {
          for column in chunk.columns {
            for row in 0..<chunk.count { sum &+= column.value(row).isNull ? 0 : 1 }
          }
        }
      }
      precondition(sum >= 0)
    }
    return snapshot.generation.number
  }

  /// Whether what the frames say takes little memory. (A log may say much in few bytes, which isn't looked
  /// for here.)
  private func isSmall(_ schema: Schema) -> Bool {
    let sizes = bases.allSatisfy { $0.count < 4000 } && segments.allSatisfy { $0.count < 20_000 }
    return sizes
      && segments.allSatisfy { segment in
        frames(segment).allSatisfy { range in
          var payload = Array(segment[(range.lowerBound + LogFrame.headerSize)..<range.upperBound])
          if LogFrame.Flags(rawValue: segment[range.lowerBound + 33]).contains(.compressed) {
            payload = LogCompression.inflate(payload) ?? []
          }
          var reader = RecordReader(payload)
          guard (try? LogTransaction(&reader, schema: schema)) != nil else { return true }
          let changes = payload[reader.offset...]
          return fuzzTransaction(changes, schema) || !isCostly(changes, schema)
        }
      }
  }

  private func isCostly(_ changes: ArraySlice<UInt8>, _ schema: Schema) -> Bool {
    do {
      let limits = TransactionCoding.Limits(base: 1 << 22, perByte: 64)
      _ = try Array(changes).withUnsafeBytes {
        try TransactionCoding.decode($0, schema: schema, limits: limits)
      }
      return false
    } catch let error as PayloadError {
      return error.what.contains("grow to")
    } catch {
      return false
    }
  }

  // MARK: Repairing

  /// Where frames are, as far as their lengths tell.
  private func frames(_ segment: [UInt8]) -> [Range<Int>] {
    var result: [Range<Int>] = []
    var offset = LogSegmentHeader.size
    while offset + LogFrame.headerSize <= segment.count {
      let length = segment.withUnsafeBytes { LogFrame.field($0, offset, UInt32.self) }
      guard let size = LogFrame.size(prefix: length), offset + size <= segment.count else { break }
      result.append(offset..<offset + size)
      offset += size
    }
    return result
  }

  /// The same with the checksums that they should have; lengths, sequences and salts fit each other.
  func repaired() -> FuzzedLog {
    var copy = self
    let counts = manifest.count >= 100 ? (field(manifest, 80), field(manifest, 84)) : (0, 0)
    let entries = LogManifest.headerSize + Int(counts.0) * LogManifest.Base.size
    guard manifest.count < 1 << 20,
      entries + Int(counts.1) * LogManifest.Segment.size <= manifest.count - 4
    else { return copy }
    put(UInt32(manifest.count), 12, &copy.manifest)
    for (index, base) in bases.enumerated() where index < counts.0 {
      put(UInt64(base.count), LogManifest.headerSize + index * LogManifest.Base.size + 24, &copy.manifest)
    }
    for index in segments.indices where index < counts.1 {
      let entry = entries + index * LogManifest.Segment.size
      copy.repairSegment(index, entry)
    }
    let end = copy.manifest.count - 4
    put(Checksum.crc32(copy.manifest[..<end]), end, &copy.manifest)
    return copy
  }

  private mutating func repairSegment(_ index: Int, _ entry: Int) {
    guard segments[index].count >= LogSegmentHeader.size else { return }
    for (from, to, count) in [(40, 16, 16), (entry, 32, 8), (entry + 16, 40, 8), (entry + 8, 48, 8)] {
      segments[index].replaceSubrange(to..<to + count, with: manifest[from..<from + count])
    }
    put(Checksum.crc32(segments[index][..<60]), 60, &segments[index])
    let frames = frames(segments[index])
    var sequence: UInt64 = segments[index].withUnsafeBytes { LogFrame.field($0, 40, UInt64.self) }
    for frame in frames {
      put(sequence, frame.lowerBound + 8, &segments[index])
      sequence &+= 1
      var seed = RecordWriter()
      seed.put(segments[index].withUnsafeBytes { LogFrame.field($0, 48, UInt64.self) })
      seed.put(UInt32(frame.count - LogFrame.prefixSize))
      let checksum = Checksum.crc32(
        Array(segments[index][(frame.lowerBound + LogFrame.prefixSize)..<frame.upperBound]),
        after: Checksum.crc32(seed.bytes))
      put(checksum, frame.lowerBound + 4, &segments[index])
    }
    let isSealed = field(manifest, entry + 56) == 1
    let promised = manifest.withUnsafeBytes { LogFrame.field($0, entry + 32, UInt64.self) }
    if isSealed || promised > segments[index].count {
      put(UInt64(segments[index].count), entry + 32, &manifest)
    }
  }

  private func field(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
    bytes.withUnsafeBytes { LogFrame.field($0, offset, UInt32.self) }
  }

  private func put<T: FixedWidthInteger>(_ value: T, _ offset: Int, _ bytes: inout [UInt8]) {
    guard offset + MemoryLayout<T>.size <= bytes.count else { return }
    withUnsafeBytes(of: value.littleEndian) { bytes.replaceSubrange(offset..<offset + $0.count, with: $0) }
  }
}

extension Checksum {
  fileprivate static func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 { crc32(Array(bytes)) }
}
