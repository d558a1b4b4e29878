// What errors say to whoever prints `localizedDescription`, as error dialogs and logs do.

import Cairn
import Testing

@testable import CairnGraph

@Suite struct ErrorTextTests {
  private static func failure(_ body: () throws -> Void) -> any Error {
    do {
      try body()
    } catch {
      return error
    }
    return CocoaError(.featureUnsupported)
  }

  /// One of each kind, as the library throws it.
  private static let errors: [any Error] = [
    StoreError(.unknownProperty, "no such property", entity: "A", property: "b", remedy: "name another"),
    CommitConflict(stale: [], duplicates: []),
    failure { _ = try NSPredicate(parsing: "a >") },
    failure { _ = try ModelFile.read(at: URL(fileURLWithPath: "/no/such/Model.momd")) },
    failure { _ = try Schema(SchemaDescription(entities: [.init(name: ""), .init(name: "")])) },
    failure { _ = try NSPredicate(converting: #Predicate<Company> { $0.staff is Set<Manager> }) },
    failure { _ = try NSPredicate(format: "a > 1").matches(["a": "x"] as [String: Any]) },
  ]

  @Test(arguments: errors.indices)
  func `an error's localizedDescription is its description`(index: Int) {
    let error = Self.errors[index]
    #expect(!(error is CocoaError), "something was accepted that shouldn't be")
    #expect(error.localizedDescription == "\(error)" && !"\(error)".isEmpty)
    #expect((error as NSError).localizedDescription == "\(error)")
  }
}
