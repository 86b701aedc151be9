/// A kind of failure in a ``LoadResult``, and the phase of the request in which it happened.
public struct LoadError: Sendable, Hashable, Codable, Comparable {
    /// How far the request had come.
    public enum Phase: String, Sendable, Hashable, Codable, CaseIterable {
        /// Before a connection was asked for: waiting in a queue, or refused by a limit or breaker.
        case queue
        /// Name resolution.
        case resolve
        /// TCP, or the proxy's tunnel.
        case connect
        /// The TLS handshake.
        case tls
        /// The request was being sent, or waited for the first byte of the response.
        case firstByte = "first_byte"
        /// A part of the response had come.
        case body
        /// The response was complete: a check or the decoding failed.
        case check
    }

    /// The code of `ErrandError`, such as `timeoutTotal`; `error` for an error of another type.
    public var kind: String
    /// The phase in which the request failed.
    public var phase: Phase

    /// A kind of failure.
    public init(kind: String, phase: Phase) {
        self.kind = kind
        self.phase = phase
    }

    /// By kind, then by phase.
    public static func < (left: LoadError, right: LoadError) -> Bool {
        (left.kind, left.phase.rawValue) < (right.kind, right.phase.rawValue)
    }
}
