// Configurations: named groups of a model's entities, each for a store of its own.

import Foundation

extension NSManagedObjectModel {
  /// The names of the configurations, in alphabetical order. The default one, of all entities, has none.
  public final var configurations: [String] { entitiesByConfiguration.keys.sorted() }

  /// The entities of a configuration, all for nil; nil for a name that there isn't.
  public final func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
    guard let configuration else { return entities }
    return entitiesByConfiguration[configuration]
  }

  /// Groups entities of the model under a name, in place of those that were. Configurations may overlap.
  /// An entity that isn't in the model is a fault of the model.
  public final func setEntities(
    _ entities: [NSEntityDescription], forConfigurationName configuration: String
  ) {
    entitiesByConfiguration[configuration] = entities
  }
}
