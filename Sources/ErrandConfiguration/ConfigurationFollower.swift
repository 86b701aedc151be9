import Configuration
import Errand
import ErrandConfigurationKeys

/// Compares each snapshot with the one before, and applies the difference to a client.
struct ConfigurationFollower {
    private let client: Client
    private let base: Client.Configuration
    /// What was set when the client was made.
    private let started: [String: ConfigurationText]
    /// The origins that the client's endpoints stand for, in the order of the endpoints. A client keeps its endpoints,
    /// and has none for other origins.
    private let startedOrigins: [String]
    /// What was set in the last snapshot without a wrong value.
    private var texts: [String: ConfigurationText]
    private var lastError: ConfigurationError?

    init(_ client: Client, from snapshot: ConfigSnapshotReader, over base: Client.Configuration) {
        self.client = client
        self.base = base
        let values = ConfigurationValues(snapshot, startsClient: false)
        texts = values.texts
        started = values.texts
        startedOrigins = (try? Client.Configuration.read(values, over: base))?.endpoints.map(\.origin) ?? []
    }

    /// `nil`: there is nothing to report.
    mutating func apply(_ snapshot: ConfigSnapshotReader) -> ConfigurationReload? {
        let values = ConfigurationValues(snapshot, startsClient: false)
        let next: Client.Configuration
        do throws(ConfigurationError) {
            next = try Client.Configuration.read(values, over: base)
        } catch {
            // Other values of the snapshot may change while the wrong value stays, which is reported once.
            guard error != lastError else { return nil }
            lastError = error
            return .refused(error)
        }
        let wasRefused = lastError != nil
        lastError = nil
        let changed = ConfigurationKey.all.filter { values.texts[$0.name] != texts[$0.name] }
        guard wasRefused || !changed.isEmpty else { return nil }
        texts = values.texts
        let fields = SettingsField.all.filter { field in changed.contains { field.isRead(from: $0.name) } }
        if !fields.isEmpty {
            client.reconfigure { settings in
                for field in fields { field.copy(next.settings, &settings) }
            }
        }
        // The endpoints of the keys stand for the origin of `baseURL`, which may have changed without them.
        let hasMoved = next.endpoints.map(\.origin) != startedOrigins
        let needingRestart = ConfigurationKey.all.filter {
            !$0.appliesAtRunTime && values.texts[$0.name] != started[$0.name]
                || hasMoved && $0.name == "endpoints.source"
        }
        return .applied(changed: changed.filter { $0.appliesAtRunTime }, needingRestart: needingRestart)
    }
}
