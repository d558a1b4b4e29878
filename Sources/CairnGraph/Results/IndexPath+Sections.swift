// What UIKit and AppKit add to index paths, where there is neither.

public import Foundation

#if !canImport(UIKit) && !canImport(AppKit)
  extension IndexPath {
    /// A path of two indexes: a section, and a row in it.
    public init(row: Int, section: Int) { self = [section, row] }

    /// A path of two indexes: a section, and an item in it.
    public init(item: Int, section: Int) { self = [section, item] }

    /// The first of two indexes. A path of another length is a programmer error.
    public var section: Int {
      get { self[pair: 0] }
      set { self[pair: 0] = newValue }
    }

    /// The second of two indexes. A path of another length is a programmer error.
    public var row: Int {
      get { self[pair: 1] }
      set { self[pair: 1] = newValue }
    }

    /// The second of two indexes. A path of another length is a programmer error.
    public var item: Int {
      get { self[pair: 1] }
      set { self[pair: 1] = newValue }
    }

    private subscript(pair index: Int) -> Int {
      get {
        requirePair()
        return self[index]
      }
      set {
        requirePair()
        self[index] = newValue
      }
    }

    private func requirePair() {
      guard count == 2 else {
        fatalError(
          "Invalid index path for use with a table: it must contain exactly two indices, not \(count)")
      }
    }
  }
#endif
