// One model of several.

import CairnModel
public import Foundation

extension NSManagedObjectModel {
  /// A new model of copies of the entities of all `models`, with their configurations, templates, texts and version
  /// identifiers; an empty one for nil.
  ///
  /// An entity that several models describe alike is taken once; one that they describe differently is a programmer
  /// error.
  public convenience init?(byMerging models: [NSManagedObjectModel]?) {
    self.init(fileID: models?.first?.fileID ?? "")
    merge(models ?? []) { _ in true }
  }

  /// As `init(byMerging:)`, of just those entities whose version hashes the metadata of a store has; nil where they
  /// aren't all there.
  public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any])
  {
    guard let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] else { return nil }
    self.init(fileID: models.first?.fileID ?? "")
    var wanted: [NSManagedObjectModel: Set<String>] = [:]
    var found: Set<String> = []
    for model in models where wanted[model] == nil {
      let matching = model.entityVersionHashesByName.filter { hashes[$0.key] == $0.value }.keys
      wanted[model] = Set(matching).subtracting(found)
      found.formUnion(matching)
    }
    guard found == Set(hashes.keys) else { return nil }
    merge(models) { entity in
      entity.model.flatMap { wanted[$0] }?.contains(entity.name ?? "") ?? false
    }
  }

  /// The models of the bundles as one; nil where one of them can't be read. For nil, of the main bundle and the
  /// resource bundles beside the executable. An empty model where there are none.
  public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
    models(in: bundles).flatMap { NSManagedObjectModel(byMerging: $0) }
  }

  /// As `mergedModel(from:)`, of all versions of the models and of just those entities whose version hashes the
  /// metadata of a store has; nil where they aren't all there.
  public class func mergedModel(
    from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
  ) -> NSManagedObjectModel? {
    let models = (bundles ?? ModelSearch.bundles()).flatMap(ModelSearch.models).flatMap { url in
      let versions = (try? ModelFile.versions(at: url)) ?? []
      return versions.sorted { $0.isCurrent && !$1.isCurrent }.compactMap { version in
        (try? version.document()).flatMap { try? NSManagedObjectModel(document: $0, fileID: "") }
      }
    }
    // One version has them all, as a rule.
    for model in models {
      if model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) { return model }
    }
    return NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
  }

  private class func models(in bundles: [Bundle]?) -> [NSManagedObjectModel]? {
    var models: [NSManagedObjectModel] = []
    for url in (bundles ?? ModelSearch.bundles()).flatMap(ModelSearch.models) {
      guard let model = NSManagedObjectModel(contentsOf: url, fileID: "") else { return nil }
      models.append(model)
    }
    return models
  }

  private final func merge(
    _ models: [NSManagedObjectModel], where isWanted: (NSEntityDescription) -> Bool
  ) {
    var originals: [String: NSEntityDescription] = [:]
    var merged: [NSEntityDescription] = []
    for entity in models.flatMap(\.entities) where isWanted(entity) {
      let name = entity.name ?? ""
      if let known = originals[name] {
        if let difference = known.difference(from: entity) {
          fatalError(
            "Can't merge models with two different entities named '\(name)': they differ in \(difference)")
        }
        continue
      }
      originals[name] = entity
      guard let copy = entity.copy() as? NSEntityDescription else { continue }
      merged.append(copy)
    }
    entities = merged
    for model in models { takeExtras(of: model) }
  }

  /// Configurations, templates, texts and identifiers.
  private final func takeExtras(of model: NSManagedObjectModel) {
    let byName = entitiesByName
    versionIdentifiers.formUnion(model.versionIdentifiers)
    if let texts = model.localizationDictionary {
      localizationDictionary = (localizationDictionary ?? [:]).merging(texts) { first, _ in first }
    }
    for (name, members) in model.entitiesByConfiguration {
      var present = entitiesByConfiguration[name] ?? []
      for member in members.compactMap({ $0.name.flatMap { byName[$0] } })
      where !present.contains(where: { $0 === member }) {
        present.append(member)
      }
      entitiesByConfiguration[name] = present
    }
    for (name, request) in model.templates where templates[name] == nil {
      templates[name] = request.templateCopy(for: self)
    }
  }
}
