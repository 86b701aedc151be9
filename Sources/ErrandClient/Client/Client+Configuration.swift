public import HTTPTypes

extension Client {
    /// What a client's requests have in common: ``settings``, whose members are also members of the configuration, and
    /// options that cannot change after the client is made.
    @dynamicMemberLookup
    public struct Configuration: Sendable {
        /// The settings that ``Client/reconfigure(_:)`` can change later.
        public var settings = Settings()
        /// The queue of the callbacks. `nil`: a serial queue of the client's own.
        public var callbackQueue: CallbackQueue?
        /// Accessories of every request of the client (YTKNetwork accessories, for all requests).
        public var accessories: [any Accessory] = []
        /// Interceptors between every request of the client and the network; see ``Interceptor``.
        public var interceptors: [any Interceptor] = []
        /// Whether the delegate and the closures of a stopped request are called, with ``ErrandError/cancelled``.
        /// Filters are not called in either case. Default: no; `stop()` is silent.
        public var reportsStops = false
        /// The storage that `Configuration.cache` of the module `ErrandCaching` sets.
        package var cacheStorage: (any CacheStorage)?
        /// What stands between the client and its engine. Members of the module `ErrandResilience`, such as
        /// `Configuration.resilience`, set them. Their positions give the order.
        package var layers: [any TransportLayer] = []
        /// What replaces URLs before they are requested. `Configuration.hsts` of the module `ErrandResilience` sets one.
        package var urlUpgrade: (any URLUpgrade)?
        /// What judges the addresses of connections. `Configuration.addressGuard` of the module `ErrandResilience`
        /// sets one.
        package var addressFilter: (any AddressFilter)?
        /// Where cookies are kept. Default: off.
        public var cookies = CookieStorage.off
        /// The number of loop threads, 1...64. `nil`: one per core, at most 4.
        public var loops: Int?
        /// How many requests may wait for admission, at most 2^24; further requests fail with
        /// ``ErrandError/queueFull``. `nil`: 65,536.
        public var queueCapacity: Int?
        /// How many requests may be in flight in total, at most 2^24. `nil`: half of the limit of open files, at most
        /// 4,096.
        public var inFlightLimit: Int?
        /// How many requests to one origin may be in flight, at most 2^24. `nil`: 256.
        public var originInFlightLimit: Int?
        /// The clock for times that the engine does not measure. Default: the continuous clock. It measures:
        ///
        /// - the drain time of ``Client/shutdown(_:)``;
        /// - the total time of groups and the delays of chains;
        /// - the pauses between tries of downloads, their rate and their ``Timeouts/total``;
        /// - ``Timeouts/total`` of requests while they wait for interceptors, hooks, the cache's store or another
        ///   request's transfer, and the rest of it after a redirect or a replay.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Makes a configuration. A member without an argument has its default.
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

extension Client.Configuration {
    /// The settings that the client's engine is started with.
    var engine: ReactorSettings {
        var engine = ReactorSettings()
        engine.cookies = cookies
        engine.loops = loops
        engine.queueCapacity = queueCapacity
        engine.inFlightLimit = inFlightLimit
        engine.originInFlightLimit = originInFlightLimit
        engine.connection = settings.connection
        engine.addressFilter = addressFilter
        return engine
    }
}

extension ReactorTransport {
    /// Makes the engine that a configuration describes. `pause` has the meaning of ``OptionsCache``'s `pause`.
    convenience init(_ configuration: Client.Configuration, pause: Int = OptionsCache.pause) {
        self.init(configuration.engine, pause: pause)
    }
}
