// Attributes whose values follow from others.

import CairnModel
import Foundation

/// An attribute that is computed when an object is saved: a copy over to-one relationships (`author.name`),
/// `canonical:`, `uppercase:` or `lowercase:` of one, the number or the sum of related objects
/// (`items.@count`, `items.@sum.price`), or the time of the save (`now()`).
///
/// An object shows the new value after a save and a refresh.
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
      let type = relationship.destinationEntity?.attributesByName[summand].flatMap { ValueType($0.type) }
      guard type?.family == .number else { return "\"\(name).\(summand)\" is no number" }
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
