import Synchronization

/// Orders the output of several URLs: each one writes to standard output and standard error after the one before it.
final class FetchTurn: Sendable {
    private struct State: ~Copyable {
        /// All URLs before this number are done.
        var next = 0
        var done: Set<Int> = []
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    /// Returns when all URLs before `number` are done. If the tasks are cancelled, those URLs end, and then this wait
    /// ends too.
    func wait(for number: Int) async {
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
