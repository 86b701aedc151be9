import HTTPTypes

/// What is to be done with a streamed response, by its head.
enum HeadVerdict {
    /// It leads elsewhere, or the run fails for it: nobody reads its body.
    case redirect(RedirectRules.Decision)
    /// Not what the command takes: its body, as far as an error's body goes, is for whoever judges it at its end.
    case refused
    /// The caller's, unless one of the interceptors, where there are any, has the request sent again.
    case accepted(InterceptorChain?)
}

extension Request {
    /// On the callback queue.
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
    /// The same where only the beginning of the body was kept, which is no success, whatever was made of it.
    var onTruncatedBody: Self {
        guard case .success(let response) = self else { return self }
        let message = "the status was not accepted by itself, and only the beginning of the body was kept"
        return .failure(.limitBodyBytes.with(message: message, response: response))
    }
}

extension Response {
    /// By its status or its length (RFC 9110 6.4.1).
    fileprivate var hasNoBody: Bool {
        statusCode == 204 || statusCode == 205 || statusCode == 304 || header(.contentLength) == "0"
    }
}
