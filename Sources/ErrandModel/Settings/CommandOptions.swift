/// Rarely used switches of a command.
public struct CommandOptions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt32

    /// Makes a set from its bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Use a new connection, and close it afterwards.
    public static let freshConnection = CommandOptions(rawValue: 1)

    /// Let the engine send the request once more when a kept connection turns out to be closed before any byte of the
    /// response came. Idempotent methods (RFC 9110 9.2.2) are sent again without this option. A request with another
    /// method ends with ``ErrandError/connectionLost`` unless this is set, because the server may have acted on it.
    public static let allowReplay = CommandOptions(rawValue: 2)

    /// Do not send the client's cookies, and do not store those that the response sets (``CookieStorage``).
    public static let withoutCookies = CommandOptions(rawValue: 4)

    /// Request coalescing: while an equal request of the client with this option is in flight, send nothing and use the
    /// response of that request, with its metrics. Requests are equal when method, URL, header fields, body bytes,
    /// options and settings are the same after the interceptors ran. Requests with bodies from files and sources, and
    /// requests with streamed responses, are never shared. Each request validates and decodes the response itself,
    /// counts its own `Timeouts.total`, and can be stopped without stopping the others; the transfer is cancelled when
    /// no request is left. A request that joins later gets only the events that follow. This applies to every method:
    /// two equal POSTs at the same time are sent as one.
    public static let coalesced = CommandOptions(rawValue: 8)

    /// Count the bytes of the response's body and drop them. Not public: code that reads the body, such as a cache,
    /// would take it for an empty one. For load generators, which do not read bodies.
    package static let discardsBody = CommandOptions(rawValue: 1 << 31)

    /// The request is a WebSocket handshake; set by ``Client/webSocket(_:subprotocols:policy:overrides:)``.
    package static let webSocket = CommandOptions(rawValue: 1 << 30)

    /// Request no content encoding and decode none, unless ``ConnectionOptions/encodings`` is set.
    package static let keepsEncoding = CommandOptions(rawValue: 1 << 29)
}
