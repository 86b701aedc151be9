public import HTTPTypes

extension Client {
    /// What a client's requests have in common. Read once, when the client is made.
    public struct Configuration: Sendable {
        /// What relative paths are joined to. `nil`: every path must be absolute (YTKNetwork `baseUrl`).
        public var baseURL: String?
        /// Default: by RFC 3986.
        public var pathJoining = PathJoining.resolve
        /// Fields of every request, unless the command has one of that name.
        public var headers: HTTPFields
        /// `User-Agent`; `nil`: none is sent.
        public var userAgent: String? = "errand/0.1"
        /// For commands that bring none.
        public var timeouts: Timeouts
        /// For commands that bring none.
        public var limits: Limits
        /// For commands that bring none.
        public var connection: ConnectionOptions
        /// For commands that bring none.
        public var redirects: RedirectPolicy
        /// Where callbacks run. `nil`: a serial queue of the client's own.
        public var callbackQueue: CallbackQueue?
        /// Told of every request of the client (YTKNetwork accessories, for all).
        public var accessories: [any Accessory] = []
        /// Stand between every request of the client and the network; see ``Interceptor``.
        public var interceptors: [any Interceptor] = []
        /// Whether closures of a stopped request are told, with ``ErrandError/cancelled``. Default: no; `stop()` is
        /// silent.
        public var reportsStops = false
        /// Loop threads. `nil`: one a core, at most 4. Range 1...64.
        public var loops: Int?
        /// Requests that may wait for admission, at most 2^24; more are ``ErrandError/queueFull``. `nil`: 65,536.
        public var queueCapacity: Int?
        /// Requests in flight, in all, at most 2^24. `nil`: three quarters of the limit of open files, at most 4,096.
        public var inFlightLimit: Int?
        /// Requests in flight to one origin, at most 2^24. `nil`: 256.
        public var originInFlightLimit: Int?
        /// Counts ``Client/shutdown(_:)``'s drain time. Default: the continuous clock.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Makes a configuration; what is left out has the default above.
        public init(
            baseURL: String? = nil, headers: HTTPFields = HTTPFields(), timeouts: Timeouts = Timeouts(),
            limits: Limits = Limits(), connection: ConnectionOptions = ConnectionOptions(),
            redirects: RedirectPolicy = .follow, callbackQueue: CallbackQueue? = nil, loops: Int? = nil
        ) {
            self.baseURL = baseURL
            self.headers = headers
            self.timeouts = timeouts
            self.limits = limits
            self.connection = connection
            self.redirects = redirects
            self.callbackQueue = callbackQueue
            self.loops = loops
        }
    }
}
