// The laws of the conversation with the compiler: every message that is one gets an answer, and bytes
// that can't be a message end the plugin with a sentence instead of a crash.
import Foundation
import Testing

@testable import CairnMacroPlugin

@Suite struct `The conversation with the compiler` {
  @Test func `the capability is protocol version 7`() throws {
    let answer = try answer(to: #"{"getCapability":{"capability":{"protocolVersion":8}}}"#)
    #expect(answer == #"{"getCapabilityResult":{"capability":{"protocolVersion":7}}}"#)
  }

  @Test func `an expansion carries the accessors and no diagnostics`() throws {
    let answer = try answer(to: expansion("@Managed var a: Int"))
    #expect(answer.contains(#"managedValue(forKey: \"a\")"#))
    #expect(answer.contains(#""diagnostics":[]"#))
  }

  @Test func `a refusal carries no source, and an error at its place in the file`() throws {
    let answer = try answer(to: expansion("@Managed let a: Int", offset: 100))
    #expect(!answer.contains("expandedSource"))
    #expect(answer.contains(#""severity":"error""#))
    #expect(answer.contains(#""position":{"fileName":"a.swift","offset":109}"#))
  }

  @Test func `other macros and roles are refused with an error`() throws {
    for message in [
      expansion("@Managed var a: Int", type: "OtherMacro"),
      expansion("@Managed var a: Int", role: "member"),
      #"{"expandFreestandingMacro":{"macro":{"typeName":"M"},"syntax":{"source":"","location":{"fileName":"","offset":0}}}}"#,
    ] {
      #expect(try answer(to: message).contains(#""severity":"error""#), "\(message)")
    }
  }

  @Test func `a class gets a constant beside the property, anything else gets nothing`() throws {
    let field = "private let `_managed_a` = ManagedField<Int>()"
    for context in ["class Note: NSManagedObject {}", "@MainActor\\n/* extension */ public final class A {}"]
    {
      let answer = try answer(to: expansion("@Managed var a: Int", role: "peer", context: context))
      #expect(answer.contains(field), "\(context)")
    }
    for context in ["extension Note {}", "\\npublic extension Note where A: B {}", "struct S {}", ""] {
      let answer = try answer(to: expansion("@Managed var a: Int", role: "peer", context: context))
      #expect(answer.contains(#""diagnostics":[],"expandedSource":"""#), "\(context): \(answer)")
    }
  }

  @Test func `what is wrong with a declaration is said once`() throws {
    let answer = try answer(to: expansion("@Managed let a: Int", role: "peer", context: "class A {}"))
    #expect(answer.contains(#""diagnostics":[],"expandedSource":"""#))
  }

  @Test func `arguments in an extension are refused`() throws {
    let answer = try answer(
      to: expansion("@Managed(.unique) var a: Int", role: "peer", context: "extension A {}"))
    #expect(answer.contains("move the property into the class") && !answer.contains("expandedSource"))
  }

  @Test func `no library is loaded`() throws {
    let answer = try answer(to: #"{"loadPluginLibrary":{"libraryPath":"/x","moduleName":"x"}}"#)
    #expect(answer == #"{"loadPluginLibraryResult":{"diagnostics":[],"loaded":false}}"#)
  }

  @Test func `a message of a later version is answered too`() throws {
    #expect(try answer(to: #"{"somethingNew":{}}"#) == #"{"expandMacroResult":{"diagnostics":[]}}"#)
  }

  @Test func `an offset that no file has is no crash`() throws {
    #expect(try answer(to: expansion("let a", offset: .max)).contains("error"))
  }

  @Test func `messages come one after the other until the input ends`() throws {
    let input = try file(framed("{}") + framed(#"{"getCapability":{}}"#))
    #expect(try ManagedPlugin.readMessage(from: input)?.getCapability == nil)
    #expect(try ManagedPlugin.readMessage(from: input)?.getCapability != nil)
    #expect(try ManagedPlugin.readMessage(from: input) == nil)
  }

  @Test func `a message of no bytes is a goodbye`() throws {
    #expect(try ManagedPlugin.readMessage(from: file(framed("") + framed("{}"))) == nil)
  }

  @Test func `bytes that are no message throw`() throws {
    let whole = framed(expansion("@Managed var a: Int"))
    for cut in 1..<whole.count {
      #expect(throws: (any Error).self) { try ManagedPlugin.readMessage(from: file(whole.prefix(cut))) }
    }
    let deep = String(repeating: "[", count: 50_000)
    for bytes in [framed("{"), framed("[]"), framed("\u{0}"), framed(deep), Data(repeating: 255, count: 20)] {
      #expect(throws: ManagedPlugin.WireError.self) { try ManagedPlugin.readMessage(from: file(bytes)) }
    }
  }
}

private func expansion(
  _ source: String, offset: Int = 0, type: String = "ManagedMacro", role: String = "accessor",
  context: String = "class A {}"
) -> String {
  """
  {"expandAttachedMacro":{"macro":{"moduleName":"CairnMacros","name":"Managed","typeName":"\(type)"},\
  "lexicalContext":[{"source":"\(context)"}],"macroRole":"\(role)","discriminator":"x","declSyntax":{"kind":"declaration","source":"\(source)",\
  "location":{"fileID":"A/a.swift","fileName":"a.swift","offset":\(offset),"line":1,"column":1}}}}
  """
}

/// The JSON that the plugin writes in answer to the JSON of one message, keys in order.
private func answer(to json: String) throws -> String {
  let request = try #require(try ManagedPlugin.readMessage(from: file(framed(json))))
  let pipe = Pipe()
  try ManagedPlugin.writeMessage(ManagedPlugin.answer(to: request), to: pipe.fileHandleForWriting)
  try pipe.fileHandleForWriting.close()
  let written = try #require(try pipe.fileHandleForReading.readToEnd())
  #expect(written.prefix(8) == framed(written.count - 8))
  let object = try JSONSerialization.jsonObject(with: written.dropFirst(8))
  let sorted = try JSONSerialization.data(
    withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
  return String(decoding: sorted, as: UTF8.self)
}

private func framed(_ json: String) -> Data {
  framed(json.utf8.count) + Data(json.utf8)
}

private func framed(_ length: Int) -> Data {
  Data((0..<8).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) })
}

/// A handle that reads `bytes` and ends.
private func file(_ bytes: Data) throws -> FileHandle {
  let pipe = Pipe()
  // A pipe holds 64 KiB before the writer has to wait for a reader, so a long message is cut: no law needs more.
  try pipe.fileHandleForWriting.write(contentsOf: bytes.prefix(1 << 16))
  try pipe.fileHandleForWriting.close()
  return pipe.fileHandleForReading
}
