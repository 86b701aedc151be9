import Dispatch
import Synchronization

/// A serial queue for calls that may block, for example on pipes. Such calls must not block the threads of tasks.
final class BlockingQueue: Sendable {
    private let queue = DispatchQueue(label: "errand.blocking")

    /// Runs `body` after the calls queued before it, and returns its result.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }

    /// Like `run`, for calls that may block forever, for example on a pipe that is never read. A cancelled task gets
    /// `nil` at once, and the blocked call stays on the queue until the process ends.
    func runAbandonably<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
        let waiting = Waiting<Value>()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard waiting.wait(continuation) else { return continuation.resume(returning: nil) }
                queue.async {
                    let value = body()
                    waiting.end()?.resume(returning: value)
                }
            }
        } onCancel: {
            waiting.end()?.resume(returning: nil)
        }
    }

    /// The waiting task. It is resumed exactly once, by the call or by the cancellation.
    private final class Waiting<Value: Sendable>: Sendable {
        typealias Continuation = CheckedContinuation<Value?, Never>

        private enum State {
            case idle
            case waiting(Continuation)
            case over
        }

        private let state = Mutex(State.idle)

        /// Returns false if the task has already been cancelled.
        func wait(_ continuation: Continuation) -> Bool {
            state.withLock { state in
                guard case .idle = state else { return false }
                state = .waiting(continuation)
                return true
            }
        }

        /// The continuation to resume; `nil` if it was already resumed or no task waits yet.
        func end() -> Continuation? {
            state.withLock { state in
                defer { state = .over }
                if case .waiting(let continuation) = state { return continuation }
                return nil
            }
        }
    }
}
