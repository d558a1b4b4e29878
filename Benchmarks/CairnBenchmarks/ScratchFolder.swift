// Where the cases about files put them, and what they measure there besides databases and archives.
//
// Invariant: a folder is gone when nobody holds it any more.

import Foundation

final class ScratchFolder {
  private let url: URL
  private var count = 0

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "cairn-benchmark-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// The path of a file that isn't there yet.
  func newPath(_ kind: String) -> String {
    count += 1
    return url.appendingPathComponent("\(count).\(kind)").path
  }

  /// A copy of the file at `path`.
  func copy(_ path: String, _ kind: String) throws -> String {
    let copy = newPath(kind)
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    return copy
  }

  static func byteCount(_ path: String) throws -> Int {
    guard let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber else {
      throw BenchmarkError("no size of \(path)")
    }
    return size.intValue
  }

  /// How many bytes this program has given the system to write so far, to whatever file.
  static func bytesWritten() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
    guard let bytes = line.flatMap({ Int($0.dropFirst(7)) }) else {
      throw BenchmarkError("no wchar in /proc/self/io")
    }
    return bytes
  }

  /// What `gzip -6` makes of the file, by the same library.
  static func gzippedByteCount(_ path: String) throws -> Int {
    typealias Bound = @convention(c) (UInt) -> UInt
    typealias Compress =
      @convention(c) (
        UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt>, UnsafePointer<UInt8>, UInt, Int32
      ) -> Int32
    let names = ["libz.so.1", "libz.so", "libz.dylib"]
    guard let handle = names.lazy.compactMap({ dlopen($0, RTLD_NOW) }).first,
      let bound = dlsym(handle, "compressBound"), let compress = dlsym(handle, "compress2")
    else { throw BenchmarkError("no zlib") }
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var length = unsafeBitCast(bound, to: Bound.self)(UInt(bytes.count))
    var compressed = [UInt8](repeating: 0, count: Int(length))
    guard unsafeBitCast(compress, to: Compress.self)(&compressed, &length, bytes, UInt(bytes.count), 6) == 0
    else { throw BenchmarkError("zlib can't compress \(path)") }
    // A gzip file has 12 bytes more around the same stream than zlib's form.
    return Int(length) + 12
  }
}
