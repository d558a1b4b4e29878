// Walks over a context's lists: a save makes a dozen of them, and counting a reference for each object would be most of
// what they cost.
//
// Objects that were changed lie anywhere in memory, and so does what they were changed to: the walks read a word of
// those that they come to a little later, so that the processor fetches many at once instead of waiting for each.

/// What a walk comes to besides the objects themselves.
enum WalkDepth {
  case objects
  /// Their `changes` too.
  case changes
}

/// How many objects ahead of the walk are fetched, and how many ahead what they lead to.
private let objectsAhead = 16
private let changesAhead = 8

/// The objects are held by the array for as long as the walk goes on, whatever is done to the variable that it was in.
extension Array where Element == NSManagedObject {
  @inline(__always)
  func forEachUncounted(_ depth: WalkDepth = .objects, _ body: (NSManagedObject) throws -> Void) rethrows {
    try withUnsafeBufferPointer { objects in
      guard let start = objects.baseAddress else { return }
      // A reference lies in memory as an unmanaged one does.
      let references = UnsafeRawPointer(start).assumingMemoryBound(to: Unmanaged<NSManagedObject>.self)
      let count = objects.count
      var read: UInt = 0
      for index in 0..<count {
        if index + objectsAhead < count { read &+= references[index + objectsAhead].firstAndLastWord }
        if depth == .changes, index + changesAhead < count {
          read &+= references[index + changesAhead].firstAndLastWordOfChanges
        }
        try references[index]._withUnsafeGuaranteedRef { try body($0) }
      }
      discard(read)
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

extension Unmanaged<NSManagedObject> {
  /// An object may lie in two lines of the cache.
  @inline(__always)
  fileprivate var firstAndLastWord: UInt {
    _withUnsafeGuaranteedRef { toOpaque().load(as: UInt.self) &+ UInt($0.flags.rawValue) }
  }

  @inline(__always)
  fileprivate var firstAndLastWordOfChanges: UInt {
    _withUnsafeGuaranteedRef { object in
      guard let changes = object.changes else { return 0 }
      let reference = Unmanaged<ObjectChanges>.passUnretained(changes)
      return reference._withUnsafeGuaranteedRef {
        reference.toOpaque().load(as: UInt.self) &+ ($0.hasRarities ? 1 : 0)
      }
    }
  }
}

/// Where words go that were read for nothing else than to have been read: the optimizer must not leave them out.
@_optimize(none)
private func discard(_ read: UInt) {}
