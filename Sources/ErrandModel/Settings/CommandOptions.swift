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

    /// Let the engine resend the request if a reused connection turns out to be closed before any byte of the response
    /// came. Requests with idempotent methods (RFC 9110 9.2.2) are resent without this option. A request with another
    /// method ends with ``ErrandError/connectionLost`` unless this is set, because the server may have acted on it.
    public static let allowReplay = CommandOptions(rawValue: 2)

    /// Do not send the client's cookies, and do not store those that the response sets (``CookieStorage``).
    public static let withoutCookies = CommandOptions(rawValue: 4)

    /// Request coalescing: while an equal request of the client with this option is in flight, send nothing and use the
    /// response of that request, with its metrics. Requests are equal when method, URL, header fields, body bytes,
    /// options and settings are the same after the interceptors ran. The option `byteBuffers` of `ErrandNIO` may differ:
    /// the first request's option decides in which memory the body arrives. Requests with bodies from files and sources,
    /// and requests with streamed responses, are never shared. Each request validates and decodes the response itself,
    /// counts its own `Timeouts.total`, and can be stopped without stopping the others. The transfer is cancelled when
    /// no request is left. A request that joins later gets only the events that follow. This applies to every method:
    /// two equal POSTs at the same time are sent as one.
    public static let coalesced = CommandOptions(rawValue: 8)

    /// Report the connection of each attempt as ``RequestEvent/connected(_:)``: reused or new, its addresses, the TLS session
    /// and the server's certificates. Only requests that an ``EventAccessory`` watches report it. It costs some tens of
    /// microseconds for each attempt, mostly for the certificates; without this option it costs nothing.
    public static let connectionTrace = CommandOptions(rawValue: 16)

    /// Count the bytes of the response's body and drop them. Not public, because code that reads the body, such as a
    /// cache, would find it empty. For load generators, which do not read bodies.
    package static let discardsBody = CommandOptions(rawValue: 1 << 31)

    /// The request is a WebSocket handshake; set by ``Client/webSocket(_:subprotocols:policy:overrides:)``.
    package static let webSocket = CommandOptions(rawValue: 1 << 30)

    /// Let the body arrive in the memory that the process has chosen. Not public, because only a product that knows such
    /// memory can choose it. `CommandOptions.byteBuffers` of ErrandNIO is this bit.
    package static let bodyMemory = CommandOptions(rawValue: 1 << 27)

    /// Let the metrics count the bytes of heads. Not public: for load generators.
    package static let countsHeads = CommandOptions(rawValue: 1 << 28)

    /// Request no content encoding and decode none, unless ``ConnectionOptions/encodings`` is set.
    package static let keepsEncoding = CommandOptions(rawValue: 1 << 29)
}
