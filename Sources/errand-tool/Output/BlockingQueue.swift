import Dispatch
import Synchronization

/// A serial queue for calls that may block, as those on pipes do, which the threads of tasks must not.
final class BlockingQueue: Sendable {
    private let queue = DispatchQueue(label: "errand.blocking")

    /// Runs `body` behind what was given before, and answers what it answers.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }

    /// The same for what may block for ever, as a pipe that nobody reads: a task that is cancelled gets `nil` at once, and
    /// the call is left to the end of the process.
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

    /// Who waits: resumed once, by the call or by the cancellation.
    private final class Waiting<Value: Sendable>: Sendable {
        typealias Continuation = CheckedContinuation<Value?, Never>

        private enum State {
            case idle
            case waiting(Continuation)
            case over
        }

        private let state = Mutex(State.idle)

        /// Whether it is not cancelled yet.
        func wait(_ continuation: Continuation) -> Bool {
            state.withLock { state in
                guard case .idle = state else { return false }
                state = .waiting(continuation)
                return true
            }
        }

        /// Who is to be resumed; nobody, where that has been done or nobody waits yet.
        func end() -> Continuation? {
            state.withLock { state in
                defer { state = .over }
                if case .waiting(let continuation) = state { return continuation }
                return nil
            }
        }
    }
}
