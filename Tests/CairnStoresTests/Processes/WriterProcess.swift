// A process of its own that writes to a store: the built StoreWriter, its output in a pipe.

import CairnModel
import Foundation

final class WriterProcess {
  enum Mode: String {
    /// Has the store open until `end`.
    case hold
    /// Commits numbered commits until it is killed.
    case commit
    /// Makes a commit, forks, and makes another when its input ends, and the child tries to as well.
    case fork
  }

  private let process = Process()
  private let output = Pipe()
  private let input = Pipe()
  private var buffer = Data()

  var processID: Int32 { process.processIdentifier }

  /// Starts a writer of the `store` that StoreWriter knows by that name. Returns when it has the store open; throws
  /// what it complains of where it hasn't.
  init(_ store: String, at path: String, _ mode: Mode) throws {
    let errors = Pipe()
    process.executableURL = try WriterProcess.executable()
    process.arguments = [store, path, mode.rawValue]
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = input
    try process.run()
    if try nextLine() == "open" { return }
    process.waitUntilExit()
    let complaint = try errors.fileHandleForReading.readToEnd() ?? Data()
    throw StoreError(.unsupportedRequest, "the writer ended: \(String(decoding: complaint, as: UTF8.self))")
  }

  deinit { if process.isRunning { kill(processID, SIGKILL) } }

  /// The next line that it says; nil where it has ended.
  func nextLine() throws -> String? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        defer { buffer = Data(buffer[(end + 1)...]) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      let part = try WriterProcess.read(output.fileHandleForReading.fileDescriptor)
      if part.isEmpty { return nil }
      buffer += part
    }
  }

  /// By the system's call: Foundation's traps when the signal of a child's end comes in between.
  private static func read(_ descriptor: Int32) throws -> Data {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = Foundation.read(descriptor, &bytes, bytes.count)
      if count >= 0 { return Data(bytes[..<count]) }
      if errno != EINTR { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
  }

  /// Kills it, as nothing can prevent, and returns what else it had said.
  func killed() throws -> [String] {
    kill(processID, SIGKILL)
    var lines: [String] = []
    while let line = try nextLine() { lines.append(line) }
    process.waitUntilExit()
    return lines
  }

  /// Lets one that holds a store end.
  func end() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// The test's own executable stands in the products' folder, or in a bundle inside of it.
  private static func executable() throws -> URL {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    if let bundle = Bundle.allBundles.first(where: { $0.bundlePath.hasSuffix(".xctest") }) {
      folder = bundle.bundleURL
    }
    for _ in 0..<5 {
      folder.deleteLastPathComponent()
      let candidate = folder.appendingPathComponent("StoreWriter")
      if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
    }
    throw CocoaError(
      .fileNoSuchFile, userInfo: [NSLocalizedDescriptionKey: "no built StoreWriter beside the tests"])
  }
}
