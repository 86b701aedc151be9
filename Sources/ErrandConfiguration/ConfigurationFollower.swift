import Configuration
import Errand
import ErrandConfigurationKeys

/// Compares each snapshot with the one before, and applies the difference to a client.
struct ConfigurationFollower {
    private let client: Client
    private let base: Client.Configuration
    /// What was set when the client was made.
    private let started: [String: ConfigurationText]
    /// What was set in the last snapshot without a wrong value.
    private var texts: [String: ConfigurationText]
    private var lastError: ConfigurationError?

    init(_ client: Client, from snapshot: ConfigSnapshotReader, over base: Client.Configuration) {
        self.client = client
        self.base = base
        let texts = ConfigurationValues(snapshot, startsClient: false).texts
        self.texts = texts
        started = texts
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
        let needingRestart = ConfigurationKey.all.filter {
            !$0.appliesAtRunTime && values.texts[$0.name] != started[$0.name]
        }
        return .applied(changed: changed.filter { $0.appliesAtRunTime }, needingRestart: needingRestart)
    }
}
