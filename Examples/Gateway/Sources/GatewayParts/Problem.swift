import FoundationEssentials
package import HTTPTypes
import HummingbirdCore
import NIOCore

/// The reason why a request got no answer from an upstream server, as `application/problem+json` (RFC 9457).
package struct Problem: Error, Encodable {
    private let title: String
    private let status: Int
    private let detail: String
    /// In seconds; also the field `Retry-After`.
    private let retryAfter: Int?

    /// `detail`: the caller sees this text, so it contains none of our addresses.
    package init(_ status: HTTPResponse.Status, _ detail: String, retryAfter: Int? = nil) {
        (title, self.status, self.detail, self.retryAfter) = (status.reasonPhrase, status.code, detail, retryAfter)
    }

    var response: Response {
        var fields: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        if let retryAfter { fields[.retryAfter] = String(retryAfter) }
        let page = ByteBuffer(bytes: (try? JSONEncoder().encode(self)) ?? Data())
        return Response(status: .init(code: status), headers: fields, body: ResponseBody(byteBuffer: page))
    }
}
