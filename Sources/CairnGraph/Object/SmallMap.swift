// A dictionary for a handful of entries, without hashing: what an object has changed is rarely more than that.

/// Entries in the order in which their keys came. A look-up costs a comparison an entry; the first entry costs no
/// memory of its own.
struct SmallMap<Key: Equatable, Value>: Sequence, ExpressibleByDictionaryLiteral {
  typealias Element = (key: Key, value: Value)

  private var first: Element?
  /// Empty where there is no first one.
  private var rest: [Element] = []

  init() {}

  /// The keys must differ.
  init(dictionaryLiteral entries: (Key, Value)...) { self.init(uniqueKeysWithValues: entries) }

  /// The keys must differ.
  init(uniqueKeysWithValues entries: some Sequence<(Key, Value)>) {
    for (key, value) in entries {
      if first == nil { first = (key, value) } else { rest.append((key, value)) }
    }
  }

  var isEmpty: Bool { first == nil }
  var count: Int { first == nil ? 0 : 1 + rest.count }
  /// The entry, if there is just one.
  var only: Element? { rest.isEmpty ? first : nil }
  var keys: [Key] { map(\.key) }
  var values: [Value] { map(\.value) }

  struct Iterator: IteratorProtocol {
    fileprivate var first: Element?
    fileprivate var rest: IndexingIterator<[Element]>

    mutating func next() -> Element? {
      guard let found = first else { return nil }
      first = rest.next()
      return found
    }
  }

  func makeIterator() -> Iterator { Iterator(first: first, rest: rest.makeIterator()) }

  subscript(key: Key) -> Value? {
    get {
      if let first, first.key == key { return first.value }
      for index in rest.indices where rest[index].key == key { return rest[index].value }
      return nil
    }
    set {
      guard let first else {
        if let newValue { self.first = (key, newValue) }
        return
      }
      if first.key == key {
        if let newValue {
          self.first = (key, newValue)
        } else {
          self.first = rest.isEmpty ? nil : rest.removeFirst()
        }
        return
      }
      for index in rest.indices where rest[index].key == key {
        if let newValue { rest[index].value = newValue } else { rest.remove(at: index) }
        return
      }
      if let newValue { rest.append((key, newValue)) }
    }
  }
}
