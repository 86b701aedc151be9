import CallerConnections
package import HTTPTypes
package import HummingbirdCore
package import NIOCore

package typealias Answer = Response

extension Response {
    /// An answer whose body is in memory.
    package static func whole(_ status: HTTPResponse.Status, _ fields: HTTPFields, _ body: ByteBuffer) -> Response {
        Response(status: status, headers: fields.returned, body: ResponseBody(byteBuffer: body))
    }

    /// The answer of an upstream server. A body of at most `atOnce` bytes is written together with the head. Any other
    /// body is passed on as it arrives. If a body arrives in pieces, joining them for the one write copies them.
    package static func passing<Body: AsyncSequence & Sendable>(
        _ status: HTTPResponse.Status, _ fields: HTTPFields, _ body: Body, to method: HTTPRequest.Method,
        atOnce: Int = Call.small, trailers: @escaping @Sendable () -> HTTPFields
    ) async throws -> Response where Body.Element == ByteBuffer {
        let length = fields[.contentLength].flatMap { Int($0) }
        if method == .head || status.code == 204 || status.code == 304 || (length ?? .max) <= atOnce {
            return whole(status, fields, try await body.collect(upTo: atOnce))
        }
        let passed = ResponseBody(contentLength: length) { writer in
            try await writer.write(body)
            let last = trailers()
            try await writer.finish(last.isEmpty ? nil : last)
        }
        return Response(status: status, headers: fields.returned, body: passed)
    }

    /// The same answer, but the connection is closed after it if the upload has not ended by then. Reading the rest of
    /// the upload here and upstream at the same time would be two readers of one sequence, which NIO does not allow.
    func closing(unlessOver upload: Upload) -> Response {
        var response = self
        if !upload.isOver { response.headers[.connection] = "close" }
        let body = body
        response.body = ResponseBody(contentLength: body.contentLength) { writer in
            try await body.write(writer)
            if !upload.isOver { throw UnfinishedUpload() }
        }
        return response
    }
}
