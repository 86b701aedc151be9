public import ErrandConfigurationKeys

/// The effect of a change of the configuration on a client that follows it.
public enum ConfigurationReload: Sendable, Hashable {
    /// The values are right. `changed`: the keys whose new values apply to requests that are built from now on; empty
    /// if a wrong value was only taken back. `needingRestart`: all keys whose values differ from those that the client
    /// was made with. They apply to the next client that is made. If `baseURL` leaves the origin of endpoints that
    /// keys have set, `endpoints.source` is one of them: requests then go to the host of `baseURL` itself.
    case applied(changed: [ConfigurationKey], needingRestart: [ConfigurationKey])
    /// A value is wrong. The client keeps all of its settings.
    case refused(ConfigurationError)
}

extension ConfigurationReload: CustomStringConvertible {
    /// The names of the keys, and no values: `changed timeouts.total; needing a restart: engine.loops`.
    public var description: String {
        switch self {
        case .applied(let changed, let needingRestart):
            let restart = needingRestart.isEmpty ? "" : "; needing a restart: \(Self.names(needingRestart))"
            return "changed \(changed.isEmpty ? "nothing" : Self.names(changed))\(restart)"
        case .refused(let error): return "refused for \(Self.names(error.problems.map(\.key)))"
        }
    }

    private static func names(_ keys: [ConfigurationKey]) -> String { keys.map(\.name).joined(separator: ", ") }
}
