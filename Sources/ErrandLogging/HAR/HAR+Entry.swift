extension HAR {
    /// One exchange: a request, and the response or the failure that it got.
    public struct Entry: Sendable, Hashable {
        /// When the request was handed to the engine, since 1970 in UTC. Kept with milliseconds.
        public var started: Duration
        /// What was sent.
        public var request: Sent
        /// What arrived; `nil` if no response began.
        public var response: Received?
        /// How long each phase took.
        public var timings: Timings
        /// The address of the server, without the port; `nil`: not known.
        public var serverAddress: String?
        /// The connection; this library writes the local port. `nil`: not known.
        public var connection: String?
        /// Why the exchange failed; `nil` if a whole response arrived. The format has no member for failures, so it is
        /// written as `_errand.error`.
        public var failure: Failure?
        /// When each piece of a streamed body arrived; empty if the body was delivered as a whole. Written as
        /// `_errand.chunks`.
        public var chunks: [Chunk]
        /// Further members of the entry whose names begin with `_`, from other programs. They are kept when the entry
        /// is written.
        public var others: [String: JSONValue]

        /// Makes an entry.
        public init(
            started: Duration, request: Sent, response: Received? = nil, timings: Timings = Timings(),
            serverAddress: String? = nil, connection: String? = nil, failure: Failure? = nil, chunks: [Chunk] = [],
            others: [String: JSONValue] = [:]
        ) {
            self.started = started
            self.request = request
            self.response = response
            self.timings = timings
            self.serverAddress = serverAddress
            self.connection = connection
            self.failure = failure
            self.chunks = chunks
            self.others = others
        }

        /// The time from the start to the end: the sum of the phases.
        public var time: Duration { timings.total }
    }

    /// A piece of a streamed body.
    public struct Chunk: Sendable, Hashable {
        /// When the piece arrived, counted from the start of the exchange.
        public var time: Duration
        /// The number of bytes.
        public var size: Int

        /// Makes a piece.
        public init(time: Duration, size: Int) {
            self.time = time
            self.size = size
        }
    }
}

extension HAR.Entry {
    /// The approximate memory that the entry takes, in bytes.
    package var weight: Int {
        let sent = (request.body?.bytes.count ?? 0) + request.headers.textSize + request.url.utf8.count
        let received =
            (response?.body.bytes.count ?? 0) + (response?.headers.textSize ?? 0) + (response?.trailers.textSize ?? 0)
        return sent + received + chunks.count * 24 + 512
    }

    /// The same entry without the bytes of its bodies, which are marked as truncated, and without its pieces.
    package var withoutBodies: HAR.Entry {
        var entry = self
        entry.chunks = []
        entry.request.body?.drop()
        entry.response?.body.drop()
        return entry
    }
}
