// Attributes whose values follow from others.

import CairnModel
import Foundation

/// An attribute that is computed when an object is saved: a copy over to-one relationships (`author.name`),
/// `canonical:`, `uppercase:` or `lowercase:` of one, the number or the sum of related objects
/// (`items.@count`, `items.@sum.price`), or the time of the save (`now()`).
///
/// A save computes it for each object that it inserts, and for each whose sources it changes, directly or
/// through others: renaming an author changes all of its books, moving a book both of its shelves. `now()`
/// gives the time of the save that inserts the object or changes an attribute or a to-one relationship of it.
/// What is set by hand is lost in the save. A derived attribute may be computed from another one, but not
/// from itself. It isn't validated, and its default value means nothing.
///
/// What isn't there is nil: of a path that ends early. A sum leaves nil out, and of nothing it is 0. A number
/// that the attribute's type can't hold becomes the nearest that it can; fractions are cut off.
///
/// An object that a save has written shows the new value at once, any other that has been read already after
/// a refresh; fetches find it from the save on. A derived value that changes is part of the history, but is
/// no reason for a conflict. Rows that are copied, by a migration or by moving a store, keep the values that
/// they have.
///
/// Costs, in a save that concerns a derived attribute: a look at each row whose value may have changed, and
/// for a sum, or a count of a many-to-many relationship, at its members. The rows are found through inverses;
/// where there is none, by a search of all that have the relationship. Such saves of one store go one after
/// the other. Other saves, and those of models without derived attributes, cost nothing more.
///
/// Adding an `NSAtomicStore` or an `NSIncrementalStore` that would have to keep one throws 134020.
///
/// Sendable: as `NSPropertyDescription`.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  /// What the value is computed from. Another form than those above is a fault of the model.
  public final var derivationExpression: NSExpression? { willSet { requireMutable() } }
  /// Which related objects count; kept for whoever reads the model, and a fault where it says anything.
  final var filteringPredicate: NSPredicate? { willSet { requireMutable() } }

  public required init() {}

  override func copyContents(to copy: NSPropertyDescription) {
    super.copyContents(to: copy)
    guard let copy = copy as? NSDerivedAttributeDescription else { return }
    copy.derivationExpression = derivationExpression
    copy.filteringPredicate = filteringPredicate
  }

  override func isDescribedLike(_ other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSDerivedAttributeDescription, super.isDescribedLike(other) else {
      return false
    }
    return derivationExpression == other.derivationExpression
      && filteringPredicate?.tree == other.filteringPredicate?.tree
  }
}

/// How the value of a derived attribute is computed.
enum Derivation: Hashable, Sendable {
  enum Fold: String, Hashable, Sendable {
    case canonical = "canonical:"
    case uppercase = "uppercase:"
    case lowercase = "lowercase:"
  }

  /// The value at the end of a path over to-one relationships, folded if that is said.
  case value([String], Fold?)
  /// How many objects a relationship leads to.
  case count(String)
  /// The sum of an attribute of the objects that a relationship leads to.
  case sum(String, of: String)
  /// When the object is saved.
  case now

  /// The attribute that it copies, folds or sums; nil where there is none.
  func source(in entity: NSEntityDescription) -> (attribute: NSAttributeDescription, of: NSEntityDescription)?
  {
    let path: [String]
    switch self {
    case .now, .count: return nil
    case .sum(let name, let summand): path = [name, summand]
    case .value(let names, _): path = names
    }
    var owner: NSEntityDescription? = entity
    for hop in path.dropLast() { owner = owner?.relationshipsByName[hop]?.destinationEntity }
    guard let owner, let attribute = path.last.flatMap({ owner.attributesByName[$0] }) else { return nil }
    return (attribute, owner)
  }

  /// Whether the values that it is computed from are, in the end, of `attribute` themselves.
  func leadsBack(to attribute: NSAttributeDescription, in entity: NSEntityDescription) -> Bool {
    var seen: [NSAttributeDescription] = []
    var next = source(in: entity)
    while let (found, owner) = next, !seen.contains(where: { $0 === found }) {
      if found === attribute { return true }
      seen.append(found)
      let expression = (found as? NSDerivedAttributeDescription)?.derivationExpression
      next = expression.flatMap { Derivation($0.tree) }?.source(in: owner)
    }
    return false
  }

  /// nil for another form.
  init?(_ tree: ExpressionTree) {
    switch tree {
    case .keyPath(let path) where !path.contains { $0.hasPrefix("@") }: self = .value(path, nil)
    case .keyPath(let path) where path.count == 2 && path[1] == "@count" && !path[0].hasPrefix("@"):
      self = .count(path[0])
    case .keyPath(let path) where path.count == 3 && path[1] == "@sum" && !path[0].hasPrefix("@"):
      self = .sum(path[0], of: path[2])
    case .function("now", let arguments) where arguments.isEmpty: self = .now
    case .function(let name, let arguments):
      guard let fold = Fold(rawValue: name), arguments.count == 1, case .keyPath(let path) = arguments[0],
        !path.contains(where: { $0.hasPrefix("@") })
      else { return nil }
      self = .value(path, fold)
    default: return nil
    }
  }

  /// What is wrong with it as the derivation of `attribute`; nil if nothing is.
  func fault(of attribute: NSAttributeDescription, in entity: NSEntityDescription) -> String? {
    switch self {
    case .now: return attribute.type == .date ? nil : "now() gives a date"
    case .count(let name):
      guard let relationship = entity.relationshipsByName[name], relationship.isToMany else {
        return "\"\(name)\" is no to-many relationship"
      }
      return [.integer16, .integer32, .integer64].contains(attribute.type) ? nil : "a count is an integer"
    case .sum(let name, let summand):
      guard let relationship = entity.relationshipsByName[name], relationship.isToMany else {
        return "\"\(name)\" is no to-many relationship"
      }
      let source = relationship.destinationEntity?.attributesByName[summand]
      guard let source, ValueType(source.type)?.family == .number else {
        return "\"\(name).\(summand)\" is no number"
      }
      if source.isTransient { return "\"\(name).\(summand)\" isn't stored" }
      return ValueType(attribute.type)?.family == .number ? nil : "a sum is a number"
    case .value(let path, let fold): return fault(of: attribute, in: entity, along: path, fold)
    }
  }

  private func fault(
    of attribute: NSAttributeDescription, in entity: NSEntityDescription, along path: [String], _ fold: Fold?
  ) -> String? {
    var owner: NSEntityDescription? = entity
    for hop in path.dropLast() {
      guard let relationship = owner?.relationshipsByName[hop], !relationship.isToMany else {
        return "\"\(hop)\" is no to-one relationship"
      }
      owner = relationship.destinationEntity
    }
    guard let last = path.last, let source = owner?.attributesByName[last], source !== attribute else {
      return "\"\(path.joined(separator: "."))\" leads to no other attribute"
    }
    if source.isTransient { return "\"\(path.joined(separator: "."))\" isn't stored" }
    if fold != nil, source.type != .string || attribute.type != .string { return "only strings are folded" }
    return source.type == attribute.type ? nil : "a copy is of the type of what is copied"
  }
}
