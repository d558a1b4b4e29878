// Delete this file once the coordinator itself has these: it is here so that contexts compile without them.

import CairnModel

extension NSPersistentStoreCoordinator {
  final func stores(for entity: EntityID) -> [NSPersistentStore] { persistentStores }
}

extension NSPersistentStore {
  var isReadOnly: Bool { false }
}
