// Reads on behind whoever writes to a store, and tells of commits: this program's and others'.

import CairnModel
import Foundation

/// Has a store that others write to read on, for as long as it is open.
///
/// Sendable: the timer is set up before anybody else has it, and only cancelled afterwards, which any thread may do;
/// `lastFailure` is touched on its queue alone.
final class StoreFollower: @unchecked Sendable {
  /// A file is looked at, and not read unless it has changed.
  static let interval = DispatchTimeInterval.milliseconds(100)
  private static let queue = DispatchQueue(label: "Cairn.StoreFollower", qos: .utility)

  private let timer: any DispatchSourceTimer
  private weak var facade: NSPersistentStore?
  private let store: any FollowingStore
  private var lastFailure: String?

  init(_ facade: NSPersistentStore, _ store: any FollowingStore) {
    self.facade = facade
    self.store = store
    timer = DispatchSource.makeTimerSource(queue: StoreFollower.queue)
    timer.schedule(deadline: .now() + StoreFollower.interval, repeating: StoreFollower.interval)
    timer.setEventHandler { [weak self] in self?.readOn() }
    timer.resume()
  }

  deinit { timer.cancel() }

  private func readOn() {
    do {
      let commits = try store.refresh()
      lastFailure = nil
      if !commits.isEmpty { facade?.tellOfCommit() }
    } catch let error as StoreError where error.code == .storeClosed {
      timer.cancel()
    } catch {
      // What was read before stays readable. It is tried again, and said once.
      let text = "\(error)"
      if text == lastFailure { return }
      lastFailure = text
      let line = "Cairn: error: \(facade?.url?.path ?? "a store") can't be followed: \(text)\n"
      try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }
  }
}

extension NSPersistentStore {
  /// Posts `NSPersistentStoreRemoteChange` if the store was opened so. Called after each commit, on the thread that
  /// made it or found it.
  final func tellOfCommit() {
    guard tellsOfCommits, let coordinator = persistentStoreCoordinator else { return }
    var userInfo: [AnyHashable: Any] = [NSStoreUUIDKey: identifier as Any]
    userInfo[NSPersistentStoreURLKey] = url
    NotificationCenter.default.post(
      name: .NSPersistentStoreRemoteChange, object: coordinator, userInfo: userInfo)
  }
}
