// Fetches that run off the caller's thread.

import CairnModel
public import Foundation

/// What executing a request returns.
///
/// Sendable: its own properties are constant or behind a lock; of the context only its queue is used elsewhere.
/// Progress is made to be cancelled and read from any thread. A subclass proves its own.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
  public final let managedObjectContext: NSManagedObjectContext
  /// Counts results, as far as the request estimated them. One unit where it didn't.
  public final let progress: Progress?
  private final let failure = Lock<(any Error)?>(nil)

  init(_ context: NSManagedObjectContext, _ progress: Progress) {
    managedObjectContext = context
    self.progress = progress
  }

  /// What went wrong; `CocoaError.userCancelled` after `cancel()`. nil until the completion block is called.
  public final var operationError: (any Error)? { failure.withLock { $0 } }

  /// Gives the request up, as cancelling its progress does: the completion block is called with an error.
  public final func cancel() { progress?.cancel() }

  final func fail(_ error: any Error) { failure.withLock { $0 = error } }
}

/// The state and the results of an asynchronous fetch.
///
/// Sendable: results are written once, on the context's queue, before the completion block is called there.
public final class NSAsynchronousFetchResult<ResultType: NSFetchRequestResult>:
  NSPersistentStoreAsynchronousResult, @unchecked Sendable
{
  public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
  /// To be read on the context's queue. nil until the fetch is done, and when it fails.
  public fileprivate(set) var finalResult: [ResultType]?

  init(
    _ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext, _ progress: Progress
  ) {
    fetchRequest = request
    super.init(context, progress)
  }
}

/// A fetch whose rows are found on another thread, at the generation of the moment that it was executed. Its
/// objects are made, and its completion block is called, on the context's queue.
///
/// Not Sendable: make one where it is used, and don't change its fetch request afterwards.
open class NSAsynchronousFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest,
  RunsAsynchronously
{
  public final let fetchRequest: NSFetchRequest<ResultType>
  public final let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
  /// How many results are expected, for the progress.
  public final var estimatedResultCount = 0

  public init(
    fetchRequest request: NSFetchRequest<ResultType>,
    completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
  ) {
    fetchRequest = request
    completionBlock = blk
    super.init()
  }

  open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  final func start(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let progress = Progress(totalUnitCount: Int64(max(estimatedResultCount, 1)))
    let result = NSAsynchronousFetchResult(self, context, progress)
    // Found on the caller's queue: the plan reads the context. What then runs elsewhere is the store's part,
    // over an immutable snapshot; the plan itself is only carried through to the context's queue.
    nonisolated(unsafe) let plan = try FetchPlan(fetchRequest, in: context)
    // Carried through too: its completion block, which is constant, is called on the context's queue.
    nonisolated(unsafe) let request = self
    let rows = plan.storeQuestions
    DispatchQueue.global().async {
      let found = Result { try rows.map { try progress.isCancelled ? $0.cancelled() : $0.run() } }
      context.queue.async {
        do {
          if progress.isCancelled { throw CocoaError(.userCancelled) }
          result.finalResult = try plan.typedResults(found.get())
          progress.completedUnitCount = progress.totalUnitCount
        } catch {
          result.fail(error)
        }
        request.completionBlock?(result)
        context.processPendingChanges()
      }
    }
    return result
  }
}

/// What lets a context start an asynchronous request whatever its result type.
protocol RunsAsynchronously {
  func start(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}
