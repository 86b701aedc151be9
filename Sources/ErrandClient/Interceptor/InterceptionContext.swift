import Synchronization

/// What interceptors know about the run that they are called for.
public struct InterceptionContext: Sendable {
    /// The maximum number of replays in one run. After that the last result stands.
    public static let replayLimit = 8

    /// The request's ``AnyRequest/id``.
    public let requestID: UInt64
    /// The command of the request.
    public let command: any Command
    /// The number of replays of this run so far.
    public let replays: Int
    /// Values that interceptors keep for this run; the same storage through all replays.
    public let storage: Storage
    /// The URL of the last transfer, after redirects; it may differ from the prepared URL. `nil` before the first
    /// transfer.
    public internal(set) var lastURL: String?
    /// The connection options of requests without options of their own: the client's default.
    public internal(set) var connection = ConnectionOptions()
    /// The builder that knows the client's origins. `nil`: there is no client.
    var builder: RequestBuilder?
    var overrides: RequestOverrides?

    /// Whether `url`, an absolute URL, has the origin (scheme, host and port) of the client's
    /// ``Client/Settings/baseURL`` or ``Client/Settings/cdnURL``, or of the command's own. By default
    /// ``Client/Settings/authorization`` is sent only to these origins.
    ///
    /// A command leads to another origin by an absolute URL or a path such as `//host/x`; a URL filter can do so too.
    /// For a client that has neither a base URL nor a CDN URL, the result is true for every URL.
    public func isOwnOrigin(_ url: String) -> Bool {
        guard let builder, builder.baseURL != nil || builder.cdnURL != nil else { return true }
        return builder.isOwn(url, of: command, overrides)
    }

    /// Values stored by their type. May be used from any thread.
    public final class Storage: Sendable {
        private let values = Mutex<[ObjectIdentifier: any Sendable]>([:])

        /// The value of that type; `nil` if none was set.
        public subscript<Value: Sendable>(type: Value.Type) -> Value? {
            get { values.withLock { $0[ObjectIdentifier(type)] } as? Value }
            set {
                let replaced = values.withLock { values in
                    let replaced = values.removeValue(forKey: ObjectIdentifier(type))
                    values[ObjectIdentifier(type)] = newValue
                    return replaced
                }
                // The old value is released here, not under the lock: its `deinit` may be the user's.
                _ = replaced
            }
        }
    }
}
