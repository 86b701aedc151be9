import Errand
import HTTPTypes
import Synchronization

/// A request of a `.http` file with all variables replaced.
struct HTTPFileCommand: Command {
    var method: HTTPRequest.Method
    var url: String
    var headers: HTTPFields
    var body: RequestBody
    /// `nil`: the body is a file and not held in memory.
    var bodyBytes: [UInt8]?
    var authorization: Authorization?
    var timeouts: Timeouts?
    var limits: Limits?
    var connection: ConnectionOptions?
    var redirects: RedirectPolicy?
    var options: CommandOptions
    var acceptedStatusCodes: StatusCodes
    /// Further requirements of the file on the response.
    var checks: [HTTPResponseCheck] = []
    /// Whether the response is held until it is taken: for `-v`, and in a load test for checks and references.
    var holdsResponse = false

    var path: String { url }

    /// The exchange that later requests may refer to; it has no response yet.
    var exchange: HTTPExchange {
        HTTPExchange(headers: headers, body: bodyBytes, response: nil)
    }

    /// The reported part of a response. A group keeps the values of its children until it ends, so they must not
    /// contain bodies.
    struct Response: Sendable {
        let status: Int
        let bytes: Int
        let metrics: TransferMetrics
        /// `nil`: the response is not shown.
        let held: HeldResponse?

        init(_ response: Errand.Response, holds: Bool = false) {
            held = holds ? HeldResponse(response) : nil
            status = response.statusCode
            bytes = response.body.count
            metrics = response.metrics
        }
    }

    var validator: (@Sendable (Response, Errand.Response) async throws -> Void)? {
        guard !checks.isEmpty else { return nil }
        return { [checks] _, response in
            if let unmet = UnmetExpectations(checks, response) { throw unmet }
        }
    }

    func decode(_ response: Errand.Response) -> Response {
        Response(response, holds: holdsResponse)
    }
}

/// Holds a response until it is taken.
final class HeldResponse: Sendable {
    private let response: Mutex<Response?>

    init(_ response: Response) {
        self.response = Mutex(response)
    }

    func take() -> Response? { response.withLock { $0.take() } }
}
