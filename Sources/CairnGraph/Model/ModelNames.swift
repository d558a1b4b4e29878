// From names to references: how entities that were copied or read find each other in their model.

import Foundation

extension NSManagedObjectModel {
  /// Leads what means an entity or a property outside of the model to the one of the same name inside it.
  /// What has no namesake stays as it is, and is a fault when the model is compiled.
  final func resolveNames() {
    let byName = entitiesByName
    for entity in entities where !entity.subentityNames.isEmpty {
      let children = entity.subentityNames.compactMap { byName[$0] }
      entity.subentityNames = []
      let added = children.filter { child in !entity.subentities.contains { $0 === child } }
      if !added.isEmpty { entity.subentities += added }
    }
    for entity in entities {
      for case let relationship as NSRelationshipDescription in entity.ownProperties {
        resolveDestination(of: relationship, byName)
      }
    }
    for entity in entities {
      for case let relationship as NSRelationshipDescription in entity.ownProperties {
        resolveInverse(of: relationship)
      }
      for index in entity.indexes { resolveElements(of: index, in: entity) }
    }
  }

  private func resolveDestination(
    of relationship: NSRelationshipDescription, _ byName: [String: NSEntityDescription]
  ) {
    if let present = relationship.destinationEntity, present.model === self { return }
    guard let name = relationship.currentDestinationName, let found = byName[name] else { return }
    relationship.destinationEntity = found
  }

  private func resolveInverse(of relationship: NSRelationshipDescription) {
    if let present = relationship.inverseRelationship, present.owner?.model === self { return }
    guard let name = relationship.currentInverseName,
      let found = relationship.destinationEntity?.relationshipsByName[name], found.owner?.model === self
    else { return }
    relationship.inverseRelationship = found
  }

  private func resolveElements(of index: NSFetchIndexDescription, in entity: NSEntityDescription) {
    for element in index.elements {
      guard let property = element.property, !(property is NSExpressionDescription),
        property.owner?.model !== self,
        let found = entity.propertiesByName[property.name]
      else { continue }
      element.property = found
    }
  }
}
