// The models that contexts work with, for the class methods that have to find their entity: `Note.entity()`.

import CairnModel
import Foundation

/// Weak references to models that a context was given.
enum ModelsInUse {
  private struct WeakModel {
    weak var model: NSManagedObjectModel?
  }

  // Models are frozen when they come here, and so may be read from anywhere.
  nonisolated(unsafe) private static var models: [WeakModel] = []
  private static let lock = NSLock()

  static func add(_ model: NSManagedObjectModel) {
    lock.withLock {
      models.removeAll { $0.model == nil }
      if !models.contains(where: { $0.model === model }) { models.append(WeakModel(model: model)) }
    }
  }

  /// The entities whose objects are of `type`, in all models that are in use.
  static func entities(of type: NSManagedObject.Type) -> [NSEntityDescription] {
    lock.withLock { models.compactMap(\.model) }.compactMap { model in
      (try? model.compiled())?.entity(for: type)?.description
    }
  }
}
