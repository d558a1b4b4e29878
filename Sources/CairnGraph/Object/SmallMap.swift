// A dictionary for a handful of entries, without hashing: what an object has changed is rarely more than that.

/// Entries in the order in which their keys came. A look-up costs a comparison an entry.
struct SmallMap<Key: Equatable, Value>: Sequence, ExpressibleByDictionaryLiteral {
  private var entries: [(key: Key, value: Value)] = []

  /// The keys must differ.
  init(dictionaryLiteral entries: (Key, Value)...) { self.init(uniqueKeysWithValues: entries) }

  /// The keys must differ.
  init(uniqueKeysWithValues entries: some Sequence<(Key, Value)>) {
    self.entries = entries.map { (key: $0, value: $1) }
  }

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }
  /// The entry, if there is just one.
  var only: (key: Key, value: Value)? { entries.count == 1 ? entries[0] : nil }
  var keys: [Key] { entries.map(\.key) }
  var values: [Value] { entries.map(\.value) }

  func makeIterator() -> IndexingIterator<[(key: Key, value: Value)]> { entries.makeIterator() }

  subscript(key: Key) -> Value? {
    get {
      for index in entries.indices where entries[index].key == key { return entries[index].value }
      return nil
    }
    set {
      for index in entries.indices where entries[index].key == key {
        if let newValue { entries[index].value = newValue } else { entries.remove(at: index) }
        return
      }
      if let newValue { entries.append((key, newValue)) }
    }
  }
}
