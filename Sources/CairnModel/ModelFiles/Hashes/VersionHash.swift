// Version hashes, Core Data's version 3, made from the parts that go into them. What an entity of a document has
// for parts stands in `ModelDocument+Hashes.swift`.

package import Foundation

/// The hashes by which a store knows whether a model fits it. Each is 32 bytes.
///
/// Bit for bit those of Core Data, read off its files, but for these, of which no rule is known: derived and
/// composite attributes, and non-ASCII names where an order by UTF-8 isn't the right one. Assumed, for lack of
/// samples: several uniqueness constraints stand one after the other, constraints stand before a modifier, and an
/// attribute that is both kept outside and preserved is marked once. A hash is always the same for the same parts.
package enum VersionHash {
  /// The name of a property or entity with its hash.
  package typealias Part = (name: String, hash: Data)

  /// - Parameters:
  ///   - isMarked: whether it allows external storage, or is preserved in history on deletion.
  ///   - derivation: what a derived attribute is computed from, as text. Core Data's rule isn't known; here it
  ///     follows the rest, after a byte 2.
  ///   - elements: of a composite attribute. Core Data's rule isn't known; here their hashes follow the rest,
  ///     sorted by name.
  package static func attribute(
    name: String, type: Int, isOptional: Bool, isTransient: Bool, isMarked: Bool, modifier: String?,
    derivation: String? = nil, elements: [Part] = []
  ) -> Data {
    var hasher = SHA256()
    hasher.update(property(name, isOptional, isTransient, modifier))
    hasher.update(int32(type))
    if isMarked { hasher.update(CollectionOfOne(1)) }
    if let derivation {
      hasher.update(CollectionOfOne(2))
      hasher.update(derivation.utf8)
    }
    for element in sorted(elements) { hasher.update(element.hash) }
    return hasher.finalize()
  }

  /// - Parameter maxCount: 1 for a to-one relationship, 0 for one without limit.
  package static func relationship(
    name: String, destination: String, inverse: String?, minCount: Int, maxCount: Int, isOrdered: Bool,
    isOptional: Bool, isTransient: Bool, modifier: String?
  ) -> Data {
    var hasher = SHA256()
    hasher.update(property(name, isOptional, isTransient, modifier))
    hasher.update(destination.utf8)
    hasher.update((inverse ?? "").utf8)
    hasher.update(int32(maxCount))
    hasher.update(int32(minCount))
    if isOrdered { hasher.update([1, 0]) }
    return hasher.finalize()
  }

  /// A fetched property, which is always transient and so no part of its entity's hash.
  package static func fetchedProperty(name: String, isOptional: Bool, modifier: String?) -> Data {
    property(name, isOptional, true, modifier)
  }

  /// - Parameters:
  ///   - parent: the hash of the superentity.
  ///   - properties: all that aren't transient, inherited ones included, in any order.
  package static func entity(
    name: String, isAbstract: Bool, parent: Data?, properties: [Part], uniquenessConstraints: [[String]],
    modifier: String?
  ) -> Data {
    var hasher = SHA256()
    hasher.update(name.utf8)
    hasher.update(CollectionOfOne(isAbstract ? 1 : 0))
    if let parent { hasher.update(parent) }
    for property in sorted(properties) { hasher.update(property.hash) }
    for constraint in uniquenessConstraints { hasher.update(constraint.joined(separator: ".").utf8) }
    if let modifier { hasher.update(modifier.utf8) }
    return hasher.finalize()
  }

  /// The checksum of a model in base 64, by which staged migration and `VersionInfo.plist` name it.
  package static func checksum(entities: [Part]) -> String {
    var hasher = SHA256()
    for entity in sorted(entities) { hasher.update(entity.hash) }
    return hasher.finalize().base64EncodedString()
  }

  /// The digest in a store's metadata, `NSStoreModelVersionHashesDigest`, in base 64.
  package static func digest(entities: [Part]) -> String {
    var hasher = SHA512()
    for entity in sorted(entities) {
      hasher.update(entity.name.utf8)
      hasher.update(entity.hash)
    }
    return hasher.finalize().base64EncodedString()
  }

  private static func property(
    _ name: String, _ isOptional: Bool, _ isTransient: Bool, _ modifier: String?
  ) -> Data {
    var hasher = SHA256()
    hasher.update(name.utf8)
    hasher.update([(isOptional ? 1 : 0) | (isTransient ? 2 : 0), 0])
    if let modifier { hasher.update(modifier.utf8) }
    return hasher.finalize()
  }

  private static func sorted(_ parts: [Part]) -> [Part] {
    parts.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// Low byte first. What doesn't fit is cut to its low 32 bits.
  private static func int32(_ x: Int) -> [UInt8] {
    let bits = UInt32(truncatingIfNeeded: x)
    return [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: bits >> $0) }
  }
}
