// How far composite attributes go: the one place for these limits, for readers, writers and compilers of models.

/// Counts the elements of composite attributes that are put in line. Composites may share their elements, so that a
/// few lines could stand for more elements than memory holds.
package struct CompositeBudget {
  /// How many composite attributes stand within each other: far more than anyone needs, and little enough for
  /// recursion.
  package static let depthLimit = 32
  /// Elements at all levels, of one attribute and of all attributes of a model.
  package static let attributeLimit = 4096
  package static let modelLimit = 65_536

  private var ofModel = CompositeBudget.modelLimit
  private var ofAttribute = CompositeBudget.attributeLimit

  package init() {}

  /// To be called for each attribute that isn't an element.
  package mutating func beginAttribute() { ofAttribute = CompositeBudget.attributeLimit }

  /// False where these are too many.
  package mutating func take(_ count: Int) -> Bool {
    ofAttribute -= count
    ofModel -= count
    return ofAttribute >= 0 && ofModel >= 0
  }
}
