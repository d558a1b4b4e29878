// The kit tested: what is right passes (StoreLawTests), what is wrong in one way is caught here.

import CairnModel
import CairnTesting
import Testing

@Suite("The testing kit")
struct TestingKitTests {
  private static func maker(_ fault: BrokenStore.Fault) -> StoreMaker {
    { schema, history in BrokenStore(fault, schema: schema, history: history) }
  }

  @Test("A store with one fault breaks a law of the topic", arguments: BrokenStore.Fault.allCases)
  func lawsCatch(fault: BrokenStore.Fault) {
    let isCaught = StoreLaw.all.filter { $0.topic == fault.topic }.contains { law in
      do {
        try law.check(Self.maker(fault))
        return false
      } catch {
        return error is LawViolation
      }
    }
    #expect(isCaught)
  }

  @Test("A store with one fault is caught by random operations", arguments: BrokenStore.Fault.allCases)
  func randomOperationsCatch(fault: BrokenStore.Fault) {
    let isCaught = (1...8).contains { seed in
      do {
        try RandomOperations(seed: UInt64(seed), steps: 200)
          .run(subject: Self.maker(fault), oracle: StoreKind.toy.maker)
        return false
      } catch {
        return error is RandomOperations.Disagreement
      }
    }
    #expect(isCaught)
  }

  @Test("SplitMix64 gives the sequence that its author published")
  func splitMix() {
    var generator = SplitMix64(seed: 1_234_567)
    #expect(
      (0..<3).map { _ in generator.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
      ])
  }
}
