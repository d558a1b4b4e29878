// Taking paths apart and putting them together, as text. What asks the disk is in FileSystem.

enum Paths {
  /// Everything before the last name: "/a" of "/a/b", "/" of "/a".
  static func directory(of path: String) -> String {
    let trimmed = trimmed(path)
    guard let slash = trimmed.lastIndex(of: "/") else { return "." }
    return slash == trimmed.startIndex ? "/" : trimmed[..<slash].description
  }

  /// The last name: "b" of "/a/b" and of "/a/b/"; empty for "/".
  static func name(of path: String) -> String {
    let trimmed = trimmed(path)
    guard let slash = trimmed.lastIndex(of: "/") else { return String(trimmed) }
    return String(trimmed[trimmed.index(after: slash)...])
  }

  static func join(_ directory: String, _ name: String) -> String {
    directory.hasSuffix("/") ? directory + name : directory + "/" + name
  }

  static func requireAbsolute(_ path: String) {
    precondition(path.utf8.first == UInt8(ascii: "/"), "the path '\(path)' isn't absolute: begin it with '/'")
  }

  private static func trimmed(_ path: String) -> Substring {
    var rest = path[...]
    while rest.count > 1, rest.last == "/" { rest.removeLast() }
    return rest
  }
}
