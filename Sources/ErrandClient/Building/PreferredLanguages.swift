import FoundationEssentials

/// The languages to ask for, in the form of ``Client/Settings/languages``.
public enum PreferredLanguages {
    /// The user's languages by the rules of GNU gettext: `LANGUAGE`, a list with colons, unless the locale is `C`; then
    /// the locale, which is the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set. `de_AT.UTF-8` gives `de-AT`.
    /// Empty if no usable variable is set. Each call reads the environment.
    public static func fromEnvironment() -> [String] {
        from(ProcessInfo.processInfo.environment)
    }

    /// The languages from the given variables.
    static func from(_ environment: [String: String]) -> [String] {
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let locale = value("LC_ALL") ?? value("LC_MESSAGES") ?? value("LANG") else { return [] }
        guard let main = tag(locale) else { return [] }
        let listed = (value("LANGUAGE") ?? "").split(separator: ":").compactMap { tag(String($0)) }
        var seen: Set<String> = []
        return (listed.isEmpty ? [main] : listed).filter { seen.insert($0).inserted }
    }

    /// The language tag of a locale; `nil` for the locales `C` and `POSIX`, and for text that is no language tag.
    private static func tag(_ locale: String) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        guard name != "C", name != "POSIX" else { return nil }
        let tag = String(name).replacing("_", with: "-")
        return isRange(tag) ? tag : nil
    }

    /// Whether the text is a language range of RFC 4647 2.1.
    package static func isRange(_ text: String) -> Bool {
        if text == "*" { return true }
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            guard (1...8).contains(part.count) else { return false }
            for byte in part {
                switch byte {
                case 0x41...0x5A, 0x61...0x7A: continue
                case 0x30...0x39 where index > 0: continue
                default: return false
                }
            }
        }
        return !parts.isEmpty
    }

    /// The value of the field, such as `de-AT;q=1, en;q=0.9`; `nil` for no languages.
    static func header(_ languages: [String]) throws(ErrandError) -> String? {
        var ranges: [String] = []
        for (index, language) in languages.prefix(6).enumerated() {
            guard isRange(language) else {
                throw ErrandError.invalidHeader.with(message: "\(language.debugDescription) is not a language tag")
            }
            ranges.append(index == 0 ? "\(language);q=1" : "\(language);q=0.\(10 - index)")
        }
        return ranges.isEmpty ? nil : ranges.joined(separator: ", ")
    }
}
