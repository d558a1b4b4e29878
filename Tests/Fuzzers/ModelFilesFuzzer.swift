// A libFuzzer target over the readers of model files. `.ci/fuzz-model-files` compiles it into one module with
// CairnModel's sources, because SwiftPM can't link a fuzzer.

import Foundation

/// Reads the bytes as a compiled model and as a source. Only a trap, a hang or a wrong kind of error is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzModelFiles(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let data = start.map { Data(bytes: $0, count: count) } ?? Data()
  for isCompiled in [true, false] {
    do {
      let document =
        isCompiled
        ? try ModelDocument(compiled: data, file: "fuzz") : try ModelDocument(contents: data, file: "fuzz")
      _ = document.check()
      _ = document.versionChecksum
      _ = try? document.contents()
      _ = try? document.compiledData()
    } catch {
      precondition(error is ModelFileError, "another error: \(error)")
    }
  }
  return 0
}
