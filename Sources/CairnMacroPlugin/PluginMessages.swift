// The messages between the compiler and a macro plugin, as far as an accessor macro needs them.
//
// They are JSON objects with one key, the name of the message (the compiler's sources describe them
// as `PluginMessage`; this is version 7, of Swift 6). Keys that aren't named here are ignored, so a
// newer compiler may say more; every request gets an answer, because the compiler waits for one.

/// A question of the compiler: the one property that isn't nil says which.
struct HostMessage: Decodable {
  var getCapability: Ignored?
  var expandAttachedMacro: AttachedExpansion?
  var expandFreestandingMacro: FreestandingExpansion?
  var loadPluginLibrary: Ignored?

  struct Ignored: Decodable {}

  struct AttachedExpansion: Decodable {
    var macro: MacroReference
    var macroRole: String
    var declSyntax: Syntax
    var attributeSyntax: Syntax?
    /// What the declaration stands in, innermost first, without members.
    var lexicalContext: [Context]?

    struct Context: Decodable {
      var source: String
    }
  }

  struct FreestandingExpansion: Decodable {
    var macro: MacroReference
    var syntax: Syntax
  }

  struct MacroReference: Decodable {
    var typeName: String
  }

  /// A piece of source. `location` is that of its first byte, leading comments and blank lines included.
  struct Syntax: Decodable {
    var source: String
    var location: Location
  }

  struct Location: Decodable {
    var fileName: String
    /// In UTF-8 bytes from the start of the file.
    var offset: Int
  }
}

/// An answer to the compiler.
enum PluginMessage: Encodable {
  case getCapabilityResult(capability: Capability)
  /// No source and an error is a refusal: the compiler shows the error and goes on without the macro.
  case expandMacroResult(expandedSource: String?, diagnostics: [Diagnostic])
  case loadPluginLibraryResult(loaded: Bool, diagnostics: [Diagnostic])

  struct Capability: Encodable {
    var protocolVersion: Int
  }

  struct Diagnostic: Encodable {
    var message: String
    var severity = "error"
    var position: Position
    var highlights: [Range] = []
    var notes: [Note] = []
    var fixIts: [FixIt] = []
  }

  struct Position: Encodable {
    var fileName: String
    var offset: Int
  }

  struct Range: Encodable {
    var fileName: String
    var startOffset: Int
    var endOffset: Int
  }

  struct Note: Encodable {
    var position: Position
    var message: String
  }

  struct FixIt: Encodable {
    var message: String
    var changes: [Change]

    struct Change: Encodable {
      var range: Range
      var newText: String
    }
  }
}
