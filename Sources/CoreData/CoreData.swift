// `import CoreData` where Apple's framework doesn't exist: everything that `import Cairn` brings, under that name.

#if !canImport(Darwin)
  @_exported public import Cairn

  // So that a file which imports Foundation, too, can say `import class CoreData.NSExpression`.
  public typealias NSExpression = Cairn.NSExpression
  public typealias NSComparisonPredicate = Cairn.NSComparisonPredicate
#endif
