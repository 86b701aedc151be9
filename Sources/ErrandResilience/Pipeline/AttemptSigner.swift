public import HTTPTypes

/// Signs each attempt of a request right before it is sent: a signature with a date or a nonce that must be new each
/// time, or over the host of the endpoint that was chosen.
///
/// ```swift
/// struct Dated: AttemptSigner {
///     func sign(_ attempt: inout SignableAttempt) throws {
///         guard let body = attempt.bodyBytes else { throw ErrandError.invalidBody }
///         try attempt.headers.set(.authorization, to: signature(of: attempt.url, body, at: now()))
///     }
/// }
/// configuration.attemptSigner = Dated()
/// ```
///
/// Interceptors sign a run once, and retries and hedges resend that signature. A signer is beneath all of them, and
/// also beneath the choice of an endpoint or an alternative service and the upgrade to https. It is called for
/// redirects and replays too, but not for a redirect to another origin (``signsOtherOrigins``).
///
/// A stored response is served without a signature. Therefore clients with different signers must not share a cache.
public protocol AttemptSigner: Sendable {
    /// Whether attempts are signed after a redirect, or an interceptor, has led the run to another origin than that of
    /// its first request: see ``SignableAttempt/hasLeftOrigin``. False by default: the server that redirects would
    /// otherwise choose who gets a signature.
    var signsOtherOrigins: Bool { get }

    /// Sets the fields of the attempt. Called on the thread that sends it, so it must be fast and must not block. Where
    /// it throws, the attempt is not sent: an ``ErrandError`` is the error of the attempt, another error becomes
    /// ``ErrandError/interceptionFailed``. Neither is retried.
    func sign(_ attempt: inout SignableAttempt) throws
}

extension AttemptSigner {
    /// No.
    public var signsOtherOrigins: Bool { false }
}

/// One attempt of a request, as an ``AttemptSigner`` sees it.
public struct SignableAttempt: Sendable {
    private let description: RequestDescription

    /// The number of the attempt within its transfer, 1 for the first one. Retries, hedges and an attempt that goes to the
    /// origin after an alternative service have numbers of their own. A redirect and a replay are transfers of their own.
    public let number: Int
    /// The header fields. Fields that are set here are sent with this attempt alone. Accessories, redirects and caches
    /// do not see them.
    public var headers: HeaderBlock

    init(_ description: RequestDescription, number: Int) {
        self.description = description
        self.number = number
        headers = description.headers
    }

    /// The method.
    public var method: HTTPRequest.Method { description.method }
    /// The URL that the attempt goes to.
    public var url: String { description.url }
    /// Whether a redirect, or an interceptor, has led the run to another origin than that of its first request, in this
    /// transfer or before. Endpoints, alternative services and the upgrade to https by HSTS do not count. Only a signer
    /// with ``AttemptSigner/signsOtherOrigins`` sees such attempts.
    public var hasLeftOrigin: Bool { description.hasLeftOrigin }
    /// The body's bytes, empty where there is no body; `nil`: the bytes are not in memory, because the body is a file or
    /// is made while it is sent.
    public var bodyBytes: [UInt8]? {
        switch description.body {
        case .none, .bytes, .data, .shared: description.bodyBytes
        case .file, .stream, .source: nil
        }
    }
}

extension Client.Configuration {
    /// Signs each attempt right before it is sent; `nil`, the default: nothing does, at no cost. Read when a client is
    /// made.
    public var attemptSigner: (any AttemptSigner)? {
        get { layers.lazy.compactMap { ($0 as? SigningLayer)?.signer }.first }
        set {
            layers.removeAll { $0 is SigningLayer }
            if let newValue { layers.append(SigningLayer(signer: newValue)) }
        }
    }
}
