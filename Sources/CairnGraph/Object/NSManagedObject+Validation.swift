// What a save asks of an object: the rules that the model states for each property.

import CairnModel
import Foundation

/// The rules of an entity's properties, found once a context.
struct EntityRules {
  struct Attribute {
    let name: String
    /// nil for a transient attribute.
    let slots: Range<Int>?
    let isRequired: Bool
    let checks: [ValueCheck]
  }

  struct Relationship {
    let relation: Relation
    let isRequired: Bool
    let minCount: Int
    let maxCount: Int
  }

  private(set) var attributes: [Attribute] = []
  private(set) var relationships: [Relationship] = []
  private(set) var denying: [Relation] = []

  init(_ entity: CompiledEntity, _ model: CompiledModel) {
    let described = entity.description.attributesByName
    for attribute in entity.schema.attributes {
      // Its value is only known once the save has computed it.
      if described[attribute.name] is NSDerivedAttributeDescription { continue }
      let checks = described[attribute.name].map(ValueCheck.all) ?? []
      let isRequired = !attribute.isOptional
      if !isRequired, checks.isEmpty { continue }
      attributes.append(
        Attribute(
          name: attribute.name, slots: attribute.isTransient ? nil : attribute.slots, isRequired: isRequired,
          checks: checks))
    }
    for id in entity.schema.relationships {
      let schema = model.schema[id]
      if schema.deleteRule == .deny { denying.append(model[id]) }
      let isRequired = !schema.isOptional
      guard isRequired || schema.isToMany && (schema.minCount > 0 || schema.maxCount > 1) else { continue }
      relationships.append(
        Relationship(
          relation: model[id], isRequired: isRequired, minCount: schema.minCount, maxCount: schema.maxCount))
    }
  }
}

extension NSManagedObject {
  /// Throws 1550 to 1690 for one property that breaks its rules, 1560 for several.
  final func validateProperties() throws {
    guard table.hasPropertyRules else { return }
    let rules = table.rules
    var errors: [NSError] = []
    for rule in rules.attributes { check(rule, &errors) }
    for rule in rules.relationships { check(rule, &errors) }
    try NSError.throwValidation(errors)
  }

  private func check(_ rule: EntityRules.Attribute, _ errors: inout [NSError]) {
    if rule.isRequired, isNil(rule) {
      errors.append(
        .validation(
          NSValidationMissingMandatoryPropertyError, "\(rule.name) is a required value.", self, rule.name))
      return
    }
    if rule.checks.isEmpty { return }
    let value = rule.slots == nil ? transientValue(rule.name) : storedForm(rule.name)
    guard let value else { return }
    for check in rule.checks {
      guard let failure = check.failure(value) else { continue }
      errors.append(
        .validation(failure.code, "\(rule.name) \(failure.reason)", self, rule.name, value, failure.predicate)
      )
    }
  }

  private func isNil(_ rule: EntityRules.Attribute) -> Bool {
    guard let slots = rule.slots else { return transientValue(rule.name) == nil }
    return slots.allSatisfy { slot in
      if flags.contains(.isDraft) { return table.draftIsNull(slot, Int(row)) }
      return peekedValue(slot).isNull
    }
  }

  private func check(_ rule: EntityRules.Relationship, _ errors: inout [NSError]) {
    let name = rule.relation.name
    guard rule.relation.isToMany else {
      if destinationKey(of: rule.relation) == nil {
        errors.append(
          .validation(NSValidationMissingMandatoryPropertyError, "\(name) is a required value.", self, name))
      }
      return
    }
    let count = destinationKeys(of: rule.relation).count
    if count == 0, !rule.isRequired { return }
    let least = rule.isRequired ? max(rule.minCount, 1) : rule.minCount
    if count < least {
      errors.append(
        .validation(
          NSValidationRelationshipLacksMinimumCountError, "\(name) has \(count) objects and needs \(least).",
          self, name, value(forKey: name)))
    }
    if rule.maxCount > 1, count > rule.maxCount {
      errors.append(
        .validation(
          NSValidationRelationshipExceedsMaximumCountError,
          "\(name) has \(count) objects and may have \(rule.maxCount).", self, name, value(forKey: name)))
    }
  }

  /// Throws 1600 for relationships with the deny rule that lead to objects that aren't deleted.
  final func validateDenyRules() throws {
    guard table.hasDenyRules else { return }
    var errors: [NSError] = []
    for relation in table.rules.denying {
      let left = destinations(ofAny: relation).filter { !$0.isDeleted }
      if left.isEmpty { continue }
      errors.append(
        .validation(
          NSValidationRelationshipDeniedDeleteError,
          "Items cannot be deleted from \(relation.name).", self, relation.name, storedForm(relation.name)))
    }
    try NSError.throwValidation(errors)
  }
}

extension NSError {
  static func validation(
    _ code: Int, _ message: String, _ object: NSManagedObject, _ key: String, _ value: Any? = nil,
    _ predicate: NSPredicate? = nil
  ) -> NSError {
    var userInfo: [String: Any] = [
      NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: key,
      "NSValidationErrorShouldAttemptRecoveryKey": true,
    ]
    if let value { userInfo[NSValidationValueErrorKey] = value }
    if let predicate { userInfo[NSValidationPredicateErrorKey] = predicate }
    return coreData(code, message, userInfo)
  }

  /// Throws nothing, the one error, or 1560 with all of them.
  static func throwValidation(_ errors: [NSError]) throws {
    if errors.count == 1 { throw errors[0] }
    if errors.isEmpty { return }
    throw coreData(
      NSValidationMultipleErrorsError, "Multiple validation errors occurred.", [NSDetailedErrorsKey: errors])
  }
}
