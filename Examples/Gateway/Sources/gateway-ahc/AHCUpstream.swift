import AsyncHTTPClient
import GatewayParts
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Sends the requests of callers upstream with AsyncHTTPClient.
struct AHCUpstream: Upstream {
    let client: HTTPClient
    /// Scheme, host and port.
    let origin: String

    func answer(_ call: Call) async throws -> Answer {
        var request = HTTPClientRequest(url: origin + call.target)
        request.method = HTTPMethod(call.method)
        request.headers = HTTPHeaders(call.fields)
        switch call.body {
        case .none: break
        case .whole(let bytes): request.body = .bytes(bytes)
        case .streamed(let upload):
            let length: HTTPClientRequest.Body.Length =
                if let count = upload.length { .known(count) } else { .unknown }
            request.body = .stream(upload, length: length)
        }
        do {
            let response = try await client.execute(request, timeout: .seconds(30))
            return try await .passing(
                HTTPResponse.Status(code: Int(response.status.code)),
                HTTPFields(response.headers, splitCookie: false), response.body, to: call.method
            ) { [:] }
        } catch is CancellationError {
            throw CancellationError()
        } catch let error as HTTPClientError {
            switch error {
            case .cancelled: throw CancellationError()
            case .deadlineExceeded, .connectTimeout, .readTimeout: throw Problem(.gatewayTimeout, "timeout")
            default: throw Problem(.badGateway, error.shortDescription)
            }
        } catch {
            throw Problem(.badGateway, "\(type(of: error))")
        }
    }
}
