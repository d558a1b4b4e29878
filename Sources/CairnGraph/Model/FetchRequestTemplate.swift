// Fetch requests as parts of a model: copies, and whether two ask for the same.

import CairnModel
import Foundation

extension NSFetchRequest {
  /// A request that asks for the same, of the entities of `model` instead of those of another one.
  final func templateCopy(for model: NSManagedObjectModel) -> NSFetchRequest<ResultType> {
    let copy = entityName.map { NSFetchRequest<ResultType>(entityName: $0) } ?? NSFetchRequest<ResultType>()
    if entity != nil, let name = entityName, let namesake = model.entitiesByName[name] {
      copy.entity = namesake
    }
    copyContents(to: copy)
    return copy
  }

  /// Whether both ask for the same, with entities compared by name.
  final func asksLike(_ other: NSFetchRequest<ResultType>) -> Bool {
    entityName == other.entityName && predicate?.tree == other.predicate?.tree
      && (sortDescriptors ?? []) == (other.sortDescriptors ?? [])
      && fetchLimit == other.fetchLimit && fetchOffset == other.fetchOffset
      && includesSubentities == other.includesSubentities
      && includesPendingChanges == other.includesPendingChanges && resultType == other.resultType
      && fetchBatchSize == other.fetchBatchSize && returnsObjectsAsFaults == other.returnsObjectsAsFaults
      && includesPropertyValues == other.includesPropertyValues
      && returnsDistinctResults == other.returnsDistinctResults
      && shouldRefreshRefetchedObjects == other.shouldRefreshRefetchedObjects
      && areColumnsAlike(propertiesToFetch, other.propertiesToFetch)
      && areColumnsAlike(propertiesToGroupBy ?? [], other.propertiesToGroupBy ?? [])
      && havingPredicate?.tree == other.havingPredicate?.tree
      && (relationshipKeyPathsForPrefetching ?? []) == (other.relationshipKeyPathsForPrefetching ?? [])
  }

  /// Names and the properties of those names are the same columns; computed ones are compared as described.
  private func areColumnsAlike(_ columns: [Any]?, _ others: [Any]?) -> Bool {
    guard let columns, let others else { return columns == nil && others == nil }
    return columns.count == others.count
      && zip(columns, others).allSatisfy { column, other in
        if column is NSExpressionDescription || other is NSExpressionDescription {
          return areEqual(column, other)
        }
        return areEqual(NSEntityDescription.propertyName(column), NSEntityDescription.propertyName(other))
      }
  }
}
