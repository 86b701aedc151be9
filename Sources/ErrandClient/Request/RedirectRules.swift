import HTTPTypes

/// The redirect rules of RFC 9110 15.4, applied by ``RedirectPolicy``. Pure, except for the policy's own closure.
package enum RedirectRules {
    package enum Decision {
        /// The response is the result; it is not followed.
        case take
        case follow(RequestDescription)
        case fail(ErrandError)
    }

    /// Fields that another origin must not see (RFC 9110 15.4), in lower case: the fields with credentials, which are
    /// the fields that logs must not show, and `Host`. Fields that interceptors added are not listed here but in
    /// ``RequestDescription/originBoundFields``.
    private static let originBound: [String] = Redaction.secretHeaders.map { $0.lowercased() } + ["host"]

    private static func originBound(_ request: RequestDescription) -> [String] {
        let own = request.originBoundFields
        return own.isEmpty ? originBound : originBound + own.map(\.canonicalName)
    }

    /// Fields that describe a body. They are dropped with the body.
    private static let aboutBody = [
        "content-type", "content-length", "content-encoding", "content-language", "content-location",
        "transfer-encoding", "expect", "digest", "last-modified",
    ]

    package static func isRedirect(_ statusCode: Int) -> Bool {
        switch statusCode {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }

    /// Decides about a redirect. `hops`: the number of hops so far. `connection`: the options that `sent` uses if it
    /// has none of its own. `upgrade`: replaces the target.
    package static func decide(
        _ response: Response, to sent: RequestDescription, hops: Int, policy: RedirectPolicy,
        connection: ConnectionOptions, upgrade: (any URLUpgrade)? = nil
    ) -> Decision {
        guard policy.limit > 0, let field = response.headers[fields: .location].first else { return .take }
        let location = PercentEncoding.text(field)
        if location.isEmpty { return .take }
        // A location that browsers would take to another host. The server meant that, or an attacker wrote into its
        // response.
        if URLReference.hidesAuthority(location) {
            return .fail(refused(response, "the redirect's URL has a backslash or a space in or next to its host"))
        }
        guard let encoded = try? PercentEncoding.url(location) else { return .take }
        let source = URLReference(sent.url)
        var reference = URLReference(encoded)
        // RFC 9110 4.2.4: user information from another party must not be used; with it the server would choose the
        // credentials. The user information that a relative reference inherits from its base is the caller's (RFC 3986
        // 5.2.2).
        if let given = reference.authority, let mark = given.utf8.lastIndex(of: UInt8(ascii: "@")) {
            reference.authority = given[given.utf8.index(after: mark)...]
        }
        var target = source.resolving(reference)
        target.fragment = nil
        let upgraded = upgrade?.upgraded(target.text)
        if let upgraded { target = URLReference(upgraded) }
        guard let scheme = target.scheme else { return .take }
        // The scheme is checked before the host: `javascript:` and `file:///` have no host.
        guard RequestBuilder.isSupported(scheme) else {
            return .fail(refused(response, "the redirect's scheme is '\(scheme)', expected http or https"))
        }
        guard let authority = target.authority, !authority.isEmpty else { return .take }
        guard (try? HostName.lookedUp(by: target)) != nil else {
            return .fail(refused(response, "the redirect's host '\(authority)' is not valid"))
        }
        if source.scheme?.lowercased() == "https", scheme.lowercased() == "http", !policy.allowsDowngrade {
            return .fail(refused(response, "the redirect leads from https to http"))
        }
        guard hops < policy.limit else {
            let message = "stopped after \(policy.limit) \(policy.limit == 1 ? "redirect" : "redirects")"
            return .fail(.tooManyRedirects.with(message: message, response: response))
        }
        var next = proposal(sent, status: response.statusCode, from: source, to: target)
        if let decide = policy.decide {
            switch decide(.init(response: response, from: sent, proposal: next, count: hops + 1)) {
            case .follow(let altered): next = altered
            case .stop: return .take
            }
        }
        upgrade?.upgrade(&next.url)
        // Checked after the closure, which may set another body. A body that was written to a stream is gone.
        guard next.body.isReplayable else {
            let message = "the redirect requires the body again, but the body was streamed"
            return .fail(.uploadNotReplayable.with(message: message, response: response))
        }
        // Checked after the closure, which may change the origin once more but cannot change the options.
        if source.origin != URLReference(next.url).origin {
            next.settings = next.settings.withoutClientIdentity(connection)
            dropOriginBound(from: &next, of: sent)
            next.hasLeftOrigin = true
        }
        if upgraded != nil { upgrade?.urlWasUpgraded() }
        return .follow(next)
    }

    /// Removes everything from `next` that is bound to the origin of `sent`, because `next` goes to another origin:
    /// credentials and fields that are the same in both. Values that `next` has changed were set on purpose.
    static func dropOriginBound(from next: inout RequestDescription, of sent: RequestDescription) {
        if let sentAuthentication = sent.authentication, next.authentication == sentAuthentication {
            next.authentication = nil
        }
        next.headers = withoutOriginBound(next, of: sent.headers)
    }

    private static func proposal(
        _ sent: RequestDescription, status: Int, from source: URLReference, to target: URLReference
    ) -> RequestDescription {
        var next = sent
        next.url = target.text
        let becomesGet =
            switch status {
            case 301, 302: sent.method == .post
            case 303: sent.method != .head
            default: false
            }
        if becomesGet { next.method = .get }
        // RFC 9110 15.4.4: after 303 no body is resent, whatever the method was.
        if becomesGet || status == 303 {
            next.body = .none
            next.headers = next.headers.removing(aboutBody)
        }
        if source.origin != target.origin { next.headers = next.headers.removing(originBound(sent)) }
        return next
    }

    /// The headers of `next` without the fields that are bound to the origin and unchanged.
    private static func withoutOriginBound(_ next: RequestDescription, of sent: HeaderBlock) -> HeaderBlock {
        let names = originBound(next)
        let bound = sent.fields.filter { names.contains($0.name.canonicalName) }
        guard !bound.isEmpty else { return next.headers }
        let kept = next.headers.fields.filter { field in
            !bound.contains(where: { $0.name == field.name && $0.value == field.value })
        }
        return HeaderBlock(HTTPFields(kept))
    }

    private static func refused(_ response: Response, _ message: String) -> ErrandError {
        .redirectRefused.with(message: message, response: response)
    }
}
