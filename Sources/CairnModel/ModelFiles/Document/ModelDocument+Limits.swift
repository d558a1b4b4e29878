// What a reader refuses although it could be understood, because nobody could work with it in bounded time.

extension ModelDocument {
  /// How many levels entities may inherit. Inherited properties are listed with each subentity, so a file of
  /// one long chain would otherwise grow to its square.
  static let inheritanceDepthLimit = 256
  /// How many properties all entities may have together, inherited ones counted with each that inherits them: so
  /// much is hashed and checked.
  static let propertyTotalLimit = 1_000_000

  func checkLimits(file: String) throws {
    let parents = Dictionary(entities.map { ($0.name, $0.superentity) }) { first, _ in first }
    let own = Dictionary(entities.map { ($0.name, $0.properties.count) }) { first, _ in first }
    var depths: [String: Int] = [:]
    var counts: [String: Int] = [:]
    var total = 0
    for entity in entities {
      var line: [String] = []
      var next: String? = entity.name
      // A circle is a fault of the model that `check()` finds; here it only has to end.
      while let name = next, parents[name] != nil, depths[name] == nil, line.count <= entities.count {
        line.append(name)
        next = parents[name] ?? nil
      }
      var depth = next.flatMap { depths[$0] } ?? 0
      var count = next.flatMap { counts[$0] } ?? 0
      for name in line.reversed() {
        depth += 1
        depths[name] = depth
        // Of a circle too long for the line, the count only has to end.
        count = min(count + (own[name] ?? 0), ModelDocument.propertyTotalLimit)
        counts[name] = count
      }
      total += counts[entity.name] ?? 0
      if depth > ModelDocument.inheritanceDepthLimit, line.count <= entities.count {
        throw ModelFileError(
          .tooLarge, file: file,
          "\(entity.name) inherits over more than \(ModelDocument.inheritanceDepthLimit) levels",
          remedy: "restore the file from version control")
      }
      if total > ModelDocument.propertyTotalLimit {
        throw ModelFileError(
          .tooLarge, file: file,
          "its entities have more than \(ModelDocument.propertyTotalLimit) properties with those they inherit",
          remedy: "restore the file from version control")
      }
    }
  }
}
