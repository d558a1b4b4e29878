// The sections of a controller's results, kept in a file between runs of the program.
//
// A file is believed only for exactly the same stores, generations, entity, predicate, order and key path,
// and if its checksum is right. Anything else is computed anew: a file can be stale or damaged, never wrong.

import CairnModel
import Foundation

/// What one controller finds and leaves in its file.
struct ResultsCache {
  /// The sections that the file has for exactly these results; nil if there are none to be believed.
  let runs: [SectionRun]?
  private let file: URL
  private let key: String

  /// The file's form: a property list.
  private struct Contents: Codable {
    struct Section: Codable {
      let name: String
      let count: Int
    }

    let key: String
    let sections: [Section]
    let checksum: String

    static func checksum(_ key: String, _ sections: [Section]) -> String {
      var sum: UInt64 = 0xCBF2_9CE4_8422_2325
      for text in [key] + sections.flatMap({ [$0.name, "\($0.count)"] }) {
        // 255 is in no UTF-8: it keeps one text from running into the next.
        for byte in Array(text.utf8) + [255] { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
      }
      return String(sum, radix: 16)
    }
  }

  /// nil without a name for the cache, without sections, and where unsaved changes or a commit in between
  /// make the results those of no generation.
  init?(_ core: ResultsCore, _ fetched: FetchedResults, _ names: SectionNames?) {
    guard let name = core.cacheName, let names, let state = fetched.storeState,
      !core.context.hasChanges, fetched.keys.allSatisfy({ $0.collation == .plain }),
      ResultsCache.isConstant(fetched, core.context)
    else { return nil }
    let entity = fetched.entity.schema
    key = [
      state, entity.name, entity.slots.map { "\($0.name) \($0.type)" }.joined(separator: ","), names.keyPath,
      "\(String(describing: fetched.predicate))", "\(fetched.keys.map(\.term))", "\(fetched.window)",
      "\(fetched.includesSubentities) \(fetched.affectedStores.map { $0.map(\.uuid) } ?? [])",
    ].joined(separator: "\n")
    file = ResultsCache.file(name)
    runs = ResultsCache.read(file, key, fetched.objects.count).flatMap { runs in
      // An object that the context has read before may show an older row than the store's.
      let areRight = runs.allSatisfy { run in
        [run.range.lowerBound, run.range.upperBound - 1].allSatisfy {
          names.name(of: fetched.objects[$0]) ?? "" == run.name
        }
      }
      return areRight ? runs : nil
    }
  }

  /// Whether the predicate means the same in every process and at any time.
  private static func isConstant(_ fetched: FetchedResults, _ context: NSManagedObjectContext) -> Bool {
    guard let predicate = fetched.predicate else { return true }
    if predicate.canonicalFormat.lowercased().contains("now") { return false }
    let parts = try? predicate.split(bindableTo: fetched.entity.id, in: context.compiledModel.schema)
    return parts.map { $0.1 == nil } ?? false
  }

  private static func read(_ file: URL, _ key: String, _ count: Int) -> [SectionRun]? {
    guard let data = try? Data(contentsOf: file),
      let contents = try? PropertyListDecoder().decode(Contents.self, from: data), contents.key == key,
      contents.checksum == Contents.checksum(key, contents.sections)
    else { return nil }
    var runs: [SectionRun] = []
    var start = 0
    for section in contents.sections {
      guard section.count > 0, section.count <= count - start else { return nil }
      runs.append(SectionRun(name: section.name, range: start..<start + section.count))
      start += section.count
    }
    return start == count && Set(runs.map(\.name)).count == runs.count ? runs : nil
  }

  /// Keeps the sections, unless they are what was read. A file that can't be written is none.
  func write(_ computed: [SectionRun]) {
    if runs != nil { return }
    let sections = computed.map { Contents.Section(name: $0.name, count: $0.range.count) }
    let contents = Contents(key: key, sections: sections, checksum: Contents.checksum(key, sections))
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    guard let data = try? encoder.encode(contents) else { return }
    try? FileManager.default.createDirectory(at: ResultsCache.folder, withIntermediateDirectories: true)
    try? data.write(to: file, options: .atomic)
  }

  // MARK: Files

  static func delete(_ name: String?) {
    try? FileManager.default.removeItem(at: name.map(file) ?? folder)
  }

  /// The program's own: two programs may call their caches alike.
  private static var folder: URL {
    let caches =
      ProgramDirectory.base("XDG_CACHE_HOME")
      ?? FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
      ?? FileManager.default.temporaryDirectory
    return ProgramDirectory.url(in: caches).appendingPathComponent("cairn-results", isDirectory: true)
  }

  static func file(_ name: String) -> URL {
    let safe = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return folder.appendingPathComponent(safe + ".sections")
  }
}

extension NSManagedObjectContext {
  /// The stores and their newest generations; nil if one can't be asked.
  final var storeState: String? {
    var parts: [String] = []
    for scope in scopes {
      guard let store = scope.store, let snapshot = try? store.store.snapshot() else { return nil }
      parts.append("\(store.uuid) \(snapshot.generation)")
    }
    return parts.joined(separator: " ")
  }
}
