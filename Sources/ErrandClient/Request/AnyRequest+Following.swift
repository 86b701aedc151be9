import Synchronization

extension AnyRequest {
    /// Processes the result of a transfer up to the next transfer, or to the end of the run.
    final func advance(_ result: TransferResult, inPlace: Bool) -> Step {
        let (action, known, isPlain) = core.withLock { ($0.machine.transferEnded(), $0.builder, $0.hooks == nil) }
        let builder = known ?? client.builder
        // Not one variable for both cases: every copy of a response counts its references.
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
        case .failure(.cancelled) where isGivenUp:
            return finish(result, by: builder, inPlace: inPlace, isPlain: false)
        case .failure(.cancelled):
            // The request was not stopped: the transport was shut down under it.
            conclude(.shutDown)
            return .finished
        case .failure(.uploadNotReplayable):
            return sendAgain(result, by: builder, inPlace: inPlace)
        case .failure(let error) where error == .addressRefused && error.isRefusal:
            // The engine has sent nothing of this transfer, but maybe of others before it.
            return finish(.failure(refusal(error)), by: builder, inPlace: inPlace, isPlain: isPlain)
        case .failure(let error):
            // The head decides a redirect (RFC 9110 15.4); a failure of the redirect's body, which is not read, does
            // not matter.
            if let response = error.response, RedirectRules.isRedirect(response.statusCode), error.isOfBody {
                return follow(response, endedBy: result, by: builder, inPlace: inPlace)
            }
            guard error.isUnsent, followsSends else {
                return finish(result, by: builder, inPlace: inPlace, isPlain: isPlain)
            }
            let marked = error.with(followsSends: true)
            return finish(.failure(marked), by: builder, inPlace: inPlace, isPlain: isPlain)
        case .response:
            return finish(result, by: builder, inPlace: inPlace, isPlain: isPlain)
        }
    }

    /// Whether the server may have seen a transfer of the run before the present one.
    private var followsSends: Bool {
        core.withLock { core in
            core.resends.contains(.body)
                || core.earlier.contains { attempt in attempt.error.map { !$0.isUnsent } ?? true }
        }
    }

    /// Follows a redirect. `result` is how the transfer of `response` ended, possibly with a failure of its body. It is
    /// the result of the run if the redirect is not followed.
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
        if isGivenUp { return finish(.failure(.cancelled.with(response: response))) }
        // A stream decides at the head: the caller may have the response already, and a policy's closure is called
        // once.
        switch stream?.redirect ?? decideRedirect(response) {
        case .take:
            return finish(result)
        case .fail(let error):
            return finish(.failure(error.with(response: response)))
        case .follow(var next):
            if cachePolicy != nil { next.cachePlan?.isHop = true }
            next.cause = .redirect
            do throws(ErrandError) {
                next.settings = try client.builder.settings(forHop: next, from: sent.url)
            } catch {
                return finish(.failure(error.refusingHop(after: response)))
            }
            guard let next = withTimeLeft(next) else {
                return finish(.failure(.timeoutTotal.with(response: response)))
            }
            let attempt = Attempt(number: attempts + 1, url: sent.url, response: response, error: nil)
            var paying = next
            let action = core.withLock { core in
                let send = core.followed(by: next, after: result)
                paying.payment = send.payment
                core.earlier.append(attempt)
                if send.isResend { core.resends.append(.redirect) }
                return core.machine.hopDecided()
            }
            notify(.redirected(attempt, to: next.url))
            guard case .submit(let transfer) = action else {
                conclude(.cancelled)
                return .finished
            }
            stream?.nextTransfer()
            return .submit(paying, transfer: transfer)
        }
    }

    /// How often a description is resent because the engine needs its body once more.
    private static let resendLimit: UInt8 = 2

    /// Resends a request with a body source after bytes of the source were sent, because a reused connection was dead or
    /// a Digest nonce was stale. The engine itself resends bodies in memory and files, within one transfer. A source is
    /// opened again here, for another transfer with the rest of the total time. The engine has checked that the request
    /// may be sent twice.
    ///
    /// For the user this is part of the same attempt, as with other bodies: ``attempts``, interceptors and
    /// ``RequestEvent/replaying(_:)`` do not show it. Observers get ``RequestEvent/queued`` and the events after it
    /// once more.
    private func sendAgain(_ result: TransferResult, by builder: RequestBuilder, inPlace: Bool) -> Step {
        func finish(_ result: TransferResult) -> Step {
            self.finish(result, by: builder, inPlace: inPlace, isPlain: false)
        }
        let sent = core.withLock { $0.description }
        guard var next = sent, case .source(let source) = next.body, source.isReplayable,
            next.resends < Self.resendLimit, !isGivenUp
        else {
            return finish(result)
        }
        next.resends += 1
        next.cause = .body
        // Bytes of the body were sent.
        next.payment = .charge
        guard let next = withTimeLeft(next) else {
            return finish(.failure(.timeoutTotal))
        }
        let (action, stream) = core.withLock { core in
            core.resends.append(.body)
            return (core.machine.hopDecided(), core.hooks?.run.stream)
        }
        guard case .submit(let transfer) = action else {
            conclude(.cancelled)
            return .finished
        }
        stream?.nextTransfer()
        return .submit(next, transfer: transfer)
    }

    /// Decides whether and where a redirecting response is followed.
    final func decideRedirect(_ response: Response) -> RedirectRules.Decision {
        let (sent, hops) = core.withLock { core in
            (core.description, core.earlier.count - (core.hooks?.run.attemptsBeforeReplay ?? 0))
        }
        guard let sent else { return .take }
        let builder = client.builder
        return RedirectRules.decide(
            response, to: sent, hops: hops, policy: redirectPolicy, connection: builder.engine,
            upgrade: builder.upgrader(for: sent))
    }

    /// The description with the rest of `Timeouts.total`; `nil` if no time is left.
    final func withTimeLeft(_ description: RequestDescription) -> RequestDescription? {
        let (total, answer) = core.withLock { ($0.deadline, $0.hooks?.run.answerDeadline) }
        guard let total else { return description }
        // Reading only the cache is a way to answer, not a transfer.
        let deadline = description.cachePlan?.reading == .cacheOnly ? max(total, answer ?? total) : total
        let left = deadline - client.stopwatch.now()
        // An interceptor may have set a shorter total time.
        let time = min(left, description.settings.timeouts.total?.duration ?? left)
        guard time > .zero, let settings = try? description.settings.with(total: time) else { return nil }
        var description = description
        description.settings = settings
        return description
    }
}

extension ErrandError {
    // Not a question of retries: these are the errors that can occur after a complete head.
    /// Whether the error may concern only the body. If the error has a response, its head arrived completely in that
    /// case.
    fileprivate var isOfBody: Bool {
        switch self {
        case .contentDecodingFailed, .partialBody, .sendFailed, .receiveFailed, .connectionLost, .malformedResponse,
            .protocolError, .limitBodyBytes, .limitDecodedBytes, .timeoutIdle:
            true
        default: false
        }
    }
}
