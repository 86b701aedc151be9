import Synchronization

/// What interceptors know about the run that they stand in.
public struct InterceptionContext: Sendable {
    /// After so many replays of one run the last result stands.
    public static let replayLimit = 8

    /// ``AnyRequest/id``.
    public let requestID: UInt64
    /// What the request is for.
    public let command: any Command
    /// How often the request was sent again before.
    public let replays: Int
    /// Where interceptors keep what belongs to this run; the same through all of its replays.
    public let storage: Storage
    /// Where the last transfer went, which a redirect may have led elsewhere than what was prepared; `nil` before the
    /// first one.
    public internal(set) var lastURL: String?
    /// How requests without options of their own reach the server: the client's default.
    public internal(set) var connection = ConnectionOptions()
    /// What knows the client's origins. `nil`: there is no client.
    var builder: RequestBuilder?
    var overrides: RequestOverrides?

    /// Whether `url`, absolute, has the origin (scheme, host and port) of the client's ``Client/Settings/baseURL`` or
    /// ``Client/Settings/cdnURL`` or of the command's own: where ``Client/Settings/authorization`` goes. A command leads
    /// elsewhere by an absolute URL or a path such as `//host/x`, an URL filter too. Of a client that has neither base nor
    /// CDN every URL is.
    public func isOwnOrigin(_ url: String) -> Bool {
        guard let builder, builder.baseURL != nil || builder.cdnURL != nil else { return true }
        return builder.isOwn(url, of: command, overrides)
    }

    /// Values by type. Any thread.
    public final class Storage: Sendable {
        private let values = Mutex<[ObjectIdentifier: any Sendable]>([:])

        /// The value of that type, if one was set.
        public subscript<Value: Sendable>(type: Value.Type) -> Value? {
            get { values.withLock { $0[ObjectIdentifier(type)] } as? Value }
            set {
                let replaced = values.withLock { values in
                    let replaced = values.removeValue(forKey: ObjectIdentifier(type))
                    values[ObjectIdentifier(type)] = newValue
                    return replaced
                }
                // Dies here, not under the lock: its `deinit` may be the user's.
                _ = replaced
            }
        }
    }
}
