import Errand

extension ClientMetrics {
    /// What a ``ClientMetrics`` records. A value: any thread.
    public struct Options: Sendable, Hashable {
        /// The value of `errand.client.name`, a label of the metrics that a client has once: those of its engine,
        /// retries, hedges, breakers, budgets and limits. Give each client of a program a different name, because
        /// clients with the same name overwrite each other's meters. The statistics of a `SharedEngine` are recorded once,
        /// with the name of one of its clients. Empty by default, for a program with one client.
        public var clientName: String
        /// The maximum number of servers with series of their own, each with its methods and templates. It counts the
        /// sets of `http.request.method`, `server.address`, `server.port`, `url.scheme` and `url.template`. 1,000 by
        /// default, at least 1. The first sets get series, with all their statuses, errors and versions. Later sets
        /// have `_OTHER` as their `server.address` and `url.template`, and no port, so a client of arbitrary hosts
        /// cannot fill the memory. A set that was not used for 15 minutes gives its place to a set without one, and its
        /// series are destroyed. The same number limits the breakers, and the budgets, with series of their own.
        public var labelSetLimit: Int
        /// Whether an attribute without a value is left out, as in OpenTelemetry, instead of being an empty text. Set
        /// this for backends that send OTLP. False by default: swift-prometheus traps if the label sets of a metric
        /// have different names, and Prometheus treats an empty label as a missing one.
        public var omitsEmptyLabels: Bool
        /// The methods that `http.request.method` may have; any other is `_OTHER`. By default those of RFC 9110, PATCH and
        /// QUERY, or those that the environment variable `OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS` lists, separated by
        /// commas.
        public var knownMethods: Set<String>
        /// Whether `url.template` is among the labels, with the value of ``/Errand/Command/urlTemplate``. True by default:
        /// a command that has a template wants it there.
        public var includesURLTemplate: Bool
        /// Whether `url.scheme` is among the labels. False by default, as the conventions have it.
        public var includesScheme: Bool
        /// Whether `http.client.active_requests` is recorded. True by default.
        public var recordsActiveRequests: Bool
        /// Whether `http.client.request.body.size` and `http.client.response.body.size` are recorded: bytes on the wire,
        /// compressed where a content coding is used. False by default, as the conventions have it.
        public var recordsBodySizes: Bool
        /// The time between two calls of ``ClientMetrics/collect()`` by ``ClientMetrics/run()``; 10 seconds by default.
        public var interval: Duration

        /// Makes options; an argument that is left out has the default above.
        public init(
            clientName: String = "", labelSetLimit: Int = 1000, omitsEmptyLabels: Bool = false,
            knownMethods: Set<String>? = nil, includesURLTemplate: Bool = true, includesScheme: Bool = false,
            recordsActiveRequests: Bool = true, recordsBodySizes: Bool = false, interval: Duration = .seconds(10)
        ) {
            self.clientName = clientName
            self.labelSetLimit = labelSetLimit
            self.omitsEmptyLabels = omitsEmptyLabels
            self.knownMethods = knownMethods ?? HTTPConventions.knownMethods
            self.includesURLTemplate = includesURLTemplate
            self.includesScheme = includesScheme
            self.recordsActiveRequests = recordsActiveRequests
            self.recordsBodySizes = recordsBodySizes
            self.interval = interval
        }
    }
}
