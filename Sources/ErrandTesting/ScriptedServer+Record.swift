internal import CErrandFaultServer

extension ScriptedServer {
    /// Totals of what the server has seen.
    public struct Counts: Sendable, Equatable {
        /// Connections accepted.
        public var connections: Int
        /// Accepted connections that have ended.
        public var closed: Int
        /// Request heads read.
        public var requests: Int
        /// Request bodies read to their end.
        public var bodies: Int
        /// Bytes read from the wire.
        public var bytesReceived: Int
        /// Bytes written to the wire.
        public var bytesSent: Int

        /// Makes counts; every count that is not given is zero.
        public init(
            connections: Int = 0, closed: Int = 0, requests: Int = 0, bodies: Int = 0, bytesReceived: Int = 0,
            bytesSent: Int = 0
        ) {
            self.connections = connections
            self.closed = closed
            self.requests = requests
            self.bodies = bodies
            self.bytesReceived = bytesReceived
            self.bytesSent = bytesSent
        }

        init(_ counts: errand_fault_counts) {
            self.init(
                connections: Int(counts.connections), closed: Int(counts.closed), requests: Int(counts.requests),
                bodies: Int(counts.bodies), bytesReceived: Int(counts.bytes_received),
                bytesSent: Int(counts.bytes_sent))
        }

        var cCounts: errand_fault_counts {
            errand_fault_counts(
                connections: UInt64(clamping: connections), closed: UInt64(clamping: closed),
                requests: UInt64(clamping: requests), bodies: UInt64(clamping: bodies),
                bytes_received: UInt64(clamping: bytesReceived), bytes_sent: UInt64(clamping: bytesSent))
        }
    }

    /// A request as it was received.
    public struct RecordedRequest: Sendable, Equatable {
        /// The number of the connection, counted from 1.
        public let connection: Int
        /// The method of the request line.
        public let method: String
        /// The target of the request line.
        public let target: String
        /// Request line and fields, each line ended by CRLF.
        public let head: String
        /// The first MiB of the body, without chunk framing. Empty until the body was read.
        public let body: [UInt8]
        /// The length of the whole body.
        public let bodyLength: Int
        /// Whether the body was read to its end.
        public let isBodyComplete: Bool

        init(_ view: errand_fault_request) {
            connection = Int(view.connection)
            method = view.method.map { String(cString: $0) } ?? ""
            target = view.target.map { String(cString: $0) } ?? ""
            head = view.head.map { String(cString: $0) } ?? ""
            body = view.body.map { Array(UnsafeBufferPointer(start: $0, count: view.body_kept)) } ?? []
            bodyLength = Int(view.body_length)
            isBodyComplete = view.body_complete != 0
        }

        /// The values of a field, in order. The name is not case-sensitive.
        public func values(of name: String) -> [String] {
            head.split(whereSeparator: \.isNewline).dropFirst().compactMap { line in
                guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name.lowercased() else {
                    return nil
                }
                return String(line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" })
            }
        }
    }
}
