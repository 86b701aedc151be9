import Errand
import Foundation
import HTTPTypes
import OpenAPIRuntime

/// Errand as the transport of clients that swift-openapi-generator makes. README.md says why this file is not built
/// here.
///
/// ```swift
/// let api = Client(serverURL: try Servers.Server1.url(), transport: ErrandTransport(client: errandClient))
/// ```
///
/// Bodies are streamed in both directions, with backpressure. No status is an error: the generated code handles them
/// all.
public struct ErrandTransport: ClientTransport {
    private let client: Errand.Client

    /// Makes a transport. The caller shuts the client down.
    public init(client: Errand.Client) {
        self.client = client
    }

    /// Sends a request of the generated client. Throws `ErrandError`, or `CancellationError` if the task was cancelled.
    public func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?) {
        // The path begins with a slash, and is appended to the path of the base URL.
        let base = baseURL.absoluteString
        let url = (base.hasSuffix("/") ? String(base.dropLast()) : base) + (request.path ?? "/")
        let command = RawCommand(
            method: request.method, url: url, headers: request.headerFields, body: body.map(Self.sent) ?? .empty)
        let response = try await client.stream(command)
        let head = HTTPResponse(status: response.head.status, headerFields: response.headers)
        // If the engine decodes a body, its length differs from the one in the header field.
        return (head, HTTPBody(response.body, length: .unknown, iterationBehavior: .single))
    }

    /// Redirects and retries resend a body that can be read several times.
    private static func sent(_ body: HTTPBody) -> RequestBody {
        let length: Int64? = if case .known(let count) = body.length { Int64(count) } else { nil }
        return switch body.iterationBehavior {
        case .multiple: .stream(length: length, contentType: nil) { body }
        case .single: .stream(body, length: length, contentType: nil)
        }
    }
}
