import Synchronization

/// A run with interceptors. They run in a separate task (``Interception``), and the request's asynchronous steps wait for
/// their orders.
extension AnyRequest {
    /// Hands a transfer to the interceptors, if there are any, then to the transport.
    final func send(_ description: RequestDescription, transfer: Int) {
        guard let interception = beginInterception() else {
            return submit(description, transfer: transfer)
        }
        work(.preparing, otherwise: { submit(description, transfer: transfer) }) { [self] step in
            interception.begin(description)
            let order = await interception.order()
            return { [self] in
                switch order {
                case .send(var asked, let call):
                    // Interceptors may have decided a replay although nothing was sent yet.
                    asked.cause = description.cause
                    asked.payment = description.payment
                    submit(asked, for: call, of: interception, insteadOf: description, transfer: transfer)
                case .ended(let result):
                    answered(result, insteadOf: description)
                }
            }
        }
    }

    /// The interceptors of the next transfers; `nil` if there are none.
    private func beginInterception() -> Interception? {
        let present = core.withLock { core -> (run: RunHooks, builder: RequestBuilder?)? in
            // Most requests have no interceptors: `run` is copied only for those that have some.
            guard let hooks = core.hooks, !hooks.run.interceptors.isEmpty else { return nil }
            return (hooks.run, core.builder)
        }
        guard let (run, builder) = present, let storage = run.storage else { return nil }
        let progress = InterceptionProgress()
        let context = InterceptionContext(
            requestID: id, command: erasedCommand, storage: storage, progress: progress,
            connection: client.connection, builder: builder ?? client.builder, overrides: overrides, client: client
        ) { [weak self] event in
            guard let self else { return }
            callbacks.async {
                // The next run has other observers.
                if progress.isOpen { self.notify(event) }
            }
        }
        let chain = InterceptorChain(interceptors: run.interceptors, skipped: run.skipped, context: context)
        let interception = Interception(chain) { [weak self] in self?.giveUpTransfer(of: $1, by: $0) }
        core.withLock { $0.hooks?.run.interception = interception }
        return interception
    }

    /// The interceptors of the present transfers; `nil` if there are none, or if they have ended.
    final var interception: Interception? { core.withLock { $0.hooks?.run.interception } }

    /// The interceptors have ended: later transfers of the run, and the rest of a stream, do not concern them.
    final func interceptorsEnded(_ interception: Interception) {
        core.withLock { core in
            guard core.hooks?.run.interception === interception else { return }
            core.hooks?.run.interception = nil
        }
    }

    /// The run does not wait for the interceptors any more.
    final func closeInterception() {
        core.withLock { $0.hooks?.run.interception.take() }?.close()
    }

    // MARK: Transfers of interceptors

    /// Submits `prepared`, which interceptors made of `built`.
    private func submit(
        _ prepared: RequestDescription, for call: Int, of interception: Interception,
        insteadOf built: RequestDescription, transfer: Int
    ) {
        core.withLock { core in
            core.hooks?.run.call = call
            core.hooks?.run.isGivenUp = false
        }
        // A call that was given up before its number was known here was not cancelled: see `giveUpTransfer`.
        guard !interception.isGivenUp(call) else {
            core.withLock { $0.hooks?.run.isGivenUp = true }
            return deliver(.failure(.cancelled))
        }
        do throws(ErrandError) {
            var prepared = prepared
            if case .stream = prepared.body {
                throw .invalidBody.with(
                    message: "an interceptor returned a `.stream` body; return a `.source` body instead")
            }
            // Pins and certificates belong to a host. If an interceptor changed the URL, those of the new host apply.
            if prepared.url != built.url {
                client.builder.upgrader(for: prepared)?.upgrade(&prepared.url)
                prepared.settings = try client.builder.settings(forHop: prepared, from: built.url, byServer: false)
            }
            // The time that interceptors took counts towards the total time.
            guard let timely = withTimeLeft(prepared) else { throw .timeoutTotal }
            submit(timely, transfer: transfer)
        } catch {
            deliver(.failure(refusal(error)))
        }
    }

    /// Sends the request again for the interceptors. Called on the callback queue.
    final func replay(
        _ asked: RequestDescription, for call: Int, of interception: Interception, after result: TransferResult
    ) {
        let (built, sent, stream) = core.withLock { core in
            (core.hooks?.run.built, core.description, core.hooks?.run.stream)
        }
        stream?.nextTransfer()
        let (response, error): (Response?, ErrandError?) =
            switch result {
            case .response(let response): (response, nil)
            case .failure(let error): (error.response, error)
            }
        // A `.stream` body is refused by `submit`.
        let isStream = if case .stream = asked.body { true } else { false }
        guard asked.body.isReplayable || isStream else {
            return refuse(.uploadNotReplayable.with(response: response, underlying: error))
        }
        guard withTimeLeft(asked) != nil else { return refuse(.timeoutTotal.with(response: response)) }
        var next = asked
        client.builder.upgrader(for: next)?.upgrade(&next.url)
        // A lookup sends nothing: see `Fallback.Source.stale`.
        let isLookup = next.readsOnlyCache
        next.cause = asked.cause == .authentication ? .authentication : .replay
        let resend: Resend = next.cause == .authentication ? .authentication : .replay
        if !isLookup, next.cachePlan != nil { next.cachePlan?.reading = .networkOnly }
        let decided = next
        let (attempt, send, action) = core.withLock { core in
            // Without an answer there was no challenge, and the service may be down.
            let isAnswer = resend == .authentication && response != nil
            let send = core.followed(by: decided, after: result, isAnswer: isAnswer)
            // Without a transfer since the last replay that attempt is in the list already.
            let number = core.earlier.count + (core.isUnsent ? 0 : 1)
            let attempt = Attempt(number: number, url: sent?.url ?? asked.url, response: response, error: error)
            if !core.isUnsent { core.earlier.append(attempt) }
            if !isLookup, send.isResend { core.resends.append(resend) }
            core.isUnsent = true
            core.hooks?.run.attemptsBeforeReplay = core.earlier.count
            return (attempt, send, core.machine.hopDecided())
        }
        next.payment = send.payment
        if !isLookup { notify(.replaying(attempt)) }
        guard case .submit(let transfer) = action else { return conclude(.cancelled) }
        submit(next, for: call, of: interception, insteadOf: built ?? asked, transfer: transfer)
    }

    /// A replay that cannot be sent: the error is thrown from `next`.
    private func refuse(_ error: ErrandError) {
        goOn(finish(.failure(error.refused), by: builder, inPlace: false, isPlain: false))
    }

    /// The interceptors have ended before a transfer: they answered instead of the network, or refused the request.
    /// Called on the callback queue.
    private func answered(_ result: TransferResult, insteadOf built: RequestDescription) {
        closeInterception()
        if case .response(let response) = result {
            // The request shows what would have been sent. The old description is released after the lock.
            var description: RequestDescription? = built
            core.withLock { core in
                swap(&core.description, &description)
                core.isUnsent = true
            }
            notify(.answered(response))
        }
        let (action, builder) = core.withLock { ($0.machine.transferEnded(), $0.builder) }
        switch action {
        case .ignore: break
        case .conclude: conclude(.cancelled)
        case .evaluate:
            let builder = builder ?? client.builder
            let read = result.read(by: responseDecoder(by: builder))
            goOn(finish(read, by: builder, inPlace: false, isPlain: false))
        }
    }

    private func goOn(_ step: Step) {
        if case .submit(let next, let transfer) = step { send(next, transfer: transfer) }
    }

    /// The interceptors have ended with a response after a transfer that had failed. If it is the response of an earlier
    /// transfer, the answer is the server's and not theirs.
    final func noteAnswer(_ response: Response, after error: ErrandError) {
        let isReceived = core.withLock { core in
            let isReceived = core.earlier.contains { attempt in
                attempt.response.map { response.stems(from: $0) } ?? false
            }
            guard !core.isUnsent, let sent = core.description else { return isReceived }
            core.earlier.append(
                Attempt(number: core.earlier.count + 1, url: sent.url, response: error.response, error: error))
            core.isUnsent = true
            return isReceived
        }
        if !isReceived { callbacks.async { self.notify(.answered(response)) } }
    }

    /// Notes that a lookup for interceptors has found nothing. After a transfer such a lookup is no separate attempt.
    final func noteMiss(_ result: TransferResult) {
        guard case .failure(let error) = result, error.code == .cacheMiss else { return }
        core.withLock { core in
            if !core.earlier.isEmpty, core.description?.readsOnlyCache == true { core.isUnsent = true }
        }
    }

    // MARK: Transfers that nobody waits for

    /// Cancels the transfer of that call of `next`. Its end is returned from `next`. If the transfer was not submitted
    /// yet, `submit` finds that the call was given up, or `hand` does when the transfer's id is known. Does nothing if
    /// other interceptors have taken over: each interception numbers its calls from one.
    final func giveUpTransfer(of call: Int, by interception: Interception) {
        let id = core.withLock { core -> TransferID? in
            guard let hooks = core.hooks, hooks.run.interception === interception, hooks.run.call == call else {
                return nil
            }
            hooks.run.isGivenUp = true
            return core.machine.transferID
        }
        if let id { carrier.cancel(id) }
    }

    /// Whether interceptors have cancelled the present transfer.
    final var isGivenUp: Bool { core.withLock { $0.hooks?.run.isGivenUp == true } }

    // MARK: The total time

    /// How long interceptors may take to answer instead of a transfer that has used up the total time.
    private static var timeToAnswer: Duration { .milliseconds(100) }

    /// A transfer has ended. If it has used up the total time, the interceptors may still answer. If a shorter limit has
    /// ended it, such as the time of one attempt, the rest of the total time is left.
    final func allowAnswer(after result: TransferResult) {
        switch result {
        case .failure(.timeoutTotal), .failure(.deadlineExceeded): break
        case .failure, .response: return
        }
        let now = client.stopwatch.now()
        core.withLock { core in
            // The engine has a clock of its own, which may be a little ahead.
            guard let deadline = core.deadline, now > deadline - Self.timeToAnswer, let hooks = core.hooks,
                hooks.run.interception != nil, hooks.run.answerDeadline == nil
            else { return }
            hooks.run.answerDeadline = max(now, deadline) + Self.timeToAnswer
        }
    }
}
