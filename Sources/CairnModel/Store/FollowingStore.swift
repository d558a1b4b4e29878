// A store that others write to while this program reads it.

/// A store that can read on where it stopped.
package protocol FollowingStore: PersistentStore {
  /// Whether others may write to it while it is open here. Constant.
  var isFollowing: Bool { get }

  /// Makes the newest state that others have written the store's own, and returns the commits that led to it, oldest
  /// first; some of them may be missing where the writer has let go of them. Throws what reading throws: the state
  /// stays the one before.
  func refresh() throws -> [Commit]
}
