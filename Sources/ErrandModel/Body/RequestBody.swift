public import FoundationEssentials

/// The body of a request. Every kind sets `Content-Type` unless the command or the client sets one. The boundary of a
/// multipart body is added to a given `multipart/...` type without one. If the command's own type is not a multipart
/// type, or has another boundary, the request fails with ``ErrandError/invalidHeader``; such a default of the client is
/// replaced.
public struct RequestBody: Sendable {
    package enum Storage: Sendable {
        case none
        case bytes([UInt8])
        case data(Data)
        case shared(SharedBytes)
        /// Encoded as JSON by the client's encoder.
        case json(@Sendable (JSONEncoder) throws -> Data)
        case encodable(@Sendable () throws -> Data)
        case custom(@Sendable () throws -> [UInt8])
        case form([QueryItem])
        case file(path: String, offset: UInt64, length: Int64?)
        // Indirect, as in `RequestDescription.Body`.
        indirect case source(any RequestBodySource)
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

    /// These bytes. The engine copies them once for each attempt: the standard library guarantees the pointer of an array
    /// only within `withUnsafeBytes`, even if the array is kept, and an upload outlives that call. `byteBuffer` of the
    /// product ErrandNIO copies nothing. `contentType` `nil`: no `Content-Type` is sent.
    public static func bytes(_ bytes: [UInt8], contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(.bytes(bytes), contentType: contentType)
    }

    /// These bytes. The engine copies them once for each attempt, like those of an array: the pointer of `Data` is valid
    /// only within `withUnsafeBytes`, and short `Data` has its bytes in the value itself. `contentType` `nil`: no
    /// `Content-Type` is sent.
    public static func data(_ data: Data, contentType: String? = "application/octet-stream") -> RequestBody {
        RequestBody(.data(data), contentType: contentType)
    }

    /// These bytes, sent from where they are. Their owner is released when the last transfer with this body has ended
    /// and nobody keeps the body, on any thread.
    package static func shared(_ bytes: SharedBytes, contentType: String?) -> RequestBody {
        RequestBody(.shared(bytes), contentType: contentType)
    }

    /// This text in UTF-8.
    public static func string(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> RequestBody {
        RequestBody(.bytes(Array(text.utf8)), contentType: contentType)
    }

    /// This value as JSON. It is encoded when the request is built, on the thread that starts the request; an encoder's
    /// failure is ``ErrandError/requestEncodingFailed``. `encoder` `nil`: ``Client/Settings/jsonEncoder``.
    ///
    /// The names of objects are sorted, whatever the encoder's `outputFormatting` is, so that equal values give equal
    /// bytes in every process. Caches and signatures need that. Sorting does not reach values that are themselves in the
    /// order of a hash table: the elements of a `Set`, and dictionaries whose keys are neither text nor integers. Sort
    /// those, or use an array.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> RequestBody {
        guard let encoder else {
            return RequestBody(.json { try $0.encode(value) }, contentType: "application/json")
        }
        return RequestBody(.encodable { try encoder.withSortedKeys.encode(value) }, contentType: "application/json")
    }

    /// This value as an XML property list, encoded when ``json(_:encoder:)`` is. `encoder` `nil`: an encoder for XML
    /// with Foundation's other settings (AFNetworking `AFPropertyListRequestSerializer`). In Foundation's binary format
    /// the order of members differs in every process, so only XML works with a cache that uses the body as a key.
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

    /// The result of `encode`, for other formats. The closure runs when the request is built, on the thread that starts
    /// the request; its error is the `underlyingError` of ``ErrandError/requestEncodingFailed``.
    public static func custom(
        contentType: String?, encode: @escaping @Sendable () throws -> [UInt8]
    ) -> RequestBody {
        RequestBody(.custom(encode), contentType: contentType)
    }

    /// `application/x-www-form-urlencoded`, in this order: RFC 3986 percent-encoding, a space as `%20`.
    public static func form(_ items: [QueryItem]) -> RequestBody {
        RequestBody(.form(items), contentType: "application/x-www-form-urlencoded")
    }

    /// The same, sorted by name, because a dictionary has no order.
    public static func form(_ items: [String: String]) -> RequestBody {
        form(items.sorted { $0.key < $1.key }.map { QueryItem($0.key, $0.value) })
    }

    /// `length` bytes of a regular file from `offset`; `nil`: to the end of the file when the request is built. The
    /// engine reads the file while it is sent. The file must not become shorter: between two transfers, as at a
    /// redirect, that is ``ErrandError/invalidBody``, and within one transfer ``ErrandError/uploadFailed``. A path that
    /// cannot be opened, or is not a regular file, is ``ErrandError/fileUnreadable`` before any socket is opened. A
    /// range that is not within the file is ``ErrandError/invalidBody``.
    public static func file(
        _ path: String, offset: UInt64 = 0, length: Int64? = nil, contentType: String? = "application/octet-stream"
    ) -> RequestBody {
        RequestBody(.file(path: path, offset: offset, length: length), contentType: contentType)
    }
}
