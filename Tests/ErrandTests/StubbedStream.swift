import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandEngine
@testable import ErrandModel

/// Asks for a stream.
struct GetStream: Command {
    var path = "stream"
    var statuses: Set<Int> = [200]
    var redirects: RedirectPolicy?
    var interceptors: [any Interceptor] = []
    typealias Response = Errand.Response
    var acceptedStatusCodes: StatusCodes { .of(statuses) }
}

extension StubTransport {
    /// The only open transfer, once there is one.
    func opened() async throws -> TransferID {
        var first: TransferID?
        try await waitUntil("a transfer is open") {
            first = open.first
            return first != nil
        }
        return try #require(first)
    }

    func sendHead(_ statusCode: Int, _ headers: HTTPFields = HTTPFields(), to id: TransferID) {
        send(.head(Response(statusCode: statusCode, headers: headers)), to: id)
    }

    func sendChunk(_ bytes: [UInt8], to id: TransferID) {
        send(.chunk(Response(statusCode: 0, body: bytes)), to: id)
    }

    /// As the engine ends a streamed response.
    func end(_ id: TransferID, _ statusCode: Int = 200) {
        complete(id, with: .response(Response(statusCode: statusCode)))
    }
}
