import HTTPTypes

/// The cookies of `Cookie` and `Set-Cookie` fields, as the format lists them beside the fields. A field whose value was
/// redacted gives no cookies.
enum HARCookies {
    static func sent(_ headers: HTTPFields) -> [HARValue] {
        headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair(trimmed($0)) }
            .map { HARValue.pair($0.name, $0.value) }
    }

    static func received(_ headers: HTTPFields) -> [HARValue] {
        headers[values: .setCookie].compactMap { stored($0) }
    }

    private static func stored(_ field: String) -> HARValue? {
        let parts = field.split(separator: ";").map { trimmed($0) }
        guard let first = parts.first, let cookie = pair(first) else { return nil }
        var members: [(key: String, value: HARValue)] = [
            ("name", .string(cookie.name)), ("value", .string(cookie.value)),
        ]
        for part in parts.dropFirst() {
            let name = part.prefix { $0 != "=" }
            let value = String(part.dropFirst(name.count + 1))
            switch name.lowercased() {
            case "path": members.append(("path", .string(value)))
            case "domain": members.append(("domain", .string(value)))
            case "httponly": members.append(("httpOnly", .literal("true")))
            case "secure": members.append(("secure", .literal("true")))
            default: break
            }
        }
        return .object(members)
    }

    private static func pair(_ text: Substring) -> (name: String, value: String)? {
        guard let mark = text.firstIndex(of: "=") else { return nil }
        return (String(text[..<mark]), String(text[text.index(after: mark)...]))
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
