public import FoundationEssentials
public import HTTPTypes
import Synchronization

extension Client {
    /// The part of a ``Configuration`` that may change while the client runs, by ``Client/reconfigure(_:)``.
    public struct Settings: Sendable {
        /// What relative paths are joined to; a slash is added to its path where none ends it, and its query and fragment are
        /// dropped. `nil` or empty: every path must be absolute (YTKNetwork `baseUrl`).
        public var baseURL: String?
        /// What the relative paths of commands that ask for it are joined to, see ``Command/usesCDN`` (YTKNetwork
        /// `cdnUrl`). Default: `nil`.
        public var cdnURL: String?
        /// How paths are joined. Default: by RFC 3986.
        public var pathJoining = PathJoining.resolve
        /// Applied in order to the path of every command, each to what the one before made of it (YTKNetwork
        /// `urlFilters`). Default: none.
        public var urlFilters: [any URLFilter] = []
        /// Whether ``urlFilters`` see absolute URLs too. Default: no, as YTKNetwork.
        public var filtersAbsoluteURLs = false
        /// Fields of every request, unless the command has one of that name: for whatever host it is, so credentials are
        /// better off in ``authorization``. Default: none.
        public var headers = HTTPFields()
        /// `User-Agent`; `nil`: none is sent. Default: `errand/0.1`.
        public var userAgent: String? = "errand/0.1"
        /// `Accept-Language`, the preferred first: the first 6 are sent, with the weights 1, 0.9 ... 0.5 as AFNetworking
        /// does. Each is a language tag (RFC 5646) or `*`, or every request fails with ``ErrandError/invalidHeader``. Empty,
        /// the default: none is sent. See ``PreferredLanguages/fromEnvironment()``.
        public var languages: [String] = []
        /// For commands that bring none. Default: none.
        ///
        /// It is sent to the origins (scheme, host and port) of ``baseURL`` and ``cdnURL`` and of the command's own, and
        /// not to where a command leads by an absolute URL or a path such as `//host/x`, or an URL filter leads it; without
        /// ``baseURL`` and ``cdnURL``, and with ``authorizesAnyOrigin``, to every URL. A command's own authorization goes
        /// wherever the command does.
        public var authorization: Authorization?
        /// Whether ``authorization`` is sent to every URL. Default: no.
        public var authorizesAnyOrigin = false
        /// How parameters are written where ``Command/parameterEncoding`` names no style. Default: AFNetworking's rules.
        public var queryStyle = QueryStyle.afNetworking
        /// Encodes bodies of ``RequestBody/json(_:encoder:)`` that bring no encoder. Must not be changed once it is here.
        /// Default, `nil`: one with Foundation's own settings.
        public var jsonEncoder: JSONEncoder?
        /// For commands that bring none, and members that are `nil` in theirs. Default: the library's.
        public var timeouts = Timeouts()
        /// For commands that bring none, and members that are `nil` in theirs. Default: the library's.
        public var limits = Limits()
        /// Beside those of every command; ``RequestOverrides/Members/options`` replace both. Not
        /// ``CommandOptions/coalesced``, which is passed over here: only who knows a request can say that it may be shared.
        /// Default: none.
        public var options: CommandOptions = []
        /// For commands that bring none, and members that are `nil` in theirs. Default: the library's.
        public var connection = ConnectionOptions()
        /// TLS settings by host, in place of the TLS settings of ``connection``. Default: none.
        public var tlsPolicies = TLSPolicies()
        /// For commands that bring none. Default: at most 10 redirects.
        public var redirects = RedirectPolicy.follow

        /// For commands that bring none. Default: ``CachePolicy/off``.
        public var cache = CachePolicy.off

        /// For commands that say ``StatusCodes/inherited``. Default: 200...299 (AFNetworking's `responseSerializer` of a
        /// manager).
        public var acceptedStatusCodes = StatusCodes.successful
        /// For commands that say ``ContentTypes/inherited``. Default: any.
        public var acceptedContentTypes = ContentTypes.any
        /// For commands that bring none. Must not be changed once it is here. Default, `nil`: one with Foundation's own settings.
        public var jsonDecoder: JSONDecoder?

        /// Makes settings that have every default.
        public init() {}
    }

    /// What the client's requests are built by at present.
    public var settings: Settings { builder.settings }

    /// Changes the settings for requests that are built from now on; those under way go on by what they were built by,
    /// but a redirect takes the TLS policies and the redirect policy of the moment it is followed.
    ///
    /// Files that ``ConnectionOptions`` name (CA, certificate, key) are looked at again, also where their paths are the
    /// same: what was replaced counts for new connections from here on. Without that it is seen within a minute.
    ///
    /// Any thread. Changes of several threads are made one after the other; `change` runs once, outside any lock that
    /// requests take, and must not call `reconfigure`. What it throws leaves everything as it was. What makes no usable
    /// request, such as a malformed base URL, fails each request that needs it, as with the configuration.
    public func reconfigure<Failure: Error>(
        _ change: (inout Settings) throws(Failure) -> Void
    ) throws(Failure) {
        try reconfiguring.withLock { _ throws(Failure) in
            let present = builder
            var settings = present.settings
            try change(&settings)
            let next = RequestBuilder(settings, engine: present.engine)
            let replaced = building.withLock { building in
                let replaced = building
                building = next
                return replaced
            }
            // Dies here, not under the lock: filters of the user's may go with it.
            _ = replaced
            cachesByDefault.store(!settings.cache.isOff, ordering: .relaxed)
            transport.filesMayHaveChanged()
        }
    }
}
