// The same schema with everything that has a name in another order.

import CairnModel
import CairnTesting

@testable import CairnStores

extension Schema {
  /// Entities, attributes, elements and relationships in an order that follows from `seed`; what isn't stored is left
  /// out, as a file does it. With `keepingKeys` one that has the keys of one-to-one pairs on the same sides.
  func shuffled(_ seed: UInt64, keepingKeys: Bool = false) -> Schema {
    var random = SplitMix64(seed: seed)
    while true {
      var archived = ArchivedSchema(self, model: nil)
      archived.entities.shuffle(using: &random)
      for index in archived.entities.indices {
        archived.entities[index].relationships.shuffle(using: &random)
        archived.entities[index].attributes = shuffled(archived.entities[index].attributes, &random)
      }
      let result = try! archived.schema
      if !keepingKeys || SchemaOrder(stored: result, given: self)!.flips.isEmpty { return result }
    }
  }

  private func shuffled(
    _ attributes: [ArchivedSchema.Attribute], _ random: inout SplitMix64
  ) -> [ArchivedSchema.Attribute] {
    var result: [ArchivedSchema.Attribute] = []
    for var attribute in attributes.shuffled(using: &random) {
      attribute.elements = attribute.elements.map { shuffled($0, &random) }
      result.append(attribute)
    }
    return result
  }
}
