/// Why a request failed, or was refused.
///
/// A closed set of kinds that may grow: compare with the static members, by `==`, in a `switch`, or in a `catch`:
///
/// ```swift
/// do {
///     user = try await client.run(GetUser(id: 1))
/// } catch ErrandError.statusNotAccepted {
///     ...
/// } catch let error as ErrandError where error.isTimeout {
///     ...
/// }
/// ```
///
/// Two errors are equal when their kinds are; attachments (message, response, libcurl's code) do not count.
public struct ErrandError: Error, Sendable {
    package let code: Code
    private let details: Details?

    package init(_ code: Code) {
        self.code = code
        self.details = nil
    }

    package init(_ code: Code, details: Details) {
        self.code = code
        self.details = details
    }

    /// The attachments, in an object of their own so that only failures allocate them.
    package final class Details: Sendable {
        let message: String?
        let curlCode: Int32
        let systemErrorCode: Int32
        let response: Response?
        let metrics: TransferMetrics?
        let underlying: (any Error)?
        let isRefusal: Bool
        let followsSends: Bool
        let isOfSigner: Bool

        package init(
            message: String?, curlCode: Int32 = 0, systemErrorCode: Int32 = 0, response: Response? = nil,
            metrics: TransferMetrics? = nil, underlying: (any Error)? = nil, isRefusal: Bool = false,
            followsSends: Bool = false, isOfSigner: Bool = false
        ) {
            self.message = message
            self.curlCode = curlCode
            self.systemErrorCode = systemErrorCode
            self.response = response
            self.metrics = metrics
            self.underlying = underlying
            self.isRefusal = isRefusal
            self.followsSends = followsSends
            self.isOfSigner = isOfSigner
        }
    }

    /// The same kind of error with attachments.
    package func with(
        message: String? = nil, response: Response? = nil, underlying: (any Error)? = nil, isRefusal: Bool? = nil,
        followsSends: Bool? = nil, isOfSigner: Bool? = nil
    ) -> ErrandError {
        ErrandError(
            code,
            details: Details(
                message: message ?? details?.message, curlCode: details?.curlCode ?? 0,
                systemErrorCode: details?.systemErrorCode ?? 0, response: response ?? details?.response,
                metrics: details?.metrics, underlying: underlying ?? details?.underlying,
                isRefusal: isRefusal ?? details?.isRefusal ?? false,
                followsSends: followsSends ?? details?.followsSends ?? false,
                isOfSigner: isOfSigner ?? details?.isOfSigner ?? false))
    }
}

extension ErrandError {
    /// A short, stable, low-cardinality name such as `timeoutIdle`, fit for a metric label.
    public var shortDescription: String { code.rawValue }

    /// A description of the failure: libcurl's own text where it has one, otherwise a fixed sentence.
    public var message: String { details?.message ?? code.text }

    /// A fixed sentence about the kind of the failure. ``message`` may quote a URL, another error, or text that a decoder
    /// has read; this sentence quotes nothing.
    package var kindText: String { code.text }

    /// libcurl's code (`CURLcode`) of a failed transfer; `nil` where there is none.
    public var curlCode: Int? { details.flatMap { $0.curlCode == 0 ? nil : Int($0.curlCode) } }

    /// The system's error number (`errno`) of a failed transfer; `nil` where there is none.
    public var systemErrorCode: Int? { details.flatMap { $0.systemErrorCode == 0 ? nil : Int($0.systemErrorCode) } }

    /// The part of the response that arrived: after a failure in the middle, its head and the body so far; `nil` if no
    /// response began.
    public var response: Response? { details?.response }

    /// The metrics of the failed transfer, as far as it got; `nil` where nothing was sent.
    public var metrics: TransferMetrics? { details?.metrics ?? response?.metrics }

    /// The status code of ``response``.
    public var statusCode: Int? { response?.statusCode }

    /// The error of an encoder, decoder or hook that caused this one.
    public var underlyingError: (any Error)? { details?.underlying }

    /// Whether a time limit of the caller was exceeded: one of the five timeouts ended the request, or no time was left to
    /// send it (``deadlineExceeded``).
    public var isTimeout: Bool {
        switch code {
        case .timeoutQueue, .timeoutConnect, .timeoutFirstByte, .timeoutIdle, .timeoutTotal, .deadlineExceeded: true
        default: false
        }
    }

    /// Whether the request was refused before anything was sent, because of a caller's mistake or the client's state.
    /// This depends on the single error, not on its kind: ``shutDown`` may also end a request that is in flight.
    public var isRefusal: Bool { details?.isRefusal ?? false }

    /// Whether the server may have seen an earlier send of the run, or another send of the same transfer: a hop, a replay,
    /// an attempt.
    package var followsSends: Bool { details?.followsSends ?? false }

    /// Whether the signer of attempts refused to sign. The error then says nothing about the server that the attempt was
    /// to be sent to.
    package var isOfSigner: Bool { details?.isOfSigner ?? false }

    /// Whether both are the same error with the same attachments, not only errors of one kind.
    package func isSame(as other: ErrandError) -> Bool { code == other.code && details === other.details }

    /// The same error for a request of which nothing was sent.
    package var refused: ErrandError { with(isRefusal: true) }

    /// The error of a redirect hop that could not be sent; `response` is the redirecting response. If the client's state
    /// is the cause, the kind stays. If the request is invalid, the server's `Location` is the cause, not the caller.
    package func refusingHop(after response: Response?) -> ErrandError {
        switch code {
        case .queueFull, .shutDown, .forked, .outOfMemory, .unsupportedLibrary, .systemFailure, .wrongThread,
            .fileUnwritable, .outOfDescriptors, .circuitOpen, .limitExceeded, .noEndpoint, .deadlineExceeded,
            .addressRefused, .internalFailure, .fileUnreadable, .invalidBody:
            with(response: response, isRefusal: false)
        default:
            .redirectRefused.with(
                message: "the redirect's target cannot be requested: \(message)", response: response, underlying: self)
        }
    }
}

extension ErrandError: Equatable, Hashable {
    /// Compares the kinds; attachments do not count.
    public static func == (left: ErrandError, right: ErrandError) -> Bool {
        left.code == right.code
    }

    /// Hashes the kind.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
    }

    /// Lets `catch ErrandError.timeoutIdle` and `case ErrandError.timeoutIdle` match any error of that kind.
    public static func ~= (pattern: ErrandError, error: any Error) -> Bool {
        (error as? ErrandError) == pattern
    }
}

extension ErrandError: CustomStringConvertible {
    /// `timeoutIdle: the idle timeout expired while no data was transferred (curl 28)`.
    public var description: String {
        var text = "\(shortDescription): \(message)"
        if let statusCode { text += " (status \(statusCode))" }
        if let curlCode { text += " (curl \(curlCode))" }
        if let systemErrorCode { text += " (errno \(systemErrorCode))" }
        return text
    }
}

extension ErrandError {
    /// The error for a task that waits for a request: `CancellationError` if the request was stopped.
    package var thrown: any Error { self == .cancelled ? CancellationError() : self }
}

extension AsyncThrowingStream.Iterator where Failure == any Error {
    /// The next element of a stream that a request feeds. In a cancelled task the stream ends early, which must not
    /// look like the end of the response.
    package mutating func nextOfRequest() async throws -> Element? {
        let next = try await next()
        if next == nil { try Task.checkCancellation() }
        return next
    }
}
