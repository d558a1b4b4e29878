// What is fetched from: the inputs as a store, the entity that was asked for, and its columns.

import Cairn

struct FetchInput {
  let container: NSPersistentContainer
  /// The entity whose objects are fetched.
  let entity: SchemaEntity
  /// Columns of the entity's first table as paths of properties; all stored attributes where it has no table.
  let columns: [String]
  let warnings: [String]

  /// Throws as `InputStore` does.
  init(_ command: FetchCommand) throws {
    let input = try InputStore(
      InputWords(
        inputs: command.inputs, model: command.model, modelVersion: command.modelVersion,
        entity: command.entity, nullMark: command.nullMark, renamed: command.renamed,
        generation: command.generation))
    container = input.container
    warnings = input.warnings
    entity = try input.entity(named: command.entity)
    columns = try FetchInput.columns(of: entity, input)
  }

  private static func columns(of entity: SchemaEntity, _ input: InputStore) throws -> [String] {
    let schema = input.schema
    var names: [String] = []
    for case .some(let target) in try input.tables.filter({ $0.entity.id == entity.id }).flatMap({
      try ImportTarget.all($0.records, entity, schema)
    }) {
      let name: String
      switch target {
      case .attribute(let slot): name = entity.slots[slot].name
      case .link(let id, let slot, let key?):
        name = "\(entity.slots[slot].name).\(schema[schema[id].destination].slots[key].name)"
      // Objects have neither numbers nor places, and many of something is no value.
      case .link, .id, .place, .list: continue
      }
      if !names.contains(name) { names.append(name) }
    }
    for attribute in entity.attributes where !attribute.isTransient {
      for slot in attribute.slots where !names.contains(entity.slots[slot].name) {
        if entity.slots[slot].type != .transformable { names.append(entity.slots[slot].name) }
      }
    }
    return names
  }
}
