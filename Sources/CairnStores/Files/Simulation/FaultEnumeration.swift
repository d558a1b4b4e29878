// Runs a piece of work again and again, each time with something else going wrong: a crash before each operation, each
// fault at each operation, and after each every state that a power cut may leave. It knows no test framework: what is
// wrong is thrown.

import CairnModel
import Foundation

/// How often and with what a piece of work is tried. The work has to make the same calls every time.
package struct FaultEnumeration: Sendable {
  /// Chooses among states where not all are tried. In every failure's text.
  package var seed: UInt64
  /// How many states are tried after each crash, at most.
  package var statesPerCrash = 600
  /// How many states are tried after each fault, at most.
  package var statesPerFault = 20
  /// In how many of the states after each crash the recovery is made to crash too, before each of its operations.
  package var crashedRecoveries = 4
  package var faults: [SimulatedFault] = [
    .error(EIO), .error(ENOSPC), .partial(EIO), .partial(ENOSPC), .short, .interrupted,
  ]

  package init(seed: UInt64 = 1) { self.seed = seed }

  /// How the work ended, before `check` looks at what is left of it.
  package enum Ending {
    case finished
    /// It threw this because of a fault.
    case failed(any Error)
    /// The power failed before this operation, or after the last one.
    case crashed(before: SimulatedOperation?)
  }

  /// How much was tried.
  package struct Report: Sendable, CustomStringConvertible {
    package var operationCount = 0
    package var crashCount = 0
    package var faultCount = 0
    package var recoveryCrashCount = 0
    package var stateCount = 0

    package var description: String {
      "\(operationCount) operations, \(crashCount) crashes, \(faultCount) faults, "
        + "\(recoveryCrashCount) crashes of recoveries, \(stateCount) states"
    }
  }

  /// What is wrong, and how to get there again.
  package struct Failure: Error, CustomStringConvertible {
    package let situation: [String]
    package let cause: any Error

    package var description: String { situation.joined(separator: ", then ") + ": \(cause)" }
  }

  /// Something that the enumeration itself found wrong.
  package struct Finding: Error, CustomStringConvertible {
    package let description: String
  }

  /// Tries `work` on copies of `start` in all ways, and throws the first `Failure`.
  ///
  /// - `work` keeps in `record`, a value that each try begins with anew, what it has been promised so far: the commits
  ///   that returned, say. It throws what it is thrown, and closes its files, or drops them, on every way out: files
  ///   that are open afterwards are a failure.
  /// - `recovery` opens what is there as the next process would, and closes it. It is crashed as well.
  /// - `check` is given each state that may be left, restarted, and throws if it isn't as the record and the ending
  ///   promise. It may open and change it as it likes.
  ///
  /// One run is `work` about twice for each operation, and twice more for each fault that fits it.
  @discardableResult
  package func run<Record>(
    from start: SimulatedFileSystem = SimulatedFileSystem(), record: Record,
    work: (SimulatedFileSystem, inout Record) throws -> Void,
    recovery: ((SimulatedFileSystem) throws -> Void)? = nil,
    check: (SimulatedFileSystem, Record, Ending) throws -> Void
  ) throws -> Report {
    try withoutActuallyEscaping(work) { work in
      try withoutActuallyEscaping(check) { check in
        var run = FaultRun(self, start, record, work, recovery, check)
        try run.crashes()
        try run.faults()
        return run.report
      }
    }
  }
}

/// One run, with its counts.
private struct FaultRun<Record> {
  typealias Ending = FaultEnumeration.Ending

  let plan: FaultEnumeration
  let start: SimulatedFileSystem
  let emptyRecord: Record
  let work: (SimulatedFileSystem, inout Record) throws -> Void
  let recovery: ((SimulatedFileSystem) throws -> Void)?
  let check: (SimulatedFileSystem, Record, Ending) throws -> Void
  var operations: [SimulatedOperation] = []
  var report = FaultEnumeration.Report()

  init(
    _ plan: FaultEnumeration, _ start: SimulatedFileSystem, _ record: Record,
    _ work: @escaping (SimulatedFileSystem, inout Record) throws -> Void,
    _ recovery: ((SimulatedFileSystem) throws -> Void)?,
    _ check: @escaping (SimulatedFileSystem, Record, Ending) throws -> Void
  ) {
    self.plan = plan
    self.start = start
    emptyRecord = record
    self.work = work
    self.recovery = recovery
    self.check = check
  }

  // MARK: Crashes

  mutating func crashes() throws {
    let (whole, record) = try located(["without any fault"]) {
      let files = start.restarted()
      var record = emptyRecord
      try work(files, &record)
      try requireNothingOpen(files)
      return (files, record)
    }
    operations = whole.operations
    report.operationCount = operations.count
    try checkStates(
      of: whole, record, .finished, ["seed \(plan.seed)", "a crash after everything"], plan.statesPerCrash,
      seed: plan.seed, crashesRecovery: true)
    for operation in operations where operation.kind.isChange {
      let situation = ["seed \(plan.seed)", "a crash before \(operation)"]
      let files = start.restarted()
      files.fail(at: operation.number, with: .crash)
      var record = emptyRecord
      // Whatever it throws or doesn't: the power has failed, and nobody hears it.
      try? work(files, &record)
      try located(situation) { try requireSameCalls(files) }
      report.crashCount += 1
      try checkStates(
        of: files, record, .crashed(before: operation), situation, plan.statesPerCrash,
        seed: plan.seed &+ UInt64(operation.number), crashesRecovery: true)
    }
  }

  private mutating func checkStates(
    of files: SimulatedFileSystem, _ record: Record, _ ending: Ending, _ situation: [String], _ limit: Int,
    seed: UInt64, crashesRecovery: Bool
  ) throws {
    let states = files.crashStates(limit: limit, seed: seed)
    let stride = max(1, states.underestimatedCount / max(1, plan.crashedRecoveries))
    for (number, state) in states.enumerated() {
      report.stateCount += 1
      if crashesRecovery && number % stride == 0 {
        try crashRecovery(of: state, record, ending, situation, seed: seed)
      }
      do {
        try check(state.fileSystem, record, ending)
      } catch {
        throw FaultEnumeration.Failure(
          situation: situation + ["state \(number) (\(state.description))"], cause: error)
      }
    }
  }

  private mutating func crashRecovery(
    of state: CrashState, _ record: Record, _ ending: Ending, _ situation: [String], seed: UInt64
  ) throws {
    guard let recovery, plan.crashedRecoveries > 0 else { return }
    let situation = situation + [state.description]
    let operations = try located(situation + ["the recovery"]) {
      let files = state.fileSystem.restarted()
      try recovery(files)
      try requireNothingOpen(files)
      return files.operations
    }
    for operation in operations where operation.kind.isChange {
      let files = state.fileSystem.restarted()
      files.fail(at: operation.number, with: .crash)
      try? recovery(files)
      report.recoveryCrashCount += 1
      try checkStates(
        of: files, record, ending, situation + ["a crash of the recovery before \(operation)"],
        plan.statesPerFault, seed: seed, crashesRecovery: false)
    }
  }

  // MARK: Faults

  mutating func faults() throws {
    for operation in operations {
      for fault in plan.faults where fault.fits(operation.kind) {
        try self.fault(fault, at: operation, isLasting: false)
        if fault != .short && fault != .interrupted { try self.fault(fault, at: operation, isLasting: true) }
      }
    }
  }

  private mutating func fault(
    _ fault: SimulatedFault, at operation: SimulatedOperation, isLasting: Bool
  ) throws {
    let situation = ["seed \(plan.seed)", "\(fault)\(isLasting ? " from" : " at") \(operation)"]
    let files = start.restarted()
    files.fail(at: operation.number, with: fault, isLasting: isLasting)
    var record = emptyRecord
    let ending: Ending
    do {
      try work(files, &record)
      ending = .finished
    } catch {
      ending = .failed(error)
    }
    try located(situation) {
      if case .failed(let error) = ending, fault == .short || fault == .interrupted { throw error }
      try requireNothingOpen(files)
    }
    report.faultCount += 1
    try checkStates(
      of: files, record, ending, situation, plan.statesPerFault, seed: plan.seed, crashesRecovery: false)
  }

  // MARK: What holds for every work

  private func requireNothingOpen(_ files: SimulatedFileSystem) throws {
    let count = files.openFileCount
    if count > 0 { throw FaultEnumeration.Finding(description: "\(count) files are open still") }
  }

  /// Else operation k of one try isn't operation k of another, and some are never tried.
  private func requireSameCalls(_ files: SimulatedFileSystem) throws {
    for (now, then) in zip(files.operations, operations) where now.kind != then.kind {
      throw FaultEnumeration.Finding(
        description: "the work isn't the same every time: it did \(now), and the first time \(then)")
    }
    if !files.hasCrashed {
      throw FaultEnumeration.Finding(
        description: "the work isn't the same every time: it did \(files.operationCount) operations, and "
          + "the first time \(operations.count)")
    }
  }

  private func located<Result>(_ situation: [String], _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw FaultEnumeration.Failure(situation: situation, cause: error)
    }
  }
}
