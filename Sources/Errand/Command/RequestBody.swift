public import FoundationEssentials

/// What a request carries. Every kind sets `Content-Type` unless the command or the client gives one.
public struct RequestBody: Sendable {
    enum Storage: Sendable {
        case none
        case bytes([UInt8])
        case data(Data)
        case encodable(@Sendable () throws -> Data)
        case form([QueryItem])
        case file(path: String, offset: UInt64, length: Int64?)
    }

    let storage: Storage
    let contentType: String?

    private init(_ storage: Storage, contentType: String?) {
        self.storage = storage
        self.contentType = contentType
    }

    /// No body. For POST, PUT and PATCH `Content-Length: 0` is sent (RFC 9110 8.6).
    public static let none = RequestBody(.none, contentType: nil)

    /// These bytes. `contentType` `nil`: no such field is sent.
    public static func bytes(_ bytes: [UInt8], contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(.bytes(bytes), contentType: contentType)
    }

    /// These bytes. `contentType` `nil`: no such field is sent.
    public static func data(_ data: Data, contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(.data(data), contentType: contentType)
    }

    /// This text in UTF-8.
    public static func string(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> RequestBody {
        RequestBody(.bytes(Array(text.utf8)), contentType: contentType)
    }

    /// This value as JSON. It is encoded when the request is built, on the thread that starts it; an encoder's failure
    /// is ``ErrandError/requestEncodingFailed``. `encoder` `nil`: one shared encoder with Foundation's own settings.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> RequestBody {
        RequestBody(
            .encodable { try (encoder ?? SharedCoders.jsonEncoder).encode(value) }, contentType: "application/json")
    }

    /// `application/x-www-form-urlencoded`, in this order: RFC 3986 percent-encoding, a space as `%20`.
    public static func form(_ items: [QueryItem]) -> RequestBody {
        RequestBody(.form(items), contentType: "application/x-www-form-urlencoded")
    }

    /// The same, sorted by name as a dictionary has no order.
    public static func form(_ items: [String: String]) -> RequestBody {
        form(items.sorted { $0.key < $1.key }.map { QueryItem($0.key, $0.value) })
    }

    /// `length` bytes of a regular file from `offset`; `nil`: to its end. It is read by the engine while it is sent and
    /// must not change meanwhile. A file that cannot be opened is ``ErrandError/fileUnreadable`` before any socket.
    public static func file(
        _ path: String, offset: UInt64 = 0, length: Int64? = nil, contentType: String? = "application/octet-stream"
    ) -> RequestBody {
        RequestBody(.file(path: path, offset: offset, length: length), contentType: contentType)
    }
}

extension RequestBody {
    /// The body in the form in which a transport takes it.
    func wire() throws(ErrandError) -> RequestDescription.Body {
        switch storage {
        case .none:
            return .none
        case .bytes(let bytes):
            return .bytes(bytes)
        case .data(let data):
            return .data(data)
        case .encodable(let encode):
            do {
                return .data(try encode())
            } catch {
                throw ErrandError.requestEncodingFailed.with(
                    message: "the body cannot be encoded: \(error)", underlying: error)
            }
        case .form(let items):
            return .bytes(Array(PercentEncoding.query(items).utf8))
        case .file(let path, let offset, let length):
            guard !path.utf8.contains(0), length ?? 0 >= 0 else {
                throw ErrandError.invalidBody.with(message: "the file's path or length is not valid")
            }
            return .file(path: path, offset: offset, length: length)
        }
    }
}
