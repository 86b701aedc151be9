import HTTPTypes

/// What happens with a streamed response, decided by its head.
enum HeadVerdict {
    /// The response is a redirect that is followed or fails the run: its body is not read.
    case redirect(RedirectRules.Decision)
    /// The command does not accept the response. The beginning of its body is kept for the judgement at its end.
    case refused
    /// The caller gets the response, unless the given interceptors have the request sent again or answer it.
    case accepted(Interception?)
}

extension Request {
    /// Judges a head. Called on the callback queue.
    func verdict(on head: Response) -> HeadVerdict {
        if RedirectRules.isRedirect(head.statusCode) {
            let decision = decideRedirect(head)
            guard case .take = decision else { return .redirect(decision) }
        }
        // The transfer was cancelled by an interceptor that waits for its end.
        if isGivenUp { return .refused }
        let settings = builder
        guard acceptedStatusCodes(settings).contains(head.statusCode) else { return .refused }
        let types = acceptedContentTypes(settings)
        guard types.isAny || types.accepts(contentType: head.header(.contentType)) || head.hasNoBody else {
            return .refused
        }
        return .accepted(interception)
    }
}

extension AnyRequest.Verdict {
    /// The verdict on a streamed request that `received` this response. A body of which only the beginning was kept makes
    /// no success, whatever interceptors made of the response. Responses that interceptors made have their own bodies.
    func onBody(of received: Response?) -> Self {
        guard case .success(let response) = self, response.isTruncated(as: received) else { return self }
        let message = "the response needs its whole body to be accepted, but only the beginning was kept"
        return .failure(.limitBodyBytes.with(message: message, response: response))
    }
}

extension Response {
    /// Whether the body is one of which only the beginning was kept: `received`, or a copy of its body.
    fileprivate func isTruncated(as received: Response?) -> Bool {
        if mark == .truncated { return true }
        guard mark != .answer, let received, received.mark == .truncated, body.count == received.body.count else {
            return false
        }
        return body.bytes == received.body.bytes
    }

    /// Whether the response has no body, by its status or its length (RFC 9110 6.4.1).
    fileprivate var hasNoBody: Bool {
        statusCode == 204 || statusCode == 205 || statusCode == 304 || header(.contentLength) == "0"
    }
}
