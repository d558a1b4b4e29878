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
      for case let fetched as NSFetchedPropertyDescription in entity.ownProperties {
        resolveRequest(of: fetched, byName)
      }
    }
    var relationships: [ObjectIdentifier: [String: NSRelationshipDescription]] = [:]
    for entity in entities {
      for case let relationship as NSRelationshipDescription in entity.ownProperties {
        resolveInverse(of: relationship, &relationships)
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

  /// The request may be another model's too, so that a copy of it takes its place.
  private func resolveRequest(
    of fetched: NSFetchedPropertyDescription, _ byName: [String: NSEntityDescription]
  ) {
    guard let request = fetched.fetchRequest, let present = request.entity, present.model !== self,
      let name = request.entityName, byName[name] != nil
    else { return }
    fetched.fetchRequest = request.templateCopy(for: self)
  }

  /// `known` are the relationships of entities by their names, found once each.
  private func resolveInverse(
    of relationship: NSRelationshipDescription,
    _ known: inout [ObjectIdentifier: [String: NSRelationshipDescription]]
  ) {
    if let present = relationship.inverseRelationship, present.owner?.model === self { return }
    guard let name = relationship.currentInverseName, let destination = relationship.destinationEntity
    else { return }
    let id = ObjectIdentifier(destination)
    let byName = known[id] ?? destination.relationshipsByName
    known[id] = byName
    guard let found = byName[name], found.owner?.model === self else { return }
    relationship.inverseRelationship = found
  }

  private func resolveElements(of index: NSFetchIndexDescription, in entity: NSEntityDescription) {
    var byName: [String: NSPropertyDescription]?
    for element in index.elements {
      guard let property = element.property, !(property is NSExpressionDescription),
        property.owner?.model !== self
      else { continue }
      let properties = byName ?? entity.propertiesByName
      byName = properties
      guard let found = properties[property.name] else { continue }
      element.property = found
    }
  }
}
