extension ConfigurationKey {
    /// The values in words: `duration, 1ms to 30d, or none`.
    public var valuesText: String {
        let kindText: String =
            switch kind {
            case .text: "text"
            case .flag: "true or false"
            case .count: "whole number"
            case .number: "number"
            case .duration: "duration"
            case .bytes: "bytes"
            case .list: "list"
            case .fields: "header fields"
            case .choice(let words): words.joined(separator: ", ")
            }
        return ([kindText] + [boundsText].compactMap { $0 }).joined(separator: ", ") + (allowsNone ? ", or none" : "")
    }

    /// `1 to 64`; `nil`: no bounds.
    public var boundsText: String? {
        bounds.map { "\(text(of: $0.lowerBound)) to \(text(of: $0.upperBound))" }
    }

    private func text(of value: Double) -> String {
        switch kind {
        case .duration: Self.duration(value)
        case .bytes: Self.bytes(value)
        default: Self.number(value)
        }
    }

    /// In the largest unit that gives a whole number: 0.1 s is `100ms`.
    private static func duration(_ seconds: Double) -> String {
        let units: [(size: Double, name: String)] = [
            (86_400, "d"), (3600, "h"), (60, "m"), (1, "s"), (0.001, "ms"), (0.000_001, "us"),
        ]
        guard seconds > 0 else { return "0s" }
        for unit in units {
            let count = (seconds / unit.size).rounded()
            if count >= 1, abs(count * unit.size - seconds) < seconds / 1e6 { return number(count) + unit.name }
        }
        return "\(seconds)s"
    }

    private static func bytes(_ count: Double) -> String {
        for (power, name) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")] {
            let size = Double(1 << power)
            if count >= size, (count / size).rounded() == count / size { return number(count / size) + name }
        }
        return number(count)
    }

    /// Without `.0`.
    private static func number(_ value: Double) -> String {
        Int(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    /// The name of the variable that an `EnvironmentVariablesProvider` of swift-configuration reads: `HTTP_BASE_URL`
    /// for `baseURL` in the scope `http`.
    ///
    /// - Parameter scope: The scope of the reader, with dots; empty: none.
    public func environmentVariable(inScope scope: String = "") -> String {
        let components: [Substring] = scope.split(separator: ".") + name.split(separator: ".")
        return components.map { Self.variable($0) }.joined(separator: "_")
    }

    /// A word of a name in upper case. An underscore divides a lower-case letter from an upper-case one.
    private static func variable(_ component: Substring) -> String {
        var result = ""
        var isAfterLowercase = false
        for character in component {
            if isAfterLowercase, character.isUppercase { result += "_" }
            isAfterLowercase = character.isLowercase
            let upper = character.uppercased()
            result += character.isLetter || character.isNumber ? upper : "_"
        }
        return result
    }

    /// The names in `names` that begin with `scope` and are not in ``all``, such as mistyped keys. A reader cannot list
    /// the keys of its providers, so the program passes the names: those of a JSON file, with dots.
    public static func unknown(among names: some Sequence<String>, inScope scope: String) -> [String] {
        let known = Set(all.map(\.name))
        let prefix = scope.isEmpty ? "" : scope + "."
        return names.filter { $0.hasPrefix(prefix) && !known.contains(String($0.dropFirst(prefix.count))) }.sorted()
    }

    /// The same for variables of the environment, such as those of `ProcessInfo`: the names that begin with that of the
    /// scope and an underscore. A scope of its own for each client keeps other variables apart; with an empty scope all
    /// variables would be unknown, so the result is empty.
    public static func unknown(
        amongVariables names: some Sequence<String>, inScope scope: String
    ) -> [String] {
        guard !scope.isEmpty else { return [] }
        let known = Set(all.map { $0.environmentVariable(inScope: scope) })
        let prefix = scope.split(separator: ".").map { variable($0) }.joined(separator: "_") + "_"
        return names.filter { $0.hasPrefix(prefix) && !known.contains($0) }.sorted()
    }

    /// The keys as rows of a Markdown table, with a heading.
    package static var table: [String] {
        ["| key | values | default | applies | meaning |", "|---|---|---|---|---|"]
            + all.map { key in
                let values = key.valuesText + (key.isSecret ? "; secret" : "")
                let applies = key.appliesAtRunTime ? "at once" : "at the start"
                return "| `\(key.name)` | \(values) | \(key.defaultText) | \(applies) | \(key.meaning) |"
            }
    }
}
