// The umbrella: what `import Cairn` brings.

@_exported public import CairnGraph
@_exported public import CairnModel
@_exported public import CairnStores
@_exported public import Foundation

// Foundation on Linux has classes of these names that can't be used. Named here, so that a file that imports
// Foundation, too, can say which it means: `import class Cairn.NSExpression`.

public typealias NSExpression = CairnGraph.NSExpression
public typealias NSComparisonPredicate = CairnGraph.NSComparisonPredicate
