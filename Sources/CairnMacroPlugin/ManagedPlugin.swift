// The compiler plugin behind `@Managed`: a process that the compiler starts and asks over standard
// input and output. It speaks the compiler's protocol itself, because depending on swift-syntax
// would cost every user of Cairn minutes of building for two accessors.
//
// Each message, both ways, is 8 bytes with its length in little-endian order, then that much JSON.
// Every well-formed message is answered, understood or not. At the end of the input, or on a message of
// no bytes, by which the compiler says goodbye, the plugin exits with 0; on input that can't be a
// message it says so on standard error and exits with 1.
import Foundation

package enum ManagedPlugin {
  // A declaration is a few hundred bytes and its context a few hundred thousand at most.
  static let largestMessage = 256 << 20

  /// Answers the compiler until it says goodbye. Doesn't return after input that can't be a message.
  package static func run() {
    do {
      while let request = try readMessage(from: .standardInput) {
        try writeMessage(answer(to: request), to: .standardOutput)
      }
    } catch {
      try? FileHandle.standardError.write(contentsOf: Data("CairnMacros: \(error)\n".utf8))
      exit(1)
    }
  }
}

// MARK: - Answers

extension ManagedPlugin {
  static func answer(to request: HostMessage) -> PluginMessage {
    if request.getCapability != nil {
      return .getCapabilityResult(capability: .init(protocolVersion: 7))
    }
    if let expansion = request.expandAttachedMacro { return expand(expansion) }
    if let expansion = request.expandFreestandingMacro {
      return refuse(expansion.macro, at: expansion.syntax.location)
    }
    if request.loadPluginLibrary != nil {
      return .loadPluginLibraryResult(loaded: false, diagnostics: [])
    }
    return .expandMacroResult(expandedSource: nil, diagnostics: [])
  }

  private static func expand(_ expansion: HostMessage.AttachedExpansion) -> PluginMessage {
    guard expansion.macro.typeName == "ManagedMacro" else {
      return refuse(expansion.macro, at: expansion.declSyntax.location)
    }
    return switch expansion.macroRole {
    case "accessor": expandAccessors(expansion)
    case "peer": expandPeers(expansion)
    default: refuse(expansion.macro, at: expansion.declSyntax.location)
    }
  }

  private static func expandAccessors(_ expansion: HostMessage.AttachedExpansion) -> PluginMessage {
    let declaration = expansion.declSyntax
    do throws(Refusal) {
      let accessors = try ManagedDeclaration(parsing: declaration.source).accessors
      return .expandMacroResult(expandedSource: accessors, diagnostics: [])
    } catch {
      return refusal(error, from: declaration.location)
    }
  }

  // What is wrong with the declaration itself is said once, by the accessors.
  private static func expandPeers(_ expansion: HostMessage.AttachedExpansion) -> PluginMessage {
    let nothing = PluginMessage.expandMacroResult(expandedSource: "", diagnostics: [])
    guard let declaration = try? ManagedDeclaration(parsing: expansion.declSyntax.source) else {
      return nothing
    }
    let attribute = expansion.attributeSyntax ?? expansion.declSyntax
    do throws(Refusal) {
      let arguments = try ManagedArguments(parsing: attribute.source)
      // An extension can't have stored constants, not even of no size.
      if let context = expansion.lexicalContext?.first, !isClass(context.source) {
        if arguments.options == nil { return nothing }
        throw Refusal(problems: [.hasArgumentsInExtension(0..<attribute.source.utf8.count)])
      }
      return .expandMacroResult(expandedSource: declaration.peers(arguments), diagnostics: [])
    } catch {
      return refusal(error, from: attribute.location)
    }
  }

  private static func isClass(_ source: String) -> Bool {
    var scanner = Scanner(source)
    while true {
      scanner.skipTrivia()
      switch scanner.peek() {
      case "@": scanner.skipAttribute()
      case "#": scanner.skipLine()
      case "(": scanner.skipBalanced()  // as in `nonisolated(unsafe)`
      default:
        guard let word = scanner.identifier() else { return false }
        if word.text == "class" { return true }
        if ["extension", "struct", "enum", "actor", "protocol"].contains(word.text) { return false }
      }
    }
  }

  private static func refusal(_ error: Refusal, from start: HostMessage.Location) -> PluginMessage {
    .expandMacroResult(
      expandedSource: nil, diagnostics: error.problems.map { diagnostic(for: $0, from: start) })
  }

  private static func refuse(_ macro: HostMessage.MacroReference, at location: HostMessage.Location)
    -> PluginMessage
  {
    let diagnostic = PluginMessage.Diagnostic(
      message:
        "CairnMacros has no macro '\(macro.typeName)' of this kind, only 'ManagedMacro' for accessors and peers",
      position: .init(fileName: location.fileName, offset: location.offset))
    return .expandMacroResult(expandedSource: nil, diagnostics: [diagnostic])
  }

  private static func diagnostic(for problem: Problem, from start: HostMessage.Location)
    -> PluginMessage.Diagnostic
  {
    // Wrapping, so that a nonsensical offset in a message makes a nonsensical answer and no trap.
    let range = PluginMessage.Range(
      fileName: start.fileName,
      startOffset: start.offset &+ problem.range.lowerBound,
      endOffset: start.offset &+ problem.range.upperBound)
    let fixIt = problem.replacement.map {
      PluginMessage.FixIt(message: $0.title, changes: [.init(range: range, newText: $0.text)])
    }
    return PluginMessage.Diagnostic(
      message: problem.message,
      position: .init(fileName: start.fileName, offset: range.startOffset),
      highlights: [range],
      fixIts: fixIt.map { [$0] } ?? [])
  }
}

// MARK: - The wire

extension ManagedPlugin {
  struct WireError: Error, CustomStringConvertible {
    let description: String
  }

  /// The next message, or nil when there will be none: at the end of the input, or at a goodbye.
  static func readMessage(from input: FileHandle) throws -> HostMessage? {
    let header = try read(8, from: input)
    if header.isEmpty { return nil }
    guard header.count == 8 else { throw WireError(description: "the input ends inside a message's length") }
    // Byte by byte, since `Data` promises no alignment.
    let length = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    if length == 0 { return nil }
    guard length <= largestMessage else {
      throw WireError(
        description: "a message of \(length) bytes is longer than the \(largestMessage) allowed")
    }
    let body = try read(Int(length), from: input)
    guard body.count == Int(length) else {
      throw WireError(description: "the input ends \(body.count) bytes into a message of \(length)")
    }
    do {
      return try JSONDecoder().decode(HostMessage.self, from: body)
    } catch {
      throw WireError(description: "a message isn't the JSON that the compiler sends: \(error)")
    }
  }

  static func writeMessage(_ message: PluginMessage, to output: FileHandle) throws {
    let body = try JSONEncoder().encode(message)
    let header = withUnsafeBytes(of: UInt64(body.count).littleEndian) { Data($0) }
    try output.write(contentsOf: header + body)
  }

  // Fewer bytes than asked for only at the end of the input. Memory grows with what has arrived, not
  // with what the length promises.
  private static func read(_ count: Int, from input: FileHandle) throws -> Data {
    var data = Data()
    while data.count < count {
      guard let part = try input.read(upToCount: min(count - data.count, 1 << 16)), !part.isEmpty else {
        break
      }
      data += part
    }
    return data
  }
}
