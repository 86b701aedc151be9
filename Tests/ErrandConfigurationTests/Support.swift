import Configuration
import Errand
import ErrandConfiguration
import Foundation

extension AbsoluteConfigKey {
    /// `timeouts.connect`
    init(named name: String) { self.init(ConfigKey(name)) }
}

extension ConfigReader {
    /// A reader of these texts, by the names of keys.
    static func of(_ texts: [String: String]) -> ConfigReader {
        let values = texts.map { (AbsoluteConfigKey(named: $0), ConfigValue(.string($1), isSecret: false)) }
        return ConfigReader(provider: InMemoryProvider(values: Dictionary(uniqueKeysWithValues: values)))
    }
}

extension FileProvider<JSONSnapshot> {
    /// A file with this text, which is read once.
    static func of(_ text: String) async throws -> FileProvider<JSONSnapshot> {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("errand-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: path) }
        try text.write(to: path, atomically: true, encoding: .utf8)
        let place = InMemoryProvider(values: ["filePath": ConfigValue(.string(path.path), isSecret: false)])
        return try await FileProvider<JSONSnapshot>(config: ConfigReader(provider: place))
    }
}

/// Fails for every key.
struct BrokenProvider: ConfigProvider, ConfigSnapshot {
    struct Failure: Error {}

    let providerName = "broken"

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult { throw Failure() }

    typealias Updates = ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
    typealias Snapshots = ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>

    nonisolated(nonsending) func fetchValue(
        forKey key: AbsoluteConfigKey, type: ConfigType
    ) async throws -> LookupResult { throw Failure() }

    nonisolated(nonsending) func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler: nonisolated(nonsending) (Updates) async throws -> Return
    ) async throws -> Return { throw Failure() }

    func snapshot() -> any ConfigSnapshot { self }

    nonisolated(nonsending) func watchSnapshot<Return: ~Copyable>(
        updatesHandler: nonisolated(nonsending) (Snapshots) async throws -> Return
    ) async throws -> Return { throw Failure() }
}

extension Client.Configuration {
    static func of(
        _ texts: [String: String], over base: Client.Configuration = Client.Configuration()
    ) throws(ConfigurationError) -> Client.Configuration {
        try Client.Configuration(reader: .of(texts), over: base)
    }
}

/// What is wrong with these texts, by the names of keys.
func problems(of texts: [String: String]) -> [String: String] {
    do throws(ConfigurationError) {
        _ = try Client.Configuration.of(texts)
        return [:]
    } catch {
        return Dictionary(error.problems.map { ($0.key.name, $0.reason) }, uniquingKeysWith: { first, _ in first })
    }
}
