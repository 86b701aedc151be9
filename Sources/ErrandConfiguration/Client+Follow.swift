public import Configuration
public import Errand

extension Client {
    /// Applies changes of a configuration to the client, until the task is cancelled or the providers give no more
    /// updates. Settings that can change at run time apply to requests that are built from then on
    /// (``/Errand/Client/reconfigure(_:)``); which ones these are is `ConfigurationKey.appliesAtRunTime`. A snapshot
    /// with a wrong value changes nothing. The values of all other settings are only checked, and their files, such as
    /// `hsts.file`, are not read.
    ///
    /// ```swift
    /// let snapshot = reader.snapshot()
    /// let client = Client(configuration: try .init(snapshot: snapshot, over: base))
    /// try await client.follow(reader, from: snapshot, over: base) { reload in
    ///     logger.info("the configuration has changed", metadata: ["reload": "\(reload)"])
    /// }
    /// ```
    ///
    /// Only settings whose keys have changed are set. A setting that the program changes with
    /// ``/Errand/Client/reconfigure(_:)`` therefore stays until the configuration changes the same setting.
    ///
    /// Providers such as `ReloadingFileProvider` are services themselves and must run. In a `ServiceGroup` this method
    /// is called within `cancelWhenGracefulShutdown`.
    ///
    /// - Parameters:
    ///   - reader: The reader that the client's configuration was read from, with the same scope.
    ///   - snapshot: The snapshot that the client's configuration was read from. Changes since then are applied first.
    ///   - base: What the configuration was read over. A key that is removed gets its value from here.
    ///   - report: Called after each change, and when a refused snapshot is followed by a right one, in the task of this
    ///     method.
    ///
    /// Throws what the providers throw when updates are asked for.
    public func follow(
        _ reader: ConfigReader, from snapshot: ConfigSnapshotReader,
        over base: Client.Configuration = Client.Configuration(),
        report: @Sendable (ConfigurationReload) -> Void = { _ in }
    ) async throws {
        var follower = ConfigurationFollower(self, from: snapshot, over: base)
        try await reader.watchSnapshot { updates in
            for await update in updates {
                if let reload = follower.apply(update) { report(reload) }
            }
        }
    }
}
