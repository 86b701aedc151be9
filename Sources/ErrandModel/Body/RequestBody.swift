public import FoundationEssentials

/// What a request carries. Every kind sets `Content-Type` unless the command or the client gives one. A multipart body's
/// boundary is added to a given `multipart/...` type that has none; a type of the command's own that is no multipart type,
/// or has another boundary, is ``ErrandError/invalidHeader``, and such a default of the client's gives way.
public struct RequestBody: Sendable {
    package enum Storage: Sendable {
        case none
        case bytes([UInt8])
        case data(Data)
        /// As JSON, by the client's encoder.
        case json(@Sendable (JSONEncoder) throws -> Data)
        case encodable(@Sendable () throws -> Data)
        case custom(@Sendable () throws -> [UInt8])
        case form([QueryItem])
        case file(path: String, offset: UInt64, length: Int64?)
        case source(any RequestBodySource)
        case multipart([MultipartPart], boundary: String?)
        indirect case gzip(RequestBody, level: Int)
    }

    package let storage: Storage
    let contentType: String?

    init(_ storage: Storage, contentType: String?) {
        self.storage = storage
        self.contentType = contentType
    }

    /// No body. For POST, PUT and PATCH `Content-Length: 0` is sent (RFC 9110 8.6).
    public static let empty = RequestBody(.none, contentType: nil)

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
    /// is ``ErrandError/requestEncodingFailed``. `encoder` `nil`: ``Client/Settings/jsonEncoder``.
    ///
    /// The names of objects are sorted, whatever the encoder's `outputFormatting` says, so that the same value is the same
    /// bytes in every process, as caches and signatures need it. What the value itself lists in the order of a hash table is
    /// not: the elements of a `Set`, and dictionaries whose keys are neither text nor integers; sort those, or keep an array.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> RequestBody {
        guard let encoder else {
            return RequestBody(.json { try $0.encode(value) }, contentType: "application/json")
        }
        return RequestBody(.encodable { try encoder.withSortedKeys.encode(value) }, contentType: "application/json")
    }

    /// This value as an XML property list, encoded as ``json(_:encoder:)`` is. `encoder` `nil`: one with Foundation's own
    /// settings, but XML (AFNetworking `AFPropertyListRequestSerializer`). In Foundation's binary format the order of members
    /// is another one in every process: what is cached by its body is found again with XML alone.
    public static func propertyList(
        _ value: some Encodable & Sendable, encoder: PropertyListEncoder? = nil
    ) -> RequestBody {
        RequestBody(
            .encodable {
                if let encoder { return try encoder.encode(value) }
                let encoder = PropertyListEncoder()
                encoder.outputFormat = .xml
                return try encoder.encode(value)
            }, contentType: "application/x-plist")
    }

    /// What `encode` makes, in a format of one's own. It runs when the request is built, on the thread that starts it; what
    /// it throws is the `underlyingError` of ``ErrandError/requestEncodingFailed``.
    public static func custom(
        contentType: String?, encode: @escaping @Sendable () throws -> [UInt8]
    ) -> RequestBody {
        RequestBody(.custom(encode), contentType: contentType)
    }

    /// `application/x-www-form-urlencoded`, in this order: RFC 3986 percent-encoding, a space as `%20`.
    public static func form(_ items: [QueryItem]) -> RequestBody {
        RequestBody(.form(items), contentType: "application/x-www-form-urlencoded")
    }

    /// The same, sorted by name as a dictionary has no order.
    public static func form(_ items: [String: String]) -> RequestBody {
        form(items.sorted { $0.key < $1.key }.map { QueryItem($0.key, $0.value) })
    }

    /// `length` bytes of a regular file from `offset`; `nil`: to its end, as it is when the request is built. It is read by
    /// the engine while it is sent and must not become shorter: between two transfers, as at a redirect, that is
    /// ``ErrandError/invalidBody``, within one ``ErrandError/uploadFailed``. What cannot be opened, or is no regular file,
    /// is ``ErrandError/fileUnreadable`` before any socket, and a stretch that is not in the file
    /// ``ErrandError/invalidBody``.
    public static func file(
        _ path: String, offset: UInt64 = 0, length: Int64? = nil, contentType: String? = "application/octet-stream"
    ) -> RequestBody {
        RequestBody(.file(path: path, offset: offset, length: length), contentType: contentType)
    }
}
