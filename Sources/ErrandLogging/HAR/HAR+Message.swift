public import HTTPTypes

extension HAR {
    /// A request as it was sent.
    public struct Sent: Sendable, Hashable {
        /// The method.
        public var method: String
        /// The absolute URL, without a fragment.
        public var url: String
        /// `HTTP/1.1`, `HTTP/2`; `unknown` if the connection did not get that far.
        public var httpVersion: String
        /// The fields. This library writes those of the client, without the fields that libcurl adds, such as `Host`.
        public var headers: HTTPFields
        /// The body; `nil`: there is none.
        public var body: Body?
        /// Bytes of the body on the wire; `nil`: not known.
        public var wireSize: Int?

        /// Makes a request.
        public init(
            method: String, url: String, httpVersion: String = "HTTP/1.1", headers: HTTPFields = HTTPFields(),
            body: Body? = nil, wireSize: Int? = nil
        ) {
            self.method = method
            self.url = url
            self.httpVersion = httpVersion
            self.headers = headers
            self.body = body
            self.wireSize = wireSize
        }
    }

    /// A response as it arrived.
    public struct Received: Sendable, Hashable {
        /// The status code.
        public var status: Int
        /// The text after the status code; empty in HTTP/2.
        public var statusText: String
        /// `HTTP/1.1`, `HTTP/2`; `unknown`.
        public var httpVersion: String
        /// The fields.
        public var headers: HTTPFields
        /// The trailers. The format has no member for them, so they are written as `_errand.trailers`.
        public var trailers: HTTPFields
        /// The body, decoded: a `Content-Encoding` field says how it was encoded on the wire.
        public var body: Body
        /// Bytes of the body on the wire; `nil`: not known.
        public var wireSize: Int?

        /// Makes a response.
        public init(
            status: Int, statusText: String = "", httpVersion: String = "HTTP/1.1", headers: HTTPFields = HTTPFields(),
            trailers: HTTPFields = HTTPFields(), body: Body = Body(), wireSize: Int? = nil
        ) {
            self.status = status
            self.statusText = statusText
            self.httpVersion = httpVersion
            self.headers = headers
            self.trailers = trailers
            self.body = body
            self.wireSize = wireSize
        }
    }

    /// A body, or the part of it that was kept.
    public struct Body: Sendable, Hashable {
        /// The bytes. UTF-8 is written as text, and other bytes as base64.
        public var bytes: [UInt8]
        /// The media type; empty if it is not known.
        public var mimeType: String
        /// The number of bytes of the whole body; `nil`: the number of `bytes`, or unknown if the body is truncated.
        public var size: Int?
        /// Whether bytes are missing at the end, because of a limit or because the exporter left them out.
        public var isTruncated: Bool

        /// Makes a body; the default is an empty one.
        public init(bytes: [UInt8] = [], mimeType: String = "", size: Int? = nil, isTruncated: Bool = false) {
            self.bytes = bytes
            self.mimeType = mimeType
            self.size = size
            self.isTruncated = isTruncated
        }

        /// Forgets the bytes, and keeps the size.
        mutating func drop() {
            guard !bytes.isEmpty else { return }
            size = size ?? bytes.count
            bytes = []
            isTruncated = true
        }
    }
}

extension HTTPFields {
    /// The bytes of the fields as lines of HTTP/1.1.
    package var textSize: Int {
        reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4 }
    }
}
