// How descriptions lead back to the entity that lists them, without keeping it.

/// A reference to an entity that doesn't keep it.
///
/// In the place of a weak one: retaining an object that weak references lead to costs several times as much as
/// retaining another, and an entity is retained for each object that is made.
struct EntityLink {
  private weak var anchor: EntityAnchor?

  init(_ entity: NSEntityDescription?) { anchor = entity?.anchor }

  /// nil once the entity has gone.
  var entity: NSEntityDescription? { anchor?.entity?.takeUnretainedValue() }
}

/// What links lead to instead of their entity, which alone holds it and outlives it in nobody's eyes.
///
/// Sendable: `entity` is written by the entity's initialiser, before others can see either, and when the entity ends,
/// which is when nobody has it any more.
final class EntityAnchor: @unchecked Sendable {
  fileprivate(set) var entity: Unmanaged<NSEntityDescription>?

  func lead(to entity: NSEntityDescription?) { self.entity = entity.map { .passUnretained($0) } }
}
