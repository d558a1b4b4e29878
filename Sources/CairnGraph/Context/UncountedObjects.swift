// Walks over a context's lists: a save makes a dozen of them, and counting a reference for each object would be most of
// what they cost.

/// The objects are held by the array for as long as the walk goes on, whatever is done to the variable that it was in.
extension Array where Element == NSManagedObject {
  @inline(__always)
  func forEachUncounted(_ body: (NSManagedObject) throws -> Void) rethrows {
    try withUnsafeBufferPointer { objects in
      guard let start = objects.baseAddress else { return }
      // A reference lies in memory as an unmanaged one does.
      let references = UnsafeRawPointer(start).assumingMemoryBound(to: Unmanaged<NSManagedObject>.self)
      for index in 0..<objects.count { try references[index]._withUnsafeGuaranteedRef { try body($0) } }
    }
  }
}

extension Array where Element == NSManagedObject? {
  /// Leaves out those that are nil.
  @inline(__always)
  func forEachUncounted(from first: Int = 0, _ body: (Int, NSManagedObject) throws -> Void) rethrows {
    try withUnsafeBufferPointer { objects in
      guard let start = objects.baseAddress else { return }
      // As above; an optional one has nil as 0, as an optional unmanaged one has.
      let references = UnsafeRawPointer(start).assumingMemoryBound(to: Unmanaged<NSManagedObject>?.self)
      for index in first..<objects.count {
        try references[index]?._withUnsafeGuaranteedRef { try body(index, $0) }
      }
    }
  }
}
