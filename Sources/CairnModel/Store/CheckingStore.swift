// A store that can say beforehand what a commit would say: what adapters build on that write elsewhere first.

/// A store whose commits can be checked without being made.
package protocol CheckingStore: PersistentStore {
  /// Throws what `commit` would throw. What it accepts, `commit` accepts too, as long as nobody commits in
  /// between.
  func check(_ changes: ChangeSet) throws
}
