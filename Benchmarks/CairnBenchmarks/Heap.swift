// How much memory the process has asked for and not given back.

import Foundation

enum Heap {
  /// Bytes of all blocks in use, by the C library's own count; small and large ones alike.
  static var bytesInUse: Int {
    #if canImport(Glibc)
      let info = mallinfo2()
      return Int(info.uordblks) + Int(info.hblkhd)
    #else
      var statistics = malloc_statistics_t()
      malloc_zone_statistics(nil, &statistics)
      return Int(statistics.size_in_use)
    #endif
  }
}
