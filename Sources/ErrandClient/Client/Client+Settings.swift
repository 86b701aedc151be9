public import FoundationEssentials
public import HTTPTypes
import Synchronization

extension Client {
    /// The part of a ``Configuration`` that ``Client/reconfigure(_:)`` can change while the client runs.
    public struct Settings: Sendable {
        /// The URL that relative paths are joined to. A slash is added if its path does not end with one; its query and
        /// fragment are dropped. `nil`, the default: every path must be absolute. If the text is no URL (for example an
        /// empty text), every request fails with ``ErrandError/invalidURL`` (YTKNetwork `baseUrl`, where an empty text
        /// means none).
        public var baseURL: String?
        /// The URL that relative paths are joined to if the command asks for it, see ``Command/usesCDN`` (YTKNetwork
        /// `cdnUrl`). With a text that is no URL, every request fails, as with ``baseURL``. Default: `nil`.
        public var cdnURL: String?
        /// How paths are joined. Default: by RFC 3986.
        public var pathJoining = PathJoining.resolve
        /// Filters that are applied in order to the path of every command; each one gets the result of the previous one
        /// (YTKNetwork `urlFilters`). Default: none.
        public var urlFilters: [any URLFilter] = []
        /// Whether ``urlFilters`` are applied to absolute URLs too. Default: no, as in YTKNetwork.
        public var filtersAbsoluteURLs = false
        /// Header fields of every request, unless the command has a field of the same name. They are sent to every
        /// host; use ``authorization`` for credentials. Default: none.
        public var headers = HTTPFields()
        /// The `User-Agent` field; `nil`: none is sent. Default: `errand/0.1`.
        public var userAgent: String? = "errand/0.1"
        /// The languages of the `Accept-Language` field, in order of preference. The first 6 are sent, with the weights
        /// 1, 0.9 ... 0.5 as AFNetworking does. Each one must be a language tag (RFC 5646) or `*`; otherwise every
        /// request fails with ``ErrandError/invalidHeader``. Empty (the default): none is sent. See
        /// ``PreferredLanguages/fromEnvironment()``.
        public var languages: [String] = []
        /// The credentials of commands that have none. Default: none.
        ///
        /// They are sent to the origins (scheme, host and port) of ``baseURL``, of ``cdnURL`` and of the command's own
        /// base and CDN URL. They are not sent to another origin that an absolute URL, a path such as `//host/x` or a
        /// URL filter leads to. They are sent to every URL if there is neither ``baseURL`` nor ``cdnURL``, or with
        /// ``authorizesAnyOrigin``. A command's own authorization is sent wherever the command leads.
        public var authorization: Authorization?
        /// Whether ``authorization`` is sent to every URL. Default: no.
        public var authorizesAnyOrigin = false
        /// How parameters are written if ``Command/parameterEncoding`` names no style. Default: AFNetworking's rules.
        public var queryStyle = QueryStyle.afNetworking
        /// The encoder for bodies of ``RequestBody/json(_:encoder:)`` without an encoder. It must not be changed after
        /// it is set here. `nil` (the default): an encoder with Foundation's own settings.
        public var jsonEncoder: JSONEncoder?
        /// The timeouts of commands that have none. They also replace the `nil` members of a command's timeouts. Default:
        /// the library's.
        public var timeouts = Timeouts()
        /// The limits of commands that have none. They also replace the `nil` members of a command's limits. Default: the
        /// library's.
        public var limits = Limits()
        /// Options in addition to those of every command; ``RequestOverrides/Members/options`` replaces both. The
        /// option ``CommandOptions/coalesced`` is ignored here: only the author of a command knows whether the request
        /// may be shared. Default: none.
        public var options: CommandOptions = []
        /// The connection options of commands that have none. They also replace the `nil` members of a command's options.
        /// Default: the library's.
        public var connection = ConnectionOptions()
        /// TLS settings by host; they replace the TLS settings of ``connection``. Default: none.
        public var tlsPolicies = TLSPolicies()
        /// The redirect policy of commands that have none. Default: at most 10 redirects.
        public var redirects = RedirectPolicy.follow

        /// The cache policy of commands that have none. Default: ``CachePolicy/off``.
        public var cache = CachePolicy.off

        /// The accepted statuses of commands with ``StatusCodes/inherited``. Default: 200...299 (AFNetworking's
        /// `responseSerializer` of a manager).
        public var acceptedStatusCodes = StatusCodes.successful
        /// The accepted content types of commands with ``ContentTypes/inherited``. Default: any.
        public var acceptedContentTypes = ContentTypes.any
        /// The decoder of commands that have none. It must not be changed after it is set here. `nil` (the default): a
        /// decoder with Foundation's own settings.
        public var jsonDecoder: JSONDecoder?

        /// Makes settings with all defaults.
        public init() {}
    }

    /// The settings that new requests are built with at present.
    public var settings: Settings { builder.settings }

    /// Changes the settings for requests that are built from now on. Running requests keep the settings that they were
    /// built with, with one exception: a redirect uses the TLS policies and the redirect policy that are set when it is
    /// followed.
    ///
    /// The client checks again the files that ``ConnectionOptions`` name (CA, certificate, key), even if their paths
    /// are the same: a replaced file applies to new connections from then on. Without a call of this method the client
    /// notices a replaced file within a minute.
    ///
    /// May be called from any thread. Concurrent changes are made one after the other. `change` runs once, outside any
    /// lock that requests take, and must not call `reconfigure`. If `change` throws, the settings stay as they were.
    /// Unusable settings, such as a malformed base URL, fail each request that needs them, as they do in the
    /// configuration.
    public func reconfigure<Failure: Error>(
        _ change: (inout Settings) throws(Failure) -> Void
    ) throws(Failure) {
        try reconfiguring.withLock { _ throws(Failure) in
            let present = builder
            var settings = present.settings
            try change(&settings)
            let next = RequestBuilder(settings, engine: present.engine, upgrade: present.upgrade)
            let replaced = building.withLock { building in
                let replaced = building
                building = next
                return replaced
            }
            // The old builder is released here, not under the lock: that may release the user's filters.
            _ = replaced
            cachesByDefault.store(!settings.cache.isOff, ordering: .relaxed)
            transport.filesMayHaveChanged()
        }
    }
}
