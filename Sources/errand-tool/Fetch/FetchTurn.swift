import Synchronization

/// Who may write to standard output and standard error: one URL after the other, in their order.
final class FetchTurn: Sendable {
    private struct State: ~Copyable {
        /// All before this one are done.
        var next = 0
        var done: Set<Int> = []
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    /// Returns when all before `number` are done. Those end when their tasks are cancelled, and so does the wait.
    func come(_ number: Int) async {
        await withCheckedContinuation { continuation in
            let mustWait = state.withLock { state in
                guard state.next < number else { return false }
                state.waiting[number] = continuation
                return true
            }
            if !mustWait { continuation.resume() }
        }
    }

    func end(_ number: Int) {
        let continuation = state.withLock { state in
            state.done.insert(number)
            while state.done.remove(state.next) != nil { state.next += 1 }
            return state.waiting.removeValue(forKey: state.next)
        }
        continuation?.resume()
    }
}
