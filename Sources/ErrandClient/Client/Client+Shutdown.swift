import Dispatch
import Synchronization

extension Client {
    /// What a shutdown does with running requests.
    public enum ShutdownMode: Sendable {
        /// Running requests have this time to end. Those that still run afterwards end with ``ErrandError/shutDown``. Zero
        /// and less mean ``cancel``, more than 30 days mean 30 days.
        case drain(within: Duration)
        /// Running requests end at once with ``ErrandError/shutDown``.
        case cancel
    }

    /// Shuts the client down. From now on starts fail with ``ErrandError/shutDown``; running requests are treated as
    /// `mode` says. During a drain, requests that refresh a credential (``Authenticator/refresh(_:after:)``) or that
    /// interceptors run (``InterceptionContext/run(_:overrides:)``) may still start, because running requests may wait
    /// for them.
    ///
    /// Returns when every request has reported its end, the engine's threads have ended, and the cache has stored its
    /// pending changes (``ResponseCache/flush()``). The wait for the cache is at most two seconds. The method may be
    /// called again, to turn a drain into a cancel or only to wait.
    ///
    /// A client shuts down only the transport that it made itself. A transport from ``init(configuration:transport:)``
    /// keeps running: this client's transfers are cancelled there, and other clients' transfers continue. The last
    /// client of a ``SharedEngine`` stops that engine.
    public func shutdown(_ mode: ShutdownMode = .drain(within: .seconds(30))) async {
        await withUnsafeContinuation { continuation in
            shutdown(mode) { continuation.resume() }
        }
    }

    /// Shuts the client down without waiting. `completion` runs on any thread. May be called from a callback.
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
    /// `CancellationError` if the task is cancelled.
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

    /// Whether the client drains: running requests may end, and no new ones begin.
    package var isDraining: Bool { life.withLock { $0.machine.state == .draining } }

    /// Whether the client is ending its running requests, or has done so.
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
            // The transport cannot end the work of interceptors and validators, nor the waiting of groups, so the
            // requests are stopped here. Groups are stopped before their children: a child that ends first would fail
            // its group.
            for request in requests.reversed() { request.clientStops() }
            madeCache?.clientStops()
            // This is the client's own engine, or the client's part of a shared transport: see `BorrowedTransport`.
            transport.shutdown { [self] in
                perform(life.withLock { $0.machine.transportStopped() })
            }
        case .finish:
            // Programs usually exit after a shutdown, so the wait for a store that does not respond is short.
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
