// Whether a model is sound, asked before it is used.

import CairnModel
import Foundation

/// Something about a model that works and is probably not meant.
public struct ModelWarning: Sendable, Hashable, CustomStringConvertible {
  public let entity: String
  public let property: String
  public let message: String

  public var description: String { "\(entity).\(property): \(message)" }
}

extension NSManagedObjectModel {
  /// Cairn's own: throws `SchemaError` with everything that is wrong with the model, the same that adding a store
  /// would report; otherwise returns what works and is probably not meant. Doesn't freeze the model.
  @discardableResult
  public final func validate() throws -> [ModelWarning] {
    _ = try ModelCompiler.schema(of: self)
    return entities.flatMap { entity in entity.ownProperties.flatMap { warnings(on: $0, of: entity) } }
  }

  private func warnings(
    on property: NSPropertyDescription, of entity: NSEntityDescription
  ) -> [ModelWarning] {
    var messages: [String] = []
    if let first = property.name.first, !first.isLowercase {
      messages.append("a property's name begins with a lowercase letter")
    }
    if let relationship = property as? NSRelationshipDescription, relationship.currentInverseName == nil {
      messages.append("has no inverse, so that nothing is maintained on the other side")
    }
    if let derived = property as? NSDerivedAttributeDescription, derived.defaultValue != nil {
      messages.append("is derived, so that its default value means nothing")
    }
    return messages.map { ModelWarning(entity: entity.name ?? "", property: property.name, message: $0) }
  }
}
