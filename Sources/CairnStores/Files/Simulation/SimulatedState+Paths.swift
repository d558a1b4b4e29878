// Finding nodes by path, as POSIX does it: links followed, "." and ".." walked.

import CairnModel
import Foundation

extension SimulatedState {
  /// Where a path leads.
  struct Location {
    /// From the root down to the directory that has the name.
    let directories: [Int]
    let name: String
    let node: Int?
    let path: String
    var directory: Int { directories.last! }
  }

  /// Throws unless everything above the last name is there. A last name that is a link is followed if asked for.
  func locate(_ path: String, followingLast: Bool = true) throws(SystemFailure) -> Location {
    if path.utf8.contains(0) { throw SystemFailure(EINVAL) }
    var above: [(node: Int, name: String)] = [(Self.root, "")]
    var rest = Self.names(path)
    var linkCount = 0
    while let name = rest.popLast() {
      let directory = above.last!.node
      guard nodes[directory].isDirectory else { throw SystemFailure(ENOTDIR) }
      if name == "." { continue }
      if name == ".." {
        if above.count > 1 { above.removeLast() }
        continue
      }
      guard let node = nodes[directory].entries[name] else {
        if !rest.isEmpty { throw SystemFailure(ENOENT) }
        return location(above, name, nil)
      }
      if case .link(let target) = nodes[node].kind, followingLast || !rest.isEmpty {
        linkCount += 1
        if linkCount > 40 { throw SystemFailure(ELOOP) }
        if target.hasPrefix("/") { above = [above[0]] }
        rest += Self.names(target)
      } else if rest.isEmpty {
        return location(above, name, node)
      } else {
        above.append((node, name))
      }
    }
    let last = above.removeLast()
    if above.isEmpty {
      return Location(directories: [Self.root], name: "", node: Self.root, path: "/")
    }
    return location(above, last.name, last.node)
  }

  /// The node at the path, or an error if none is.
  func existing(_ path: String) throws(SystemFailure) -> Int {
    guard let node = try locate(path).node else { throw SystemFailure(ENOENT) }
    return node
  }

  func directory(_ path: String) throws(SystemFailure) -> Int {
    let node = try existing(path)
    if !nodes[node].isDirectory { throw SystemFailure(ENOTDIR) }
    return node
  }

  func information(of node: Int) -> FileInformation {
    // There are no second names, but there may be none any more.
    let hasName = node == Self.root || nodes.contains { $0.isDirectory && $0.entries.values.contains(node) }
    let it = nodes[node]
    return FileInformation(
      size: UInt64(it.content.size), device: 1, inode: UInt64(node) + 2, isDirectory: it.isDirectory,
      linkCount: hasName ? 1 : 0, permissions: it.permissions)
  }

  private func location(_ above: [(node: Int, name: String)], _ name: String, _ node: Int?) -> Location {
    let path = (above.map(\.name) + [name]).joined(separator: "/")
    return Location(directories: above.map(\.node), name: name, node: node, path: path)
  }

  /// The names in a path, last first.
  private static func names(_ path: String) -> [String] {
    path.split(separator: "/").reversed().map(String.init)
  }
}
