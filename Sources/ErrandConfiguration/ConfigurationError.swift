public import ErrandConfigurationKeys

/// The values of a configuration that are wrong, all of them.
///
/// swift-configuration silently gives the default for a value that it cannot convert. Errand reads texts and converts
/// them itself, so that `timeouts.connect=5x` shows when a service starts, and not in its first outage.
public struct ConfigurationError: Error, Sendable, Hashable {
    /// One wrong value.
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// The key of the value.
        public let key: ConfigurationKey
        /// What is wrong with the value. The value itself is part of the text, unless it is secret.
        public let reason: String

        /// `timeouts.connect: '5x' is not a duration such as 250ms, 1.5s or 1m`.
        public var description: String { "\(key.name): \(reason)" }
    }

    /// At least one, in the order of the table of keys.
    public let problems: [Problem]
}

extension ConfigurationError: CustomStringConvertible {
    /// All problems on one line.
    public var description: String { problems.map(\.description).joined(separator: "; ") }
}
