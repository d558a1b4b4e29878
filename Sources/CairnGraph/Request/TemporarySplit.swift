import CairnModel

extension PredicateTree {
  func split(bindableTo entity: EntityID, in schema: Schema) throws -> (
    columns: PredicateTree?, rest: PredicateTree?
  ) {
    do {
      _ = try BoundPredicate(self, to: entity, in: schema)
      return (self, nil)
    } catch let error as StoreError where error.code == .unbindablePredicate {
      return (nil, self)
    }
  }
}
