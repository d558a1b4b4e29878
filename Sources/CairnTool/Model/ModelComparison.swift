// Two models side by side.

import Cairn

struct ModelComparison {
  let old: ModelDocument
  let new: ModelDocument

  /// A line for each difference, + for added, - for removed, > for renamed, ~ for changed; then the entities whose
  /// hashes differ.
  var text: String {
    // In the compiled form, for a source and a compiled model to compare.
    let differences = new.compiled.differences(from: old.compiled)
    var lines = differences.map { difference in
      var place = difference.entity ?? ""
      if let property = difference.property { place += "." + property }
      return "\(sign(difference.kind)) "
        + [place, difference.message].filter { !$0.isEmpty }.joined(separator: "  ")
    }
    if lines.isEmpty { lines.append("no difference") }
    lines.append("")
    let names = new.entitiesWithOtherHashes(than: old)
    if names.isEmpty {
      lines.append("all version hashes are the same: no store needs a migration")
    } else {
      lines.append("version hashes differ: \(names.joined(separator: ", "))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func sign(_ kind: ModelDifference.Kind) -> String {
    switch kind {
    case .added: "+"
    case .removed: "-"
    case .renamed: ">"
    case .changed: "~"
    }
  }
}
