extension ResilientTransport {
    /// Asks the breaker and the limits, then sends the attempt, at once or in a task that waits for a limit. Throws
    /// where the attempt is refused at once.
    ///
    /// The rate is the last wait before the send. If it were the first, a queue of attempts that have its permits could
    /// build up at the limit of requests in flight, and would be sent faster than the rate as soon as a slow server
    /// recovers. The wait would also know no priorities, and lose the permit of each attempt that the other limit
    /// refuses.
    func admit(_ call: ResilientCall, attempt: Int, now: Duration) throws(ErrandError) {
        var admission = Admission(key: call.key)
        guard !call.rules.isExempt else { return try send(call, attempt: attempt, admission) }
        admission.rate = call.keyed.rate
        if let breaker = call.keyed.breaker, let permit = try permit(of: breaker, now: now) {
            admission.breaker = BreakerPermit(breaker, permit)
        }
        if let limit = call.keyed.concurrency {
            guard let permit = limit.acquireIfFree(call.key) else {
                parts.waits(for: .concurrency)
                call.description.tell(call.receiver, .waiting(for: .concurrency, name: call.key))
                return wait(call, attempt: attempt, admission, for: limit, since: now)
            }
            admission.concurrency = permit
        }
        if let rate = call.keyed.rate {
            let reservation = try reserve(rate, for: call, now: now)
            if reservation.delay > .zero {
                parts.waits(for: .rate)
                call.description.tell(call.receiver, .waiting(for: .rate, name: call.key))
                return wait(call, attempt: attempt, admission, for: rate, reservation, since: now)
            }
        }
        try send(call, attempt: attempt, admission)
    }

    /// `nil`: there is no breaker.
    func permit(of breaker: CircuitBreaker?, now: Duration) throws(ErrandError) -> BreakerMachine.Permit? {
        guard let breaker else { return nil }
        do throws(BreakerRefusal) {
            return try breaker.issue(now: now)
        } catch {
            parts.breakerRefused()
            throw ErrandError(error, of: breaker.name)
        }
    }

    /// The attempt goes on after a wait. A queue must not drain into a breaker that has opened meanwhile.
    private func begin(_ admission: inout Admission, of call: ResilientCall) throws(ErrandError) {
        do throws(BreakerRefusal) {
            try admission.begin(now: stopwatch.now())
        } catch {
            parts.breakerRefused()
            throw ErrandError(error, of: call.key)
        }
    }

    private func reserve(
        _ rate: RateLimit, for call: ResilientCall, now: Duration
    ) throws(ErrandError) -> RateLimit.Reservation {
        do throws(LimitRefusal) {
            return try rate.reserve(call.key, waitingAtMost: patience(of: call, since: now, now: now))
        } catch {
            throw refusal(error)
        }
    }

    private func refusal(_ refusal: LimitRefusal) -> ErrandError {
        parts.limitRefused()
        return ErrandError(refusal)
    }

    /// How long the attempt may wait for the limits: to the deadline, and for ``Timeouts/queue``; `nil`: no bound.
    private func patience(of call: ResilientCall, since start: Duration, now: Duration) -> Duration? {
        let queue = call.description.settings.timeouts.queue?.duration.map { start + $0 - now }
        return [call.deadline.map { $0 - now }, queue].compactMap(\.self).min()
    }

    // MARK: Waiting, in a task

    private func wait(
        _ call: ResilientCall, attempt: Int, _ admission: Admission, for limit: ConcurrencyLimit, since start: Duration
    ) {
        admission.hold()
        waiting(call, attempt: attempt, admission, since: start) { [self] in
            var admission = admission
            admission.concurrency = try await limit.acquire(
                call.key, priority: call.description.settings.priority,
                waitingAtMost: patience(of: call, since: start, now: stopwatch.now()))
            // Before a permit of the rate is taken.
            try begin(&admission, of: call)
            if let rate = call.keyed.rate {
                try Task.checkCancellation()
                let patience = patience(of: call, since: start, now: stopwatch.now())
                let reservation = try rate.reserve(call.key, waitingAtMost: patience)
                if reservation.delay > .zero {
                    admission.hold()
                    try await rate.wait(call.key, for: reservation, atMost: patience)
                    try begin(&admission, of: call)
                }
            }
            try send(call, attempt: attempt, admission)
        }
    }

    private func wait(
        _ call: ResilientCall, attempt: Int, _ admission: Admission, for rate: RateLimit,
        _ reservation: RateLimit.Reservation, since start: Duration
    ) {
        admission.hold()
        waiting(call, attempt: attempt, admission, since: start) { [self] in
            var admission = admission
            let patience = patience(of: call, since: start, now: stopwatch.now())
            try await rate.wait(call.key, for: reservation, atMost: patience)
            try begin(&admission, of: call)
            try send(call, attempt: attempt, admission)
        }
    }

    /// The permits of a refused attempt come back before the caller gets the refusal.
    private func waiting(
        _ call: ResilientCall, attempt: Int, _ admission: Admission, since start: Duration,
        _ step: @escaping @Sendable () async throws -> Void
    ) {
        wait(call) { [self] in
            do {
                try await step()
            } catch let refusal as LimitRefusal {
                admission.drop()
                refused(call, expiry(of: call, since: start) ?? self.refusal(refusal), attempt: attempt)
            } catch let error as ErrandError {
                admission.drop()
                refused(call, error, attempt: attempt)
            } catch {
                // The task is cancelled only when the call is over.
                refused(call, .cancelled, attempt: attempt)
            }
        }
    }

    /// The time of the caller that has run out and ended the wait; `nil`: none, the limit itself refused.
    private func expiry(of call: ResilientCall, since start: Duration) -> ErrandError? {
        let now = stopwatch.now()
        if let deadline = call.deadline, deadline <= now { return .deadlineExceeded }
        if let queue = call.description.settings.timeouts.queue?.duration, start + queue <= now { return .timeoutQueue }
        return nil
    }
}
