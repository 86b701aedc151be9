public import Errand
import FoundationEssentials
public import HTTPTypes

/// The answer of a route of a ``StubRouter``: a response, a failure, or nothing at all. A pure value.
///
/// ```swift
/// router.on(.get, "/users/{id}") { request in .json(#"{"id": \#(request.parameters["id"] ?? "0")}"#) }
/// router.on(.get, "/slow") { _ in .text("late").after(.seconds(2)) }
/// router.on(.post, "/users") { _ in .failure(.connectionLost) }
/// ```
public struct StubResponse: Sendable {
    private enum Kind {
        case response
        /// No response begins.
        case failure(ErrandError)
        /// A response that breaks off after its body.
        case broken(ErrandError)
        case silence
    }

    /// The status code. Default: 200.
    public var status: Int
    /// The fields. Default: none.
    public var headers: HTTPFields
    /// The body. Default: empty.
    public var body: [UInt8]
    /// The time before the answer, on the router's clock. Default: none.
    public var delay: Duration
    private var kind = Kind.response
    private var pieces: [TransferScript.Piece] = []

    /// Makes a response; arguments that are left out have the defaults above.
    public init(
        status: Int = 200, headers: HTTPFields = HTTPFields(), body: [UInt8] = [], delay: Duration = .zero
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.delay = delay
    }

    /// A response that has only a status.
    public static func status(_ code: Int) -> StubResponse { StubResponse(status: code) }

    /// A response of text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> StubResponse {
        StubResponse(
            status: status, headers: [.contentType: "text/plain; charset=utf-8"], body: Array(text.utf8))
    }

    /// A response of JSON text, which is not checked.
    public static func json(_ text: String, status: Int = 200) -> StubResponse {
        StubResponse(status: status, headers: [.contentType: "application/json"], body: Array(text.utf8))
    }

    /// A response with this value as JSON. Throws the encoder's error.
    public static func json(encoding value: some Encodable, status: Int = 200) throws -> StubResponse {
        let data = try SharedCoders.jsonEncoder.encode(value)
        return StubResponse(status: status, headers: [.contentType: "application/json"], body: Array(data))
    }

    /// No response: the transfer fails, after ``delay``.
    public static func failure(_ error: ErrandError) -> StubResponse {
        var response = StubResponse()
        response.kind = .failure(error)
        return response
    }

    /// No answer at all: the first of the request's own timeouts ends the transfer, on the router's clock. A request
    /// without timeouts waits until it is stopped.
    public static var stalled: StubResponse {
        var response = StubResponse()
        response.kind = .silence
        return response
    }

    /// The same after a time, on the router's clock.
    public func after(_ delay: Duration) -> StubResponse {
        var response = self
        response.delay = delay
        return response
    }

    /// The same with further fields. A field that exists already is replaced.
    public func with(_ headers: HTTPFields) -> StubResponse {
        var response = self
        for field in headers { response.headers[field.name] = field.value }
        return response
    }

    /// The same with a body in pieces, which a streamed request gets one by one.
    ///
    /// - Parameters:
    ///   - pieces: The pieces.
    ///   - pause: The time between a piece and the next one, on the router's clock. Default: none.
    public func inPieces(_ pieces: [[UInt8]], every pause: Duration = .zero) -> StubResponse {
        var response = self
        response.body = Array(pieces.joined())
        response.pieces = pieces.enumerated().map { index, bytes in
            TransferScript.Piece(time: pause * index, bytes: bytes[...])
        }
        return response
    }

    /// The same, broken off after its body.
    public func broken(by error: ErrandError = .partialBody) -> StubResponse {
        var response = self
        response.kind = .broken(error)
        return response
    }

    func script(for description: RequestDescription) -> TransferScript {
        var failure: ErrandError?
        switch kind {
        case .failure(let error): return TransferScript(error, after: delay)
        case .silence: return .silence(for: description)
        case .broken(let error): failure = error
        case .response: break
        }
        let pieces = pieces.map { TransferScript.Piece(time: delay + $0.time, bytes: $0.bytes) }
        return TransferScript(
            Response(statusCode: status, headers: headers, body: body), failure: failure, pieces: pieces, after: delay,
            until: pieces.last?.time ?? delay, for: description)
    }
}
