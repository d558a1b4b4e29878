// The fetches of a run: predicates and orders made up at random, asked of the engine and of the reference.

import Cairn

@testable import CairnGraph

extension RefRun {
  private func predicate(_ entity: String, depth: Int) -> RefPredicate {
    switch depth > 0 ? random.below(6) : 0 {
    case 4: return .not(predicate(entity, depth: depth - 1))
    case 5:
      let parts = (0..<2).map { _ in predicate(entity, depth: depth - 1) }
      return random.oneIn(2) ? .and(parts) : .or(parts)
    default:
      let path = path(entity)
      return .compare(path, random.pick(RefPredicate.Op.allCases), value(for: path[path.count - 1]))
    }
  }

  private func path(_ entity: String) -> [String] {
    let hops = RefModel.relations(of: entity).filter { $0.place == .own }
    if !hops.isEmpty, random.oneIn(3) {
      let hop = random.pick(hops)
      return [hop.name] + path(hop.destination)
    }
    return [random.pick(RefModel.attributes[entity]!.map(\.name))]
  }

  func fetch(_ side: RefSide) throws {
    let entity = random.pick(["Person", "Person", "Worker", "Team", "Item"])
    let request = RefRequest(
      entity: entity, includesSubentities: !random.oneIn(5),
      predicate: random.oneIn(4) ? nil : predicate(entity, depth: 2),
      sort: (0..<random.below(3)).map { _ in (path(entity), random.oneIn(2)) },
      offset: random.oneIn(3) ? random.below(4) : 0, limit: random.oneIn(3) ? 1 + random.below(4) : 0)
    operation += "fetch \(request)"
    try fetch(side, request)
  }

  func fetch(_ side: RefSide, _ request: RefRequest) throws {
    let fetch = NSFetchRequest<NSManagedObject>(entityName: request.entity)
    fetch.includesSubentities = request.includesSubentities
    fetch.predicateTree = request.predicate.map(tree)
    fetch.sortDescriptors = request.sort.map {
      NSSortDescriptor(key: $0.path.joined(separator: "."), ascending: $0.ascending)
    }
    fetch.fetchOffset = request.offset
    fetch.fetchLimit = request.limit
    let wanted = side.reference.fetch(request)
    let count = try side.context.count(for: fetch)
    let found = try side.context.fetch(fetch).map { try side.number($0) }
    for id in found { _ = side.reference.object(id) }
    try side.check(count, wanted.ids.count, "the count of \(request)")
    if wanted.isOrdered {
      try side.check(found, wanted.ids, "what fetching \(request) finds")
    } else if request.offset == 0, request.limit == 0 {
      try side.check(Set(found), Set(wanted.ids), "what fetching \(request) finds")
    }
  }

  private func tree(_ predicate: RefPredicate) -> PredicateTree {
    switch predicate {
    case .and(let parts): return .and(parts.map(tree))
    case .or(let parts): return .or(parts.map(tree))
    case .not(let part): return .not(tree(part))
    case .compare(let path, let op, let value):
      let key = path.joined(separator: ".")
      let constant: Value
      switch value {
      case .int(let number): constant = .int(Int64(number))
      case .text(let text): constant = .string(text)
      case .null, .object: constant = .null
      }
      switch op {
      case .equal: return .compare(key, .equal, constant)
      case .unequal: return .compare(key, .notEqual, constant)
      case .less: return .compare(key, .less, constant)
      case .atLeast: return .compare(key, .greaterOrEqual, constant)
      }
    }
  }
}
