/// A setting of a client that can be read from a configuration: its name, what its values are, and what it means.
///
/// ``all`` is the one table of the keys. The module ErrandConfiguration reads settings by this table, and the page
/// `docs/configuration.md` and `errand config --print-keys` show it.
///
/// A value: any thread.
public struct ConfigurationKey: Sendable, Hashable {
    /// The type of the values of a key.
    public enum Kind: Sendable, Hashable {
        /// Any text that is not empty.
        case text
        /// `true` or `false`, also `yes`, `no`, `on`, `off`, `1`, `0`.
        case flag
        /// A whole number.
        case count
        /// A number with a point.
        case number
        /// A number and a unit: `250ms`, `1.5s`, `1m`, `2h`, `1d`; `us` are microseconds.
        case duration
        /// A number of bytes, also with a unit: `4096`, `64KiB`, `10MiB`, `1GiB`.
        case bytes
        /// Texts: an array, or one text with commas.
        case list
        /// Header fields, `Name: value`: an array, or one field a line.
        case fields
        /// One of these words.
        case choice([String])
    }

    /// The name with dots, relative to the scope of the reader: `timeouts.connect`.
    public let name: String
    /// The type of the values.
    public let kind: Kind
    /// The smallest and the largest value: of a duration in seconds, of others in their own unit. `nil`: no bounds.
    public let bounds: ClosedRange<Double>?
    /// Whether the word `none` is a value.
    public let allowsNone: Bool
    /// The value that applies without the key, unless the program sets another one.
    public let defaultText: String
    /// One sentence.
    public let meaning: String
    /// Whether the value is hidden in reports of accesses and in errors.
    public let isSecret: Bool
    /// Whether a new value applies while the client runs. Otherwise a new value needs a new client.
    public package(set) var appliesAtRunTime = false

    package init(
        _ name: String, _ kind: Kind, _ defaultText: String, _ meaning: String, in bounds: ClosedRange<Double>? = nil,
        orNone: Bool = false, isSecret: Bool = false
    ) {
        self.name = name
        self.kind = kind
        self.bounds = bounds
        allowsNone = orNone
        self.defaultText = defaultText
        self.meaning = meaning
        self.isSecret = isSecret
    }

    /// All keys, by topic.
    public static let all: [ConfigurationKey] = [settings, start, resilience, protection, guards, endpoints].flatMap {
        $0
    }

    /// The keys that apply while the client runs.
    private static let settings: [ConfigurationKey] = atRunTime([requests, timesAndLimits, connections].flatMap { $0 })

    private static func atRunTime(_ keys: [ConfigurationKey]) -> [ConfigurationKey] {
        keys.map { key in
            var key = key
            key.appliesAtRunTime = true
            return key
        }
    }
}

extension ConfigurationKey: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
