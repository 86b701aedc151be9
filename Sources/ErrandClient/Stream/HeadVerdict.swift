import HTTPTypes

/// What happens with a streamed response, decided by its head.
enum HeadVerdict {
    /// The response is a redirect that is followed or fails the run: its body is not read.
    case redirect(RedirectRules.Decision)
    /// The command does not accept the response. The beginning of its body is kept for the judgement at its end.
    case refused
    /// The caller gets the response, unless one of the given interceptors has the request sent again.
    case accepted(InterceptorChain?)
}

extension Request {
    /// Judges a head. Called on the callback queue.
    func verdict(on head: Response) -> HeadVerdict {
        if RedirectRules.isRedirect(head.statusCode) {
            let decision = decideRedirect(head)
            guard case .take = decision else { return .redirect(decision) }
        }
        let settings = builder
        guard acceptedStatusCodes(settings).contains(head.statusCode) else { return .refused }
        let types = acceptedContentTypes(settings)
        guard types.isAny || types.accepts(contentType: head.header(.contentType)) || head.hasNoBody else {
            return .refused
        }
        return .accepted(interception())
    }
}

extension AnyRequest.Verdict {
    /// The verdict if only the beginning of the body was kept: never a success, even if an interceptor made one of the
    /// response.
    var onTruncatedBody: Self {
        guard case .success(let response) = self else { return self }
        let message = "the response needs its whole body to be accepted, but only the beginning was kept"
        return .failure(.limitBodyBytes.with(message: message, response: response))
    }
}

extension Response {
    /// Whether the response has no body, by its status or its length (RFC 9110 6.4.1).
    fileprivate var hasNoBody: Bool {
        statusCode == 204 || statusCode == 205 || statusCode == 304 || header(.contentLength) == "0"
    }
}
