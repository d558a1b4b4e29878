// Checkpoints: when they are made, and how. And what is done when nothing has been saved for a while.

import CairnModel
import Foundation

extension LogStore {
  /// Makes a checkpoint: writes all rows into a new base, beside readers and writers, and lets go of what isn't needed
  /// any more. Costs a pass over everything. Where it throws, the store goes on with the files that it has; but for
  /// `outcomeUnknown`, after which nothing is saved any more until the store is opened again.
  public func compact() throws {
    try checkpointing.withLock { _ in
      try requireWriter()
      try checkpoint()
    }
  }

  func checkpoint() throws {
    var snapshot: TableSnapshot?
    var schemas: LogSchema?
    var keys: [Int64] = []
    var joinKeys: [Int64] = []
    try engine.whileNobodyCommits { work in
      try writing.withLock { writer in
        let writer = try opened(writer)
        try writer.rotate(generation: work.new.generation.number, nextKeys: work.nextKeys)
        schemas = writer.schema
      }
      (snapshot, keys, joinKeys) = (work.new, work.nextKeys, work.nextJoinKeys)
      return nil
    }
    guard let snapshot, let schemas else { return }
    var base = LogManifest.Base(
      number: 0, generation: snapshot.generation.number, firstSequence: 0, length: 0)
    writing.withLock {
      base.number = $0?.manifest.freeNumber ?? 0
      base.firstSequence = $0?.segment.firstSequence ?? 0
    }
    let path = directory.path(base)
    do {
      let copy = ArchiveCopy(
        fileSystem: directory.fileSystem, path: path, effort: options.profile.effort, clock: clock)
      try damage.checking {
        try copy.write(
          schemas.stored(snapshot, damage),
          .init(
            schema: archivedSchema, metadata: metadata, generation: base.generation,
            nextKeys: schemas.stored(byEntity: keys), nextJoinKeys: schemas.stored(byJoin: joinKeys)))
      }
      guard let written = try directory.fileSystem.information(path) else {
        throw StoreError(.fileSystem, "it was removed while it was written", file: path)
      }
      base.length = written.size
      try writing.withLock { writer in
        let writer = try opened(writer)
        try writer.requireWorking()
        var changed = writer.manifest
        changed.bases.append(base)
        let dropped = LogRetention(options, now: clock()).prune(
          &changed, newest: try engine.currentSnapshot().generation.number)
        try writer.replace(changed)
        dropped.remove(directory)
        index.keepOnly(changed.segments.map(\.number))
      }
    } catch {
      // The manifest may name it where nobody knows which one is there.
      guard syncer.failure == nil else { throw error }
      try? directory.fileSystem.remove(path)
      // That the base may not last is no harm: nothing names it.
      guard let error = error as? StoreError, error.code == .outcomeUnknown else { throw error }
      throw StoreError(
        .fileSystem, error.message, file: error.file, remedy: error.remedy, systemError: error.systemError)
    }
  }

  func isTailLarge(divisor: UInt64) -> Bool {
    writing.withLock { writer in
      guard let writer, syncer.failure == nil else { return false }
      let limit = max(options.leastTail, writer.manifest.newestBase.length) / divisor
      return writer.tailLength > limit
    }
  }

  func tidy() {
    switch options.checkpoints {
    case .never: return
    case .inline: if isTailLarge(divisor: 1) { try? compact() }
    case .automatic:
      guard isTailLarge(divisor: 1) else { return }
      let isFirst = timer.withLock { timer in
        defer { timer.isCheckpointing = true }
        return !timer.isCheckpointing
      }
      guard isFirst else { return }
      DispatchQueue.global(qos: .utility).async { [weak self] in self?.checkpointInBackground() }
    }
  }

  private func checkpointInBackground() {
    checkpointing.withLock { state in
      let tail = writing.withLock { $0?.tailLength ?? 0 }
      guard tail > state.leastTail, isTailLarge(divisor: 1) else { return }
      do {
        try requireWriter()
        try checkpoint()
        state.leastTail = 0
      } catch {
        // The files are as they were. Not again for a while, because it costs a pass over everything.
        state.leastTail = tail + tail / 2
      }
    }
    timer.withLock { $0.isCheckpointing = false }
  }
}

// MARK: - When nothing happens

extension LogStore {
  func scheduleIdle() {
    guard let interval = options.idleInterval else { return }
    let isFirst = timer.withLock { timer in
      timer.lastCommit = .now()
      defer { timer.isScheduled = true }
      return !timer.isScheduled
    }
    if isFirst { wait(interval) }
  }

  private func wait(_ interval: Double) {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + interval) { [weak self] in
      self?.becomeIdle(interval)
    }
  }

  private func becomeIdle(_ interval: Double) {
    // Where it fails, the next commit throws.
    if options.durability == .normal, syncer.hasUnsynced { try? syncer.syncNow() }
    let isBusy = timer.withLock { timer in
      let isBusy = DispatchTime.now() < timer.lastCommit + interval * 0.9
      timer.isScheduled = isBusy
      return isBusy
    }
    if isBusy { return wait(interval) }
    try? engine.whileNobodyCommits { work in
      try writing.withLock { writer in
        guard let writer else { return }
        try requireOwn(writer)
        try writer.appendIdle(generation: work.new.generation.number)
      }
      return nil
    }
  }
}
