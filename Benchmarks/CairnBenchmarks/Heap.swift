// How much memory the process has asked for and not given back, by the C library's own account.

import Foundation

enum Heap {
  /// Bytes of all blocks in use, small and large ones alike. Throws where the C library doesn't say.
  static func bytesInUse() throws -> Int {
    #if canImport(Glibc)
      let report = try mallocReport()
      // The last line of each kind is the total of all arenas; free blocks are "fast" and "rest".
      func total(_ kind: String) throws -> Int {
        guard let line = report.last(where: { $0.hasPrefix(kind) }),
          let size = line.range(of: "size=\""),
          let bytes = Int(line[size.upperBound...].prefix { $0 != "\"" })
        else { throw BenchmarkError("malloc_info says nothing of \(kind)") }
        return bytes
      }
      return try total("<system type=\"current\"") - total("<total type=\"fast\"")
        - total("<total type=\"rest\"") + total("<total type=\"mmap\"")
    #else
      var statistics = malloc_statistics_t()
      malloc_zone_statistics(nil, &statistics)
      return Int(statistics.size_in_use)
    #endif
  }

  #if canImport(Glibc)
    /// The lines of glibc's `malloc_info`, found at run time, since Swift's module of the C library leaves it out.
    private static func mallocReport() throws -> [Substring] {
      typealias MallocInfo = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
      guard let address = dlsym(nil, "malloc_info") else { throw BenchmarkError("no malloc_info here") }
      var text: UnsafeMutablePointer<CChar>?
      var size = 0
      guard let stream = open_memstream(&text, &size) else { throw BenchmarkError("no memory for a report") }
      _ = unsafeBitCast(address, to: MallocInfo.self)(0, stream)
      fclose(stream)
      defer { free(text) }
      return text.map { String(cString: $0).split(separator: "\n") } ?? []
    }
  #endif
}
