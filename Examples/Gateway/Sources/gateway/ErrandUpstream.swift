import Errand
import ErrandNIO
import GatewayParts
import HTTPTypes
import NIOCore

/// Sends the requests of callers upstream with Errand.
struct ErrandUpstream: Upstream {
    let client: Client
    /// Scheme, host and port. The target of a request is appended as text, so that no target leads to another host.
    let origin: String
    /// The path prefixes of requests whose answers are cached.
    let cachedPaths: [String]

    /// A cached answer is buffered. The cache keeps no answers above this limit.
    private static let cached = Limits(bodyBytes: 4 << 20)

    func answer(_ call: Call) async throws -> Answer {
        do {
            var command = RawCommand(
                method: call.method, url: origin + call.target, headers: call.fields, body: body(of: call))
            guard case .none = call.body, cachedPaths.contains(where: { call.target.hasPrefix($0) }) else {
                command.options = .byteBuffers  // the body arrives in the memory that is written to the caller
                let response = try await client.stream(command)
                return try await .passing(
                    response.head.status, response.head.headers, response.body.byteBuffers(), to: call.method,
                    atOnce: 65_536  // usually arrives in one piece
                ) { response.trailers }
            }
            command.cache = .http
            command.limits = Self.cached
            let response = try await client.run(command)
            var fields = response.headers
            if let name = HTTPField.Name("Cache-Status") { fields[name] = response.cacheStatus }  // RFC 9211
            return .whole(response.status, fields, try response.body.byteBuffer())
        } catch let error as ErrandError {
            throw Problem(error)
        }
    }

    private func body(of call: Call) -> RequestBody {
        switch call.body {
        case .none: .empty
        case .whole(let bytes): .byteBuffer(bytes, contentType: nil)
        case .streamed(let upload): .byteBuffers(upload, length: upload.length, contentType: nil)
        }
    }
}

extension Problem {
    fileprivate init(_ error: ErrandError) {
        let status: HTTPResponse.Status
        switch error {
        case .circuitOpen, .limitExceeded, .noEndpoint, .outOfDescriptors, .queueFull, .shutDown, .timeoutQueue:
            status = .serviceUnavailable
        case .deadlineExceeded, .timeoutConnect, .timeoutFirstByte, .timeoutIdle, .timeoutTotal:
            status = .gatewayTimeout
        case .invalidBody, .invalidHeader, .invalidMethod, .invalidURL, .uploadFailed: status = .badRequest
        default: status = .badGateway
        }
        // The message contains names of servers, but the kind does not.
        self.init(
            status, error.shortDescription, retryAfter: error.retryAfter.map { Int($0.components.seconds) + 1 })
    }
}
