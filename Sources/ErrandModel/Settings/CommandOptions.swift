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

    /// Let the engine send the request once more when a kept connection turns out to be closed before any byte of
    /// the response came. Methods that are idempotent (RFC 9110 9.2.2) need no leave for that; for the others the
    /// request ends with ``ErrandError/connectionLost`` unless this is set, because the server may have acted.
    public static let allowReplay = CommandOptions(rawValue: 2)

    /// Neither send the client's cookies nor keep what the response sets (``CookieStorage``).
    public static let withoutCookies = CommandOptions(rawValue: 4)

    /// Request coalescing: while an equal request of the client is under way that has this option too, send nothing and
    /// take what that one gets, with its metrics. Equal are requests with the same method, URL, header fields, bytes of the
    /// body, options and settings, after interceptors; bodies from files and sources, and streamed responses, are never
    /// shared. Each request judges and decodes for itself, counts its own `Timeouts.total`, and may be stopped without
    /// the others; the transfer ends when none is left. One that joins hears only the events that are still to come. Any
    /// method: two equal POSTs at the same time are sent as one.
    public static let coalesced = CommandOptions(rawValue: 8)

    /// Count the bytes of the response's body and drop them. Not public: what reads a body, a cache for one, would take it
    /// for an empty one. For load generators, which read none.
    package static let discardsBody = CommandOptions(rawValue: 1 << 31)

    /// The request is the handshake of a WebSocket, for which ``Client/webSocket(_:subprotocols:policy:overrides:)`` is.
    package static let webSocket = CommandOptions(rawValue: 1 << 30)

    /// Ask for no content encoding, and decode none, unless ``ConnectionOptions/encodings`` are said.
    package static let keepsEncoding = CommandOptions(rawValue: 1 << 29)
}
