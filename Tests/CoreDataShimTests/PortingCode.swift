// The Swift of the porting guide (Sources/CoreData/README.md), block by block, so that it compiles.
// `PortingTests` holds the two to each other.

import CoreData
import Foundation

// begin imports
import class CoreData.NSExpression
// end

// begin managed
final class Recipe: NSManagedObject {
  @Managed var name: String
  @Managed var rating: Int16
  @Managed var cookedAt: Date?
  @Managed var steps: Set<RecipeStep>
}

final class RecipeStep: NSManagedObject {
  @Managed var text: String?
  @Managed var recipe: Recipe?
}
// end

func addStep(_ step: RecipeStep, to recipe: Recipe) {
  // begin large sets
  step.recipe = recipe
  recipe.mutableSetValue(forKey: "steps").add(step)
  // end
}

// begin class model
final class Ingredient: NSManagedObject {
  @Managed(.unique) var name: String
  @Managed(default: "g") var unit: String
}

let pantry = NSManagedObjectModel(for: Ingredient.self)
// end

func nameClass(of entity: NSEntityDescription) {
  // begin class name
  entity.managedObjectClassName = String(reflecting: Recipe.self)
  // end
}

func sorting(_ request: NSFetchRequest<Recipe>) {
  // begin key paths
  request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
  request.predicate = NSPredicate(format: "%K == %@", "recipe.name", "Soup")
  // end
}

func sortingAsPeopleDo(_ request: NSFetchRequest<Recipe>) {
  // begin selectors
  request.sortDescriptors = [
    NSSortDescriptor(key: "name", ascending: true, selector: .localizedStandardCompare)
  ]
  // end
}

// begin selectors of Apple's
#if canImport(Darwin)
  extension Selector {
    static let localizedStandardCompare = #selector(NSString.localizedStandardCompare(_:))
  }
#endif
// end

// begin observer
/// Sendable: only the context's queue posts, and asks.
final class SaveCounter: @unchecked Sendable {
  private(set) var count = 0
  private var token: (any NSObjectProtocol)?

  init(context: NSManagedObjectContext) {
    token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { [weak self] _ in self?.count += 1 }
  }

  deinit {
    if let token { NotificationCenter.default.removeObserver(token) }
  }
}
// end

func registerReplacement() {
  // begin replacement
  NSPersistentStoreCoordinator.registerStoreClass(NSInMemoryStore.self, forStoreType: NSSQLiteStoreType)
  // end
}

func testContainer(_ model: NSManagedObjectModel) -> NSPersistentContainer {
  // begin null device
  let container = NSPersistentContainer(name: "Recipes", managedObjectModel: model)
  container.persistentStoreDescriptions = [
    NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
  ]
  // end
  return container
}

// begin custom store
final class ServiceStore: NSIncrementalStore, @unchecked Sendable {
  required init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
    at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
  }

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    guard let fetch = request as? NSFetchRequest<NSFetchRequestResult> else {
      throw CocoaError(.persistentStoreUnsupportedRequestType)
    }
    return try find(fetch)
  }
  // …
  // end
  private func find(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> [NSManagedObjectID] { [] }
}

// begin apple only
#if canImport(Darwin)
  import Combine
#endif
// end

func annotated(_ expression: NSExpression) -> String { expression.keyPath }
