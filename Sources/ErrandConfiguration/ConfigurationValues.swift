import Configuration
import ErrandConfigurationKeys

/// The values of all keys, converted on demand. Notes every wrong value, and goes on as if it were not set, so that the
/// error names all of them.
final class ConfigurationValues {
    /// What is set, by the names of the keys.
    private(set) var texts: [String: ConfigurationText] = [:]
    /// The keys that were asked for, set or not; for tests.
    private(set) var asked: Set<String> = []
    private var reasons: [String: String] = [:]
    /// Whether a client is made of the values. Otherwise values that apply only at the start are merely checked, and
    /// files of such settings are not read.
    let startsClient: Bool

    private static let keys = Dictionary(
        ConfigurationKey.all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    init(_ snapshot: ConfigSnapshotReader, startsClient: Bool = true) {
        self.startsClient = startsClient
        let source = ConfigurationSource(snapshot)
        for key in ConfigurationKey.all {
            switch source.read(key) {
            case .nothing: break
            case .text(let text): texts[key.name] = text
            case .unreadable(let reason): reasons[key.name] = reason
            }
        }
        if let failure = source.failure, let first = ConfigurationKey.all.first {
            reasons[first.name] = "the providers cannot be read: \(failure)"
        }
    }

    /// `nil`: all values that were asked for are right.
    var error: ConfigurationError? {
        let problems = ConfigurationKey.all.compactMap { key in
            reasons[key.name].map { ConfigurationError.Problem(key: key, reason: $0) }
        }
        return problems.isEmpty ? nil : ConfigurationError(problems: problems)
    }

    /// Notes a wrong value. The first reason of a key stays.
    func fail(_ name: String, _ reason: String) {
        if reasons[name] == nil { reasons[name] = reason }
    }

    /// Notes the keys that are set and have no effect.
    func refuse(_ names: [String], _ reason: String) {
        for name in names where texts[name] != nil { fail(name, reason) }
    }

    /// The same for all keys of a part.
    func refuse(part: String, _ reason: String) {
        refuse(texts.keys.filter { $0.hasPrefix(part + ".") }, reason)
    }

    func isSet(_ name: String) -> Bool {
        asked.insert(name)
        return texts[name] != nil
    }

    /// Whether a key of this part is set.
    func hasPart(_ part: String) -> Bool {
        texts.keys.contains { $0.hasPrefix(part + ".") }
    }

    /// Whether a part is on. Its key `enabled` decides. Without this key, the part is on if the program has set it, or
    /// if a key of it is set.
    func isOn(_ part: String, by base: Bool) -> Bool {
        flag(part + ".enabled").or(base || hasPart(part))
    }

    // MARK: One value

    func text(_ name: String) -> Given<String> {
        // Blanks stay: they may be a part of a password.
        one(name) {
            $0
        } refusal: { _ in
            ""
        }
    }

    func flag(_ name: String) -> Given<Bool> {
        one(name, ConfigurationText.flag) { "\($0) is neither true nor false" }
    }

    func count(_ name: String) -> Given<Int> {
        bounded(name, ConfigurationText.count, by: { Double($0) }) { "\($0) is not a whole number" }
    }

    func number(_ name: String) -> Given<Double> {
        bounded(name, ConfigurationText.number, by: { $0 }) { "\($0) is not a number" }
    }

    func bytes(_ name: String) -> Given<Int> {
        bounded(name, ConfigurationText.bytes, by: { Double($0) }) {
            "\($0) is not a number of bytes such as 4096, 64KiB or 10MiB"
        }
    }

    func duration(_ name: String) -> Given<Duration> {
        bounded(name, ConfigurationText.duration, by: { $0.seconds }) {
            "\($0) is not a duration such as 250ms, 1.5s or 1m"
        }
    }

    /// A duration that counts in whole seconds.
    func seconds(_ name: String) -> Given<UInt32> {
        guard case .value(let time) = duration(name) else { return duration(name).map { _ in 0 } }
        guard let seconds = UInt32(exactly: time.seconds) else {
            fail(name, "\(shown(name)) is not a whole number of seconds")
            return .absent
        }
        return .value(seconds)
    }

    func choice<Value>(_ name: String, _ words: KeyValuePairs<String, Value>) -> Given<Value> {
        one(name) { text in
            words.first { $0.key == text }?.value
        } refusal: { text in
            "\(text) is none of \(words.map(\.key).joined(separator: ", "))"
        }
    }

    /// - Parameters:
    ///   - convert: `nil`: the text is no value.
    ///   - refusal: the reason, from the text as it may be shown.
    private func one<Value>(
        _ name: String, _ convert: (String) -> Value?, refusal: (String) -> String
    ) -> Given<Value> {
        guard let entry = self.entry(of: name) else { return .absent }
        guard case .text(let whole) = entry.text else {
            fail(name, "is a list, expected one value")
            return .absent
        }
        let word = entry.key.kind == .text ? whole : ConfigurationText.trimmed(whole[...])
        guard !word.isEmpty else {
            fail(name, "is empty")
            return .absent
        }
        if entry.key.allowsNone, word == "none" { return .none }
        guard let value = convert(word) else {
            fail(name, refusal(shown(name)))
            return .absent
        }
        return .value(value)
    }

    private func bounded<Value>(
        _ name: String, _ convert: (String) -> Value?, by size: (Value) -> Double, refusal: (String) -> String
    ) -> Given<Value> {
        let given = one(name, convert, refusal: refusal)
        guard case .value(let value) = given, let key = Self.keys[name], let bounds = key.bounds,
            !bounds.contains(size(value))
        else { return given }
        fail(name, "\(shown(name)) is not within \(key.boundsText ?? "the bounds")")
        return .absent
    }

    func isSecret(_ name: String) -> Bool { Self.keys[name]?.isSecret ?? true }

    /// The value for an error's message.
    func shown(_ name: String) -> String {
        guard let key = Self.keys[name], !key.isSecret, case .text(let text)? = texts[name] else { return "the value" }
        return "'\(text)'"
    }

    private func entry(of name: String) -> (key: ConfigurationKey, text: ConfigurationText)? {
        asked.insert(name)
        guard let key = Self.keys[name], let text = texts[name] else { return nil }
        return (key, text)
    }

    // MARK: Several values

    /// An array, or a text with commas. An empty list and an empty element are wrong: a variable that is set to nothing
    /// by mistake would otherwise remove pins or rules. An empty list is written as `none`.
    func list(_ name: String) -> Given<[String]> {
        guard let entry = self.entry(of: name) else { return .absent }
        let items: [String]
        switch entry.text {
        case .text(let text):
            // A text of several lines often ends in an empty one.
            items =
                entry.key.kind == .fields
                ? ConfigurationText.parts(text, separator: "\n").filter { !$0.isEmpty }
                : ConfigurationText.parts(text, separator: ",")
        case .list(let texts):
            items = texts.map { ConfigurationText.trimmed($0[...]) }
        }
        guard items.contains(where: { !$0.isEmpty }) else {
            fail(name, "is empty" + (entry.key.allowsNone ? "; the word none stands for an empty list" : ""))
            return .absent
        }
        guard !items.contains("") else {
            fail(name, "has an empty element")
            return .absent
        }
        guard entry.key.allowsNone, items.contains("none") else { return .value(items) }
        guard items.count == 1 else {
            fail(name, "has the word none beside other elements")
            return .absent
        }
        return .none
    }

    /// A list whose elements are converted. The error names the element that cannot be converted.
    ///
    /// - Parameters:
    ///   - convert: `nil`: the text is no value.
    ///   - expected: What a value is: `an integer`.
    func list<Value>(_ name: String, of expected: String, _ convert: (String) -> Value?) -> Given<[Value]> {
        guard case .value(let items) = list(name) else { return list(name).map { _ in [] } }
        var values: [Value] = []
        for item in items {
            guard let value = convert(item) else {
                fail(name, "\(isSecret(name) ? "an element" : "'\(item)'") is not \(expected)")
                return .absent
            }
            values.append(value)
        }
        return .value(values)
    }
}

extension Duration {
    /// Seconds as a number, exact enough for a comparison with a bound.
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
