import Errand
import HTTPTypes
import Synchronization

/// A request of a `.http` file with everything put in.
struct HTTPFileCommand: Command {
    var method: HTTPRequest.Method
    var url: String
    var headers: HTTPFields
    var body: RequestBody
    /// `nil`: it is a file, and not held.
    var bodyBytes: [UInt8]?
    var authorization: Authorization?
    var timeouts: Timeouts?
    var limits: Limits?
    var connection: ConnectionOptions?
    var redirects: RedirectPolicy?
    var options: CommandOptions
    var acceptedStatusCodes: StatusCodes
    /// What else the file says of the response.
    var checks: [HTTPResponseCheck] = []
    /// Whether the response is held until it is taken, for `-v`.
    var holdsResponse = false

    var path: String { url }

    /// What later requests may refer to, as long as there is no response.
    var exchange: HTTPExchange {
        HTTPExchange(headers: headers, body: bodyBytes, response: nil)
    }

    /// What is told of a response. A group keeps its children's values, so that bodies in them would be held to its end.
    struct Response: Sendable {
        let status: Int
        let bytes: Int
        let metrics: TransferMetrics
        /// `nil`: nobody wants to see it.
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

/// A response until somebody has taken it.
final class HeldResponse: Sendable {
    private let response: Mutex<Response?>

    init(_ response: Response) {
        self.response = Mutex(response)
    }

    func take() -> Response? { response.withLock { $0.take() } }
}
