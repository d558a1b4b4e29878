// Models written down in Swift: result builders over Core Data's own descriptions, which get initialisers that say
// in one line what code and Xcode say in ten.
//
// The parts are the descriptions themselves. Short names such as `Entity` and `Attribute` are what programs call
// their own types, and a program's own type hides an imported one.

import Foundation

/// Collects the entities of a model; `if`, `for` and lists work.
@resultBuilder
public enum EntityListBuilder {
  public static func buildExpression(_ entity: NSEntityDescription) -> [NSEntityDescription] { [entity] }
  public static func buildExpression(_ entities: [NSEntityDescription]) -> [NSEntityDescription] { entities }
  public static func buildBlock(_ parts: [NSEntityDescription]...) -> [NSEntityDescription] {
    parts.flatMap { $0 }
  }
  public static func buildOptional(_ part: [NSEntityDescription]?) -> [NSEntityDescription] { part ?? [] }
  public static func buildEither(first: [NSEntityDescription]) -> [NSEntityDescription] { first }
  public static func buildEither(second: [NSEntityDescription]) -> [NSEntityDescription] { second }
  public static func buildArray(_ parts: [[NSEntityDescription]]) -> [NSEntityDescription] {
    parts.flatMap { $0 }
  }
}

/// Collects properties, of an entity or a composite attribute; `if`, `for` and lists work.
@resultBuilder
public enum PropertyListBuilder<Property: NSPropertyDescription> {
  public static func buildExpression(_ property: Property) -> [Property] { [property] }
  public static func buildExpression(_ properties: [Property]) -> [Property] { properties }
  public static func buildBlock(_ parts: [Property]...) -> [Property] { parts.flatMap { $0 } }
  public static func buildOptional(_ part: [Property]?) -> [Property] { part ?? [] }
  public static func buildEither(first: [Property]) -> [Property] { first }
  public static func buildEither(second: [Property]) -> [Property] { second }
  public static func buildArray(_ parts: [[Property]]) -> [Property] { parts.flatMap { $0 } }
}

extension NSManagedObjectModel {
  /// A model of the entities that the builder lists.
  ///
  ///     let model = NSManagedObjectModel {
  ///       NSEntityDescription("Folder", Folder.self) {
  ///         NSAttributeDescription("name", .string, optional: false, default: "New", unique: true)
  ///         NSRelationshipDescription("notes", toMany: "Note", inverse: "folder", deleteRule: .cascade)
  ///       }
  ///       NSEntityDescription("Note", Note.self) {
  ///         NSAttributeDescription("text", .string)
  ///         NSRelationshipDescription("folder", to: "Folder")
  ///       }
  ///     }
  ///
  /// Entities and relationships name each other, in any order, and an inverse that one side names holds for both.
  /// A name that leads nowhere is a fault of the model, found with all others when it is used or validated.
  public convenience init(
    versionIdentifiers: Set<String> = [], fileID: String = #fileID,
    @EntityListBuilder _ entities: () -> [NSEntityDescription]
  ) {
    self.init(fileID: fileID)
    self.versionIdentifiers = Set(versionIdentifiers.map { AnyHashable($0) })
    assemble(entities())
  }

  /// Takes entities that name each other: parents, inverses and configurations become references.
  final func assemble(_ list: [NSEntityDescription]) {
    var byName: [String: NSEntityDescription] = [:]
    for entity in list { if let name = entity.name { byName[name] = entity } }
    for entity in list {
      guard let parentName = entity.superentityName else { continue }
      if let parent = byName[parentName] {
        parent.subentities += [entity]
        entity.superentityName = nil
      }
    }
    entities = list
    completeInverses()
    for entity in list {
      for name in entity.configurationNames {
        entitiesByConfiguration[name, default: []].append(entity)
      }
    }
  }

  private final func completeInverses() {
    for entity in entities {
      for case let relationship as NSRelationshipDescription in entity.ownProperties {
        guard let back = relationship.inverseRelationship, back.currentInverseName == nil else { continue }
        back.inverseRelationship = relationship
      }
    }
  }
}
