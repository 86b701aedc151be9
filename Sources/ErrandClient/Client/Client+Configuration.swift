public import HTTPTypes

extension Client {
    /// What a client's requests have in common: ``settings``, whose members are also members of the configuration, and
    /// options that cannot change after the client is made.
    @dynamicMemberLookup
    public struct Configuration: Sendable {
        /// The settings that ``Client/reconfigure(_:)`` can change later.
        public var settings = Settings()
        /// The queue of the callbacks. `nil`: the client makes its own serial queue.
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
        /// The layers between the client and its engine. Members of the module `ErrandResilience`, such as
        /// `Configuration.resilience`, set them. Their positions determine their order.
        package var layers: [any TransportLayer] = []
        /// Replaces URLs before they are requested. `Configuration.hsts` of the module `ErrandResilience` sets it.
        package var urlUpgrade: (any URLUpgrade)?
        /// Judges the addresses of connections. `Configuration.addressGuard` of the module `ErrandResilience` sets it.
        package var addressFilter: (any AddressFilter)?
        /// The engine that the client shares with other clients. `nil`, the default: the client has its own engine. See
        /// ``SharedEngine`` for the settings that its clients must agree on. Without effect on a client that is made
        /// with a transport.
        public var sharedEngine: SharedEngine?
        /// Where cookies are kept. Default: off.
        public var cookies = CookieStorage.off
        /// The number of loop threads, 1...64. `nil`: one per usable core, at most 4.
        public var loops: Int?
        /// How many requests may wait for admission, at most 2^24; further requests fail with
        /// ``ErrandError/queueFull``. `nil`: 65,536.
        public var queueCapacity: Int?
        /// How many requests may be in flight in total, at most 2^24. `nil`: half of the limit of open files, at most
        /// 4,096.
        public var inFlightLimit: Int?
        /// How many requests to one origin may be in flight, at most 2^24. `nil`: 256.
        public var originInFlightLimit: Int?
        /// How many HTTP/2 streams a connection may have at once, at most 2^24, if the server allows that many
        /// (CURLMOPT_MAX_CONCURRENT_STREAMS). Further requests open another connection. `nil`: 64, or 32 from libcurl 8.10
        /// on. That is the number of requests in one multi handle of the engine. A larger number makes the multi handles
        /// larger, and then requests over HTTP/1.1 cost more.
        public var maxConcurrentStreams: Int?
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
        engine.maxConcurrentStreams = maxConcurrentStreams
        // Requests on a shared engine bring their client's options with them.
        if sharedEngine == nil { engine.connection = settings.connection }
        engine.addressFilter = addressFilter
        return engine
    }
}

extension Client.Configuration {
    /// Makes the engine that this configuration describes, for a transport between the engine and a client. The engine is
    /// never the shared one: a client on a transport describes its requests without the configuration's connection
    /// options, so the engine must have them.
    package func makeEngine() -> any Transport {
        var own = self
        own.sharedEngine = nil
        return ReactorTransport(own)
    }
}

extension ReactorTransport {
    /// Makes the engine that a configuration describes. `pause` has the meaning of ``OptionsCache``'s `pause`.
    convenience init(_ configuration: Client.Configuration, pause: Int = OptionsCache.pause) {
        self.init(configuration.engine, pause: pause)
    }
}
