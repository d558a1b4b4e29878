// The atomic replacement under every crash and every fault, and the enumeration itself on work that is wrong.
import CairnModel
import Foundation
import Testing

@testable import CairnStores

@Suite struct `Under every crash and fault` {
  private struct Wrong: Error, CustomStringConvertible { let description: String }

  private let old = [UInt8](repeating: 1, count: 1300)
  private let new = [UInt8](repeating: 2, count: 1700)

  /// A file system with the old content at "/a", durably.
  private func start() throws -> SimulatedFileSystem {
    let files = SimulatedFileSystem()
    let file = try files.open("/a", .create(permissions: 0o640))
    try file.write(old, at: 0)
    try file.sync()
    try files.syncDirectory("/")
    return files
  }

  private func content(_ files: SimulatedFileSystem) throws -> [UInt8] {
    let file = try files.open("/a", .read)
    defer { try? file.close() }
    return try file.contents(limit: 1 << 20, path: "/a")
  }

  /// What a store does when it starts to write.
  private func recover(_ files: SimulatedFileSystem) throws {
    let lock = try LockFile(at: "/LOCK", on: files)
    defer { lock.release() }
    try AtomicReplacement.removeLeftovers(of: "/a", on: files)
  }

  @Test func `a replaced file has the old content or the new, and nothing stays beside it`() throws {
    let report = try FaultEnumeration(seed: 7).run(
      from: try start(), record: false,
      work: { files, isPromised in
        try recover(files)
        try AtomicReplacement.replace("/a", on: files) { file in
          try file.append(new.prefix(100))
          try file.append(new.dropFirst(100))
        }
        isPromised = true
      },
      recovery: recover,
      check: { files, isPromised, ending in
        let found = try content(files)
        guard found == new || found == old && !isPromised else {
          throw Wrong(description: "\(found.count) bytes, promised: \(isPromised)")
        }
        if case .failed(let error as StoreError) = ending, error.code != .outcomeUnknown, found != old {
          throw Wrong(description: "it failed and replaced the file all the same")
        }
        if try files.information("/a")?.permissions != 0o640 { throw Wrong(description: "other permissions") }
        try recover(files)
        if !files.temporaryFiles.isEmpty { throw Wrong(description: "left \(files.temporaryFiles)") }
        if try content(files) != found { throw Wrong(description: "the recovery changed the content") }
        // And it can be written again.
        try AtomicReplacement.replace("/a", on: files) { try $0.append([3]) }
        if try content(files) != [3] { throw Wrong(description: "it can't be replaced again") }
      })
    #expect(report.crashCount >= 10 && report.faultCount >= 60, "\(report)")
    #expect(report.recoveryCrashCount >= 100 && report.stateCount >= 2000, "\(report)")
  }

  @Test func `a fault that passes leaves no temporary file`() throws {
    let files = try start()
    for number in 0..<9 {
      let files = files.restarted()
      files.fail(at: number, with: .error(EIO))
      let failed = refusal { try AtomicReplacement.replace("/a", on: files) { try $0.append(new) } } != nil
      #expect(files.temporaryFiles.isEmpty, "\(files.operations[number])")
      #expect(!failed || files.openFileCount == 0)
    }
  }

  /// Ways to replace a file that are wrong, by the step that is left out.
  enum Mistake: CaseIterable, Sendable {
    case noSync, noDirectorySync, inPlace, staysOpen, notTheSame
  }

  @Test(arguments: Mistake.allCases)
  func `work that is wrong is found out`(_ mistake: Mistake) throws {
    var kept: [any OpenFile] = []
    var tries = 0
    let failure = try #require(throws: FaultEnumeration.Failure.self) {
      try FaultEnumeration(seed: 7).run(
        from: try start(), record: false,
        work: { files, isPromised in
          tries += 1
          if mistake == .notTheSame && tries > 3 { _ = try files.list("/") }
          let file = try files.open(
            mistake == .inPlace ? "/a" : "/b", mistake == .inPlace ? .readWrite : .create(permissions: 0o644))
          try file.write(new, at: 0)
          if mistake != .noSync { try file.sync() }
          if mistake == .staysOpen { kept.append(file) }
          if mistake != .inPlace { try files.rename("/b", to: "/a") }
          if mistake != .noDirectorySync { try files.syncDirectory("/") }
          isPromised = true
        },
        check: { files, isPromised, _ in
          let found = try content(files)
          guard found == new || found == old && !isPromised else { throw Wrong(description: "neither") }
        })
    }
    let text = "\(failure)"
    switch mistake {
    case .staysOpen: #expect(text == "without any fault: 1 files are open still")
    case .notTheSame: #expect(text.contains("the work isn't the same every time: it did operation 0: list /"))
    case .noSync, .noDirectorySync, .inPlace:
      #expect(text.hasPrefix("seed 7, then a crash ") && text.hasSuffix(": neither"), "\(text)")
    }
  }
}
