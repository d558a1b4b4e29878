// Runs the built tool in a process of its own, its output in pipes: what every test of a command needs.

import Foundation

enum Tool {
  struct Outcome {
    let exitCode: Int32
    let output: String
    let errors: String
  }

  /// Runs the `cairn` that was built along with this test; `input` is a few lines for its standard input, and
  /// `temporary` the directory that it is to take for temporary files.
  static func run(_ arguments: [String], input: String? = nil, temporary: URL? = nil) throws -> Outcome {
    let process = Process()
    process.executableURL = try executable()
    process.arguments = arguments
    if let temporary {
      process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": temporary.path]) { $1 }
    }
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    let fed = Pipe()
    process.standardInput = input == nil ? FileHandle.nullDevice : fed
    try process.run()
    if let input {
      try fed.fileHandleForWriting.write(contentsOf: Data(input.utf8))
      try fed.fileHandleForWriting.close()
    }
    // What goes to standard error is a few lines, which the pipe holds while standard output is read.
    let written = try everything(output.fileHandleForReading)
    let complaint = try everything(errors.fileHandleForReading)
    process.waitUntilExit()
    return Outcome(
      exitCode: process.terminationStatus, output: String(decoding: written, as: UTF8.self),
      errors: String(decoding: complaint, as: UTF8.self))
  }

  /// Foundation's way to read to the end traps when a signal, such as that of a child's end, comes in between.
  static func everything(_ handle: FileHandle) throws -> Data {
    var data = Data()
    while true {
      do {
        guard let part = try handle.read(upToCount: 65_536), !part.isEmpty else { return data }
        data += part
      } catch let error as NSError where isInterruption(error) {
        continue
      }
    }
  }

  private static func isInterruption(_ error: NSError) -> Bool {
    let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
    return cause.domain == NSPOSIXErrorDomain && cause.code == Int(EINTR)
  }

  /// The test's own executable stands in the products' folder, or in a bundle inside of it.
  static func executable() throws -> URL {
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    if let bundle = Bundle.allBundles.first(where: { $0.bundlePath.hasSuffix(".xctest") }) {
      folder = bundle.bundleURL
    }
    for _ in 0..<5 {
      folder.deleteLastPathComponent()
      let candidate = folder.appendingPathComponent("cairn")
      if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
    }
    throw CocoaError(
      .fileNoSuchFile, userInfo: [NSLocalizedDescriptionKey: "no built cairn beside the tests"])
  }
}
