// What the two forms of model files can hold of a document: reading back what was written gives exactly this.

/// The two forms of model files.
public enum ModelFileForm: Sendable, Hashable {
  /// XML, in an `.xcdatamodel`.
  case source
  /// A `.mom`.
  case compiled
}

extension ModelDocument {
  /// This document as a file of that form holds it, and what of its meaning is lost.
  ///
  /// What only steers Xcode's editor and code generation isn't in a compiled model, and isn't counted as lost.
  /// A compiled model has no order of entities, properties and templates; here they are sorted by name.
  public func reduced(to form: ModelFileForm) -> (document: ModelDocument, losses: [ModelNote]) {
    var reducer = FormReducer(document: self)
    switch form {
    case .source: reducer.reduceToSource()
    case .compiled: reducer.reduceToCompiled()
    }
    reducer.document.notes = []
    return (reducer.document, reducer.losses)
  }

  /// The same as `reduced(to: .compiled)`: documents of a `.mom` and of its source are equal in this form.
  public var compiled: ModelDocument { reduced(to: .compiled).document }
}

extension Optional where Wrapped == String {
  /// An empty text is one that isn't there.
  var nonEmpty: String? { flatMap { $0.isEmpty ? nil : $0 } }
}

/// Reduces a document in place.
struct FormReducer {
  var document: ModelDocument
  private(set) var losses: [ModelNote] = []
  /// Where the part being reduced stands.
  var entity: String?
  var property: String?
  /// Of composite attributes put in line.
  var budget = CompositeBudget()

  init(document: ModelDocument) { self.document = document }

  mutating func lose(_ message: String) {
    losses.append(ModelNote(.warning, message, entity: entity, property: property))
  }

  /// Reduces what stands in entities, at its place.
  mutating func reduceEntities(
    _ reduce: (inout FormReducer, inout ModelDocument.Entity) -> Void,
    properties: (inout FormReducer, inout ModelDocument.Property) -> Void
  ) {
    for i in document.entities.indices {
      var entity = document.entities[i]
      self.entity = entity.name
      reduce(&self, &entity)
      for p in entity.properties.indices {
        property = entity.properties[p].name
        properties(&self, &entity.properties[p])
      }
      property = nil
      document.entities[i] = entity
    }
    entity = nil
  }
}
