public import Configuration
public import Errand

extension Client.Configuration {
    /// Reads a configuration from the present values of a reader, by the keys of `ConfigurationKey.all`.
    ///
    /// ```swift
    /// let reader = ConfigReader(provider: EnvironmentVariablesProvider())
    /// let configuration = try Client.Configuration(reader: reader.scoped(to: "users"))  // USERS_BASE_URL ...
    /// ```
    ///
    /// - Parameters:
    ///   - reader: The reader, scoped to the place of the keys. All keys are read from one snapshot of it.
    ///   - base: The values for keys that are not set: the program's own defaults, accessories, interceptors, closures.
    ///
    /// Throws ``ConfigurationError``, which names all wrong values. Keys of a provider that are not in the table are
    /// ignored, because a reader does not list the keys of its providers; see
    /// `ConfigurationKey.unknown(among:inScope:)`. A provider that fails is an error, which is reported at the first
    /// key.
    public init(
        reader: ConfigReader, over base: Client.Configuration = Client.Configuration()
    ) throws(ConfigurationError) {
        try self.init(snapshot: reader.snapshot(), over: base)
    }

    /// The same from a snapshot, for programs that read several configurations from one state, or that follow changes
    /// (`Client.follow(_:from:over:report:)`).
    public init(
        snapshot: ConfigSnapshotReader, over base: Client.Configuration = Client.Configuration()
    ) throws(ConfigurationError) {
        self = try Self.read(ConfigurationValues(snapshot), over: base)
    }

    static func read(
        _ values: ConfigurationValues, over base: Client.Configuration
    ) throws(ConfigurationError) -> Client.Configuration {
        var configuration = base
        values.readRequests(&configuration.settings)
        values.readTimesAndLimits(&configuration.settings)
        values.readConnection(&configuration.settings.connection)
        values.readStart(&configuration)
        values.readResilience(&configuration)
        values.readGuards(&configuration)
        values.readEndpoints(&configuration)
        if let error = values.error { throw error }
        return configuration
    }
}
