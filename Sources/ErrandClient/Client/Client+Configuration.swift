public import HTTPTypes

extension Client {
    /// What a client's requests have in common: ``settings``, whose members are the configuration's too, and what is
    /// fixed once the client is made.
    @dynamicMemberLookup
    public struct Configuration: Sendable {
        /// What may be changed later, by ``Client/reconfigure(_:)``.
        public var settings = Settings()
        /// Where callbacks run. `nil`: a serial queue of the client's own.
        public var callbackQueue: CallbackQueue?
        /// Told of every request of the client (YTKNetwork accessories, for all).
        public var accessories: [any Accessory] = []
        /// Stand between every request of the client and the network; see ``Interceptor``.
        public var interceptors: [any Interceptor] = []
        /// Whether delegate and closures of a stopped request are told, with ``ErrandError/cancelled``. Filters are not, either
        /// way. Default: no; `stop()` is silent.
        public var reportsStops = false
        /// What `Configuration.cache` of the module `ErrandCaching` names.
        package var cacheStorage: (any CacheStorage)?
        /// Default: off.
        public var cookies = CookieStorage.off
        /// Loop threads. `nil`: one a core, at most 4. Range 1...64.
        public var loops: Int?
        /// Requests that may wait for admission, at most 2^24; more are ``ErrandError/queueFull``. `nil`: 65,536.
        public var queueCapacity: Int?
        /// Requests in flight, in all, at most 2^24. `nil`: half of the limit of open files, at most 4,096.
        public var inFlightLimit: Int?
        /// Requests in flight to one origin, at most 2^24. `nil`: 256.
        public var originInFlightLimit: Int?
        /// Counts what is not the engine's to count: ``Client/shutdown(_:)``'s drain time; the total time of groups and the
        /// delays of chains; of downloads the pauses between tries, the rate and ``Timeouts/total``; and ``Timeouts/total``
        /// of requests where interceptors, hooks, the cache's store or another request's transfer are waited for, and what
        /// is left of it after a redirect or a replay. Default: the continuous clock.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Makes a configuration; what is left out has the default of its member.
        public init(
            baseURL: String? = nil, headers: HTTPFields = HTTPFields(), timeouts: Timeouts = Timeouts(),
            limits: Limits = Limits(), connection: ConnectionOptions = ConnectionOptions(),
            redirects: RedirectPolicy = .follow, callbackQueue: CallbackQueue? = nil, loops: Int? = nil
        ) {
            settings.baseURL = baseURL
            settings.headers = headers
            settings.timeouts = timeouts
            settings.limits = limits
            settings.connection = connection
            settings.redirects = redirects
            self.callbackQueue = callbackQueue
            self.loops = loops
        }

        /// The members of ``settings``.
        public subscript<Value>(dynamicMember member: WritableKeyPath<Settings, Value>) -> Value {
            get { settings[keyPath: member] }
            set { settings[keyPath: member] = newValue }
        }
    }
}
