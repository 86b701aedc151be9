extension ResilientTransport {
    /// Asks the breaker and the limits, then sends the attempt, at once or in a task that waits for a limit. Throws
    /// where the attempt is refused at once.
    func admit(_ call: ResilientCall, attempt: Int, now: Duration) throws(ErrandError) {
        var admission = Admission(key: call.key)
        guard !call.description.isExempt else { return try send(call, attempt: attempt, admission, now: now) }
        admission.rate = parts.rate
        if let breaker = call.keyed.breaker { admission.breaker = try permit(of: breaker, now: now) }
        if let limit = parts.concurrency {
            guard let permit = limit.acquireIfFree(call.key) else {
                return wait(call, attempt: attempt, admission, for: limit, since: now)
            }
            admission.concurrency = permit
        }
        if let rate = parts.rate {
            let reservation = try reserve(rate, for: call, now: now)
            if reservation.delay > .zero {
                return wait(call, attempt: attempt, admission, for: rate, reservation, since: now)
            }
        }
        try send(call, attempt: attempt, admission, now: now)
    }

    private func permit(of breaker: CircuitBreaker, now: Duration) throws(ErrandError) -> BreakerPermit {
        do throws(BreakerRefusal) {
            return try breaker.permit(now: now)
        } catch {
            parts.breakerRefused()
            throw ErrandError(error, of: breaker.name)
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
        waiting(call, attempt: attempt, admission, since: start) { [self] in
            var admission = admission
            admission.concurrency = try await limit.acquire(
                call.key, priority: call.description.settings.priority,
                waitingAtMost: patience(of: call, since: start, now: stopwatch.now()))
            if let rate = parts.rate {
                try await rate.wait(call.key, atMost: patience(of: call, since: start, now: stopwatch.now()))
            }
            try send(call, attempt: attempt, admission, now: stopwatch.now())
        }
    }

    private func wait(
        _ call: ResilientCall, attempt: Int, _ admission: Admission, for rate: RateLimit,
        _ reservation: RateLimit.Reservation, since start: Duration
    ) {
        waiting(call, attempt: attempt, admission, since: start) { [self] in
            let patience = patience(of: call, since: start, now: stopwatch.now())
            try await rate.wait(call.key, for: reservation, atMost: patience)
            try send(call, attempt: attempt, admission, now: stopwatch.now())
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

    /// The time of the caller that ended the wait; `nil`: none, the limit itself refused.
    private func expiry(of call: ResilientCall, since start: Duration) -> ErrandError? {
        let now = stopwatch.now()
        if let deadline = call.deadline, deadline <= now { return .timeoutTotal }
        if let queue = call.description.settings.timeouts.queue?.duration, start + queue <= now { return .timeoutQueue }
        return nil
    }
}
