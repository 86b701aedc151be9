import Configuration
import ErrandConfigurationKeys

/// Reads the text of a key from a snapshot of swift-configuration.
struct ConfigurationSource {
    enum Found {
        case nothing
        case text(ConfigurationText)
        /// There is a value, but it cannot be converted to text.
        case unreadable(String)
    }

    private let snapshot: ConfigSnapshotReader
    /// What the error for a missing value says, without the key's name. The type of that error is not public, and the
    /// methods that throw no error do not distinguish a missing value from one of another type.
    private let absence: String?
    /// Why the providers cannot be read: they fail for a key that nobody sets. `nil`: they can.
    let failure: String?

    /// A name that nobody uses.
    private static let missing = "errandKeyThatIsNeverSet"

    init(_ snapshot: ConfigSnapshotReader) {
        self.snapshot = snapshot
        do {
            _ = try snapshot.requiredString(forKey: ConfigKey([Self.missing]))
            absence = nil
            failure = nil
        } catch {
            let message = Self.message(of: error, without: Self.missing)
            let isAbsence = message.hasPrefix("Missing required config value")
            absence = isAbsence ? message : nil
            failure = isAbsence ? nil : "\(error)"
        }
    }

    /// The last occurrence of the name is left out: the scope may contain the same word.
    private static func message(of error: any Error, without name: String) -> String {
        var message = "\(error)"
        if let range = message.ranges(of: name).last { message.removeSubrange(range) }
        return message
    }

    func read(_ key: ConfigurationKey) -> Found {
        let name = ConfigKey(key.name)
        do {
            return .text(.text(try snapshot.requiredString(forKey: name, isSecret: key.isSecret)))
        } catch {
            let message = Self.message(of: error, without: key.name)
            if message == absence { return .nothing }
            if let other = otherType(name, key) { return .text(other) }
            // Reported once, and not for every key.
            guard failure == nil else { return .nothing }
            return .unreadable(key.isSecret ? "the value has no text" : "the value has no text: \(error)")
        }
    }

    /// The value if it is no text, as in JSON: `5`, `true`, `["a", "b"]`.
    private func otherType(_ name: ConfigKey, _ key: ConfigurationKey) -> ConfigurationText? {
        let isSecret = key.isSecret
        // A JSON file has one type for numbers and for booleans, and each is converted to the other: a boolean is 1 or 0
        // here, and 5 is no boolean.
        if let value = snapshot.int(forKey: name, isSecret: isSecret) { return .text("\(value)") }
        if let value = snapshot.double(forKey: name, isSecret: isSecret) { return .text("\(value)") }
        if let value = snapshot.bool(forKey: name, isSecret: isSecret) { return .text("\(value)") }
        if let list = snapshot.stringArray(forKey: name, isSecret: isSecret) { return .list(list) }
        if let list = snapshot.intArray(forKey: name, isSecret: isSecret) { return .list(list.map { "\($0)" }) }
        if let list = snapshot.doubleArray(forKey: name, isSecret: isSecret) { return .list(list.map { "\($0)" }) }
        return nil
    }
}
