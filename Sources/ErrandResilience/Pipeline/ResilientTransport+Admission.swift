extension ResilientTransport {
    /// Asks the breaker and the limits, then sends the attempt, at once or in a task that waits for a limit. Throws
    /// where the attempt is refused at once.
    func admit(_ call: ResilientCall, attempt: Int, now: Duration) throws(ErrandError) {
        var admission = Admission(origin: call.origin)
        admission.rate = parts.rate
        if let breakers = parts.breakers { admission.breaker = try permit(of: breakers, for: call) }
        if let limit = parts.concurrency {
            guard let permit = limit.acquireIfFree(call.origin) else {
                return wait(call, attempt: attempt, admission, for: limit)
            }
            admission.concurrency = permit
        }
        if let rate = parts.rate {
            let reservation = try reserve(rate, for: call, now: now)
            if reservation.delay > .zero {
                return wait(call, attempt: attempt, admission, for: rate, reservation)
            }
        }
        try send(call, attempt: attempt, admission, now: now)
    }

    private func permit(of breakers: CircuitBreakers, for call: ResilientCall) throws(ErrandError) -> BreakerPermit {
        do throws(BreakerRefusal) {
            return try breakers.breaker(for: call.origin).permit()
        } catch {
            parts.breakerRefused()
            throw ErrandError(error, of: call.origin)
        }
    }

    private func reserve(
        _ rate: RateLimit, for call: ResilientCall, now: Duration
    ) throws(ErrandError) -> RateLimit.Reservation {
        do throws(LimitRefusal) {
            return try rate.reserve(call.origin, waitingAtMost: call.deadline.map { $0 - now })
        } catch {
            throw refusal(error)
        }
    }

    private func refusal(_ refusal: LimitRefusal) -> ErrandError {
        parts.limitRefused()
        return ErrandError(refusal)
    }

    // MARK: Waiting, in a task

    private func wait(
        _ call: ResilientCall, attempt: Int, _ admission: Admission, for limit: ConcurrencyLimit
    ) {
        waiting(call, attempt: attempt, admission) { [self] in
            var admission = admission
            admission.concurrency = try await limit.acquire(
                call.origin, priority: call.description.settings.priority,
                waitingAtMost: call.deadline.map { $0 - stopwatch.now() })
            if let rate = parts.rate {
                try await rate.wait(call.origin, atMost: call.deadline.map { $0 - stopwatch.now() })
            }
            try send(call, attempt: attempt, admission, now: stopwatch.now())
        }
    }

    private func wait(
        _ call: ResilientCall, attempt: Int, _ admission: Admission, for rate: RateLimit,
        _ reservation: RateLimit.Reservation
    ) {
        waiting(call, attempt: attempt, admission) { [self] in
            try await rate.wait(call.origin, for: reservation, atMost: call.deadline.map { $0 - stopwatch.now() })
            try send(call, attempt: attempt, admission, now: stopwatch.now())
        }
    }

    /// The permits of a refused attempt come back before the caller gets the refusal.
    private func waiting(
        _ call: ResilientCall, attempt: Int, _ admission: Admission,
        _ step: @escaping @Sendable () async throws -> Void
    ) {
        wait(call) { [self] in
            do {
                try await step()
            } catch let refusal as LimitRefusal {
                admission.drop()
                refused(call, hasNoTime(call) ? .timeoutTotal : self.refusal(refusal), attempt: attempt)
            } catch let error as ErrandError {
                admission.drop()
                refused(call, error, attempt: attempt)
            } catch {
                // The task is cancelled only when the call is over.
                refused(call, .cancelled, attempt: attempt)
            }
        }
    }

    private func hasNoTime(_ call: ResilientCall) -> Bool {
        call.deadline.map { $0 <= stopwatch.now() } ?? false
    }
}
