// Every law over every store. The laws themselves stand in CairnTesting, so that third parties run them too.

import CairnModel
import CairnTesting
import Testing

@Suite("Store laws")
struct StoreLawTests {
  @Test("Every store keeps every law", arguments: StoreKind.allCases, StoreLaw.all)
  func keeps(_ kind: StoreKind, _ law: StoreLaw) throws {
    try law.check(kind.maker)
  }

  @Test("No two laws have one name")
  func namesDiffer() {
    #expect(Set(StoreLaw.all.map(\.description)).count == StoreLaw.all.count)
  }
}
