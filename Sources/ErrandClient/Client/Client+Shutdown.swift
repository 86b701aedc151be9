import Dispatch
import Synchronization

extension Client {
    /// What becomes of the requests that run.
    public enum ShutdownMode: Sendable {
        /// They may end; what is left after that time ends with ``ErrandError/shutDown``. Zero and less are
        /// ``cancel``, more than 30 days are 30 days.
        case drain(within: Duration)
        /// They end at once with ``ErrandError/shutDown``.
        case cancel
    }

    /// Shuts the client down: starts from now on fail with ``ErrandError/shutDown``, what runs is treated as `mode`
    /// says. During a drain those starts may still be made that a refresh needs (``Authenticator/refresh(_:after:)``), for
    /// which requests that run may wait. Returns when every request has told its end, the engine's threads are gone, and the
    /// cache has stored what it was given (``ResponseCache/flush()``), for which two seconds are waited at most.
    /// May be called again, to turn a drain into a cancel, or just to wait.
    ///
    /// A client shuts down what it has made itself. A transport that it was given (``init(configuration:transport:)``) is
    /// not shut down: this client's transfers are cancelled there, and those of other clients go on.
    public func shutdown(_ mode: ShutdownMode = .drain(within: .seconds(30))) async {
        await withUnsafeContinuation { continuation in
            shutdown(mode) { continuation.resume() }
        }
    }

    /// The same without waiting; `completion` runs on any thread. May be called from a callback.
    public func shutdown(_ mode: ShutdownMode, completion: @escaping @Sendable () -> Void) {
        var drain: Duration?
        if case .drain(let time) = mode, time > .zero { drain = min(time, Timeouts.maximum) }
        let (action, sleeps) = life.withLock { life in
            life.waiters.append(completion)
            let sleeps = life.sleeps
            life.sleeps = [:]
            return (life.machine.shutdownRequested(drain: drain != nil), sleeps)
        }
        for sleep in sleeps.values { sleep.cancel() }
        if action == .startDrainTimer, let drain {
            let clock = clock
            Task { [weak self] in
                try? await clock.sleep(for: drain)
                guard let self else { return }
                perform(life.withLock { $0.machine.drainExpired() })
            }
        } else {
            perform(action)
        }
    }

    /// Sleeps on the client's clock. Throws ``ErrandError/shutDown`` as soon as the client is shut down or drained, and
    /// `CancellationError` where the task is cancelled.
    package func sleep(for time: Duration) async throws {
        let clock = clock
        let sleep = Task { try await clock.sleep(for: min(time, .longestSleep)) }
        let number = life.withLock { life -> UInt64? in
            guard life.machine.state == .running else { return nil }
            life.lastSleep += 1
            life.sleeps[life.lastSleep] = sleep
            return life.lastSleep
        }
        guard let number else {
            sleep.cancel()
            throw ErrandError.shutDown
        }
        _ = await withTaskCancellationHandler {
            await sleep.result
        } onCancel: {
            sleep.cancel()
        }
        let isUndisturbed = life.withLock { $0.sleeps.removeValue(forKey: number) != nil }
        try Task.checkCancellation()
        if !isUndisturbed { throw ErrandError.shutDown }
    }

    /// Whether ``shutdown(_:)`` was called.
    public var isShutDown: Bool {
        life.withLock { $0.machine.state != .running }
    }

    /// Whether those that run are let end, and no more are begun.
    package var isDraining: Bool { life.withLock { $0.machine.state == .draining } }

    /// Whether what runs is being ended.
    package var isStopping: Bool {
        life.withLock { life in
            switch life.machine.state {
            case .running, .draining: false
            case .stopping, .transportStopped, .stopped: true
            }
        }
    }

    func perform(_ action: ClientStateMachine.Action) {
        switch action {
        case .none, .startDrainTimer:
            break
        case .stopTransport:
            // What interceptors and validators are busy with is not the transport's to end, nor what groups wait for.
            // Groups before their children, which would fail them.
            for request in requests.reversed() { request.clientStops() }
            madeCache?.clientStops()
            // An engine of the client's own, or the client's part of somebody else's: see `BorrowedTransport`.
            transport.shutdown { [self] in
                perform(life.withLock { $0.machine.transportStopped() })
            }
        case .finish:
            // Programs end after this; a store that is stuck is not waited for long.
            let finish: @Sendable () -> Void = { [self] in
                let waiters = life.withLock { life in
                    let waiters = life.waiters
                    life.waiters = []
                    return waiters
                }
                for waiter in waiters { waiter() }
            }
            guard let cache = madeCache else { return finish() }
            cache.flush(atMost: .seconds(2), by: stopwatch, finish)
        }
    }
}
