import Synchronization

extension AnyRequest {
    /// Takes the result of a transfer as far as it goes: to the next transfer, or to the end.
    final func advance(_ result: TransferResult, inPlace: Bool) -> Step {
        let (action, known, isPlain) = core.withLock { ($0.machine.transferEnded(), $0.builder, $0.hooks == nil) }
        let builder = known ?? client.builder
        // Not as one value for both: every copy of a response counts its references.
        guard let decoder = responseDecoder(by: builder) else {
            return take(action, result, by: builder, inPlace: inPlace, isPlain: isPlain)
        }
        return take(action, result.read(by: decoder), by: builder, inPlace: inPlace, isPlain: isPlain)
    }

    private func take(
        _ action: RequestStateMachine.EndAction, _ result: TransferResult, by builder: RequestBuilder, inPlace: Bool,
        isPlain: Bool
    ) -> Step {
        switch action {
        case .ignore:
            return .ignored
        case .conclude:
            invalidate(after: completed(result))
            conclude(.cancelled)
        case .evaluate:
            if isPlain { return evaluate(result, by: builder, inPlace: inPlace, isPlain: true) }
            return evaluate(completed(result), by: builder, inPlace: inPlace, isPlain: false)
        }
        return .finished
    }

    private func evaluate(
        _ result: TransferResult, by builder: RequestBuilder, inPlace: Bool, isPlain: Bool
    ) -> Step {
        cached(result)
        switch result {
        case .response(let response) where RedirectRules.isRedirect(response.statusCode):
            return follow(response, endedBy: result, by: builder, inPlace: inPlace)
        case .failure(.cancelled):
            // Not by the request's own stop: the transport was shut down beneath it.
            conclude(.shutDown)
            return .finished
        case .failure(.uploadNotReplayable):
            return sendAgain(result, by: builder, inPlace: inPlace)
        case .failure(let error):
            // A redirect is decided by its head (RFC 9110 15.4), whatever became of a body that nobody reads.
            // A replay that an interceptor refused was no transfer: the response of its error is another one's.
            if let response = error.response, RedirectRules.isRedirect(response.statusCode), error.isOfBody,
                !core.withLock({ $0.isReplayUnsent })
            {
                return follow(response, endedBy: result, by: builder, inPlace: inPlace)
            }
            return finish(result, by: builder, inPlace: inPlace, isPlain: isPlain)
        case .response:
            return finish(result, by: builder, inPlace: inPlace, isPlain: isPlain)
        }
    }

    /// `result`: what the transfer of `response` ended with, a failure of its body perhaps; it counts where the response
    /// is not followed.
    private func follow(
        _ response: Response, endedBy result: TransferResult, by builder: RequestBuilder, inPlace: Bool
    ) -> Step {
        func finish(_ result: TransferResult) -> Step {
            self.finish(result, by: builder, inPlace: inPlace, isPlain: false)
        }
        let (sent, attempts, stream) = core.withLock { ($0.description, $0.earlier.count, $0.hooks?.run.stream) }
        guard let sent else {
            return finish(result)
        }
        // A stream's head has decided: the caller may have it, and a policy's closure is asked once.
        switch stream?.redirect ?? decideRedirect(response) {
        case .take:
            return finish(result)
        case .fail(let error):
            return finish(.failure(error.with(response: response)))
        case .follow(var next):
            if cachePolicy != nil { next.cachePlan?.isHop = true }
            do throws(ErrandError) {
                next.settings = try client.builder.settings(forHop: next, from: sent.url)
            } catch {
                return finish(.failure(error.refusingHop(after: response)))
            }
            guard let next = withTimeLeft(next) else {
                return finish(.failure(.timeoutTotal.with(response: response)))
            }
            let attempt = Attempt(number: attempts + 1, url: sent.url, response: response, error: nil)
            let action = core.withLock { core in
                core.earlier.append(attempt)
                return core.machine.hopDecided()
            }
            tell(.redirected(attempt, to: next.url))
            guard case .submit(let transfer) = action else {
                conclude(.cancelled)
                return .finished
            }
            stream?.nextTransfer()
            return .submit(next, transfer: transfer)
        }
    }

    /// So often a description is sent again because the engine wants its body once more.
    private static let resendLimit: UInt8 = 2

    /// A kept connection turned out dead, or a nonce of Digest stale, when bytes of a body's source were gone already. A
    /// body in memory or a file the engine itself sends again, within one transfer; a source is opened anew here, for
    /// another one with what is left of the total time. The engine has seen to it that the request may be sent twice.
    ///
    /// To the user it is what it is with other bodies: part of the same attempt, which ``attempts``, interceptors and
    /// ``RequestEvent/replaying(_:)`` know nothing of. Observers hear ``RequestEvent/queued`` and what follows once more.
    private func sendAgain(_ result: TransferResult, by builder: RequestBuilder, inPlace: Bool) -> Step {
        func finish(_ result: TransferResult) -> Step {
            self.finish(result, by: builder, inPlace: inPlace, isPlain: false)
        }
        let sent = core.withLock { $0.description }
        guard var next = sent, case .source(let source) = next.body, source.isReplayable,
            next.resends < Self.resendLimit
        else {
            return finish(result)
        }
        next.resends += 1
        guard let next = withTimeLeft(next) else {
            return finish(.failure(.timeoutTotal))
        }
        let (action, stream) = core.withLock { ($0.machine.hopDecided(), $0.hooks?.run.stream) }
        guard case .submit(let transfer) = action else {
            conclude(.cancelled)
            return .finished
        }
        stream?.nextTransfer()
        return .submit(next, transfer: transfer)
    }

    /// Where a redirecting response leads.
    final func decideRedirect(_ response: Response) -> RedirectRules.Decision {
        let (sent, hops) = core.withLock { core in
            (core.description, core.earlier.count - (core.hooks?.run.attemptsBeforeReplay ?? 0))
        }
        guard let sent else { return .take }
        return RedirectRules.decide(
            response, to: sent, hops: hops, policy: redirectPolicy, connection: client.connection)
    }

    /// The same description with what is left of `Timeouts.total`; `nil` where nothing is.
    final func withTimeLeft(_ description: RequestDescription) -> RequestDescription? {
        guard let deadline = core.withLock({ $0.deadline }) else { return description }
        let left = deadline - client.stopwatch.now()
        // An interceptor may have asked for less.
        let total = min(left, description.settings.timeouts.total?.duration ?? left)
        guard total > .zero, let settings = try? description.settings.with(total: total) else { return nil }
        var description = description
        description.settings = settings
        return description
    }

    /// Sends the request again, from what was built, as an interceptor wants. On the callback queue.
    final func replay(after result: TransferResult) {
        let (built, sent, attempts) = core.withLock { ($0.hooks?.run.built, $0.description, $0.earlier.count) }
        let (response, error): (Response?, ErrandError?) =
            switch result {
            case .response(let response): (response, nil)
            case .failure(let error): (error.response, error)
            }
        guard let built, built.body.isReplayable else {
            return conclude(.uploadNotReplayable.with(response: response, underlying: error))
        }
        guard var next = withTimeLeft(built) else { return conclude(.timeoutTotal.with(response: response)) }
        if let reading = next.cachePlan?.reading, reading != .cacheOnly { next.cachePlan?.reading = .networkOnly }
        let attempt = Attempt(number: attempts + 1, url: sent?.url ?? built.url, response: response, error: error)
        let (action, stream) = core.withLock { core in
            core.earlier.append(attempt)
            core.isReplayUnsent = true
            core.hooks?.run.replays += 1
            core.hooks?.run.attemptsBeforeReplay = core.earlier.count
            return (core.machine.hopDecided(), core.hooks?.run.stream)
        }
        tell(.replaying(attempt))
        guard case .submit(let transfer) = action else { return conclude(.cancelled) }
        stream?.nextTransfer()
        send(next, transfer: transfer)
    }
}

extension ErrandError {
    /// Whether it may be about the body alone, where there is a response: its head came whole then.
    fileprivate var isOfBody: Bool {
        switch self {
        case .contentDecodingFailed, .partialBody, .sendFailed, .receiveFailed, .connectionLost, .malformedResponse,
            .protocolError, .limitBodyBytes, .limitDecodedBytes, .timeoutIdle:
            true
        default: false
        }
    }
}
