// The umbrella: what `import Cairn` brings.

@_exported public import CairnGraph
@_exported public import CairnModel
@_exported public import CairnStores
@_exported public import Foundation
