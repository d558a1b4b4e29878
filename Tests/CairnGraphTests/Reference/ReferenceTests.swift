// Contexts against the reference, over random operations. A failure names its seed and step; with CAIRN_SEED
// set to a seed only that one is run, and with CAIRN_TRACE set as well every operation is printed. CAIRN_SEEDS
// and CAIRN_STEPS ask for more or longer runs.

import Foundation
import Testing

@testable import CairnGraph

@Suite struct ReferenceTests {
  private static let environment = ProcessInfo.processInfo.environment

  private static func seeds(_ usual: ClosedRange<UInt64>) -> [UInt64] {
    if let seed = environment["CAIRN_SEED"].flatMap({ UInt64($0) }) { return [seed] }
    guard let count = environment["CAIRN_SEEDS"].flatMap({ UInt64($0) }) else { return Array(usual) }
    return (0..<count).map { usual.lowerBound + $0 }
  }

  /// Runs the seeds one after another; a difference ends the run and names its seed.
  private func run(_ store: StoreUnderTest, _ seeds: [UInt64], steps: Int, contexts: Int) {
    var failures = 0
    for seed in store.some(of: seeds) where failures < 5 {
      do {
        let run = try RefRun(store, seed: seed, contexts: contexts)
        for step in 0..<(Self.environment["CAIRN_STEPS"].flatMap { Int($0) } ?? steps) {
          do {
            try run.step()
            trace("step \(step): \(run.operation)")
          } catch {
            failures += 1
            Issue.record("seed \(seed), step \(step), \(contexts) contexts: \(error)\nin \(run.operation)")
            break
          }
        }
      } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
  }

  private func trace(_ line: String) {
    if Self.environment["CAIRN_TRACE"] == nil { return }
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a context agrees with the reference after every operation`(_ store: StoreUnderTest) {
    run(store, Self.seeds(1...60), steps: 60, contexts: 1)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `several contexts over one store agree with the reference`(_ store: StoreUnderTest) {
    run(store, Self.seeds(1_001...1_060), steps: 60, contexts: 2)
  }
}
