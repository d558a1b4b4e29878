// What a model made in code can say beyond Xcode's editor.

import Foundation

@testable import CairnModel

extension ModelDocument {
  static let codeOnly = ModelDocument(
    entities: [
      Entity(
        "Thing",
        properties: [
          .attribute(Attribute("blob", .binaryData, defaultValue: .data(Data([1, 2])))),
          .attribute(
            Attribute(
              "place", .composite,
              elements: [
                Attribute("x", .double),
                Attribute("inner", .composite, elements: [Attribute("y", .string, isOptional: true)]),
              ])),
          .attribute(
            Attribute("sum", .integer64, derivation: Derivation("parts.@count", filteringPredicate: "a == 1"))
          ),
          .attribute(
            Attribute(
              "code", .string,
              validation: Validation(others: [
                .init("SELF BEGINSWITH \"x\"", warning: "It has to begin with x.")
              ]))),
          .relationship(Relationship("parts", to: "Thing", maxCount: -1)),
        ])
    ],
    fetchRequests: [
      FetchRequest(
        "grouped", entity: "Thing", fetchOffset: 3, resultType: .dictionary,
        sortDescriptors: [.init("code"), .init("blob", isAscending: false, selector: "localizedCompare:")],
        propertiesToFetch: ["code"], propertiesToGroupBy: ["code"], havingPredicate: "code != nil",
        relationshipKeyPathsForPrefetching: ["parts"])
    ], versionIdentifiers: ["a", "b"])
}
