import FoundationEssentials

/// Finds damage in an entry. Exporters leave members out, write `null`, and write numbers as text; none of this is damage.
/// A member of another type would be read as if it were missing, and replayed as something that was never recorded.
enum HARShape {
    private enum Kind: String {
        case object
        case list
        case objects = "list of objects"
        case text
        case number
        case integer = "whole number"

        func fits(_ value: JSONValue) -> Bool {
            switch self {
            case .object: value.object != nil
            case .list: value.array != nil
            case .objects: value.array?.allSatisfy { $0.object != nil } ?? false
            case .text: value.string != nil
            case .number: value.lenientNumber != nil || value.string?.isEmpty == true
            case .integer: value.lenientInteger != nil
            }
        }
    }

    /// Each member comes after those that contain it.
    private static let members: [(path: [String], kind: Kind)] = [
        (["startedDateTime"], .text), (["time"], .number), (["timings"], .object),
        (["timings", "blocked"], .number), (["timings", "dns"], .number), (["timings", "connect"], .number),
        (["timings", "ssl"], .number), (["timings", "send"], .number), (["timings", "wait"], .number),
        (["timings", "receive"], .number),
        (["request"], .object), (["request", "method"], .text), (["request", "url"], .text),
        (["request", "httpVersion"], .text), (["request", "headers"], .objects),
        (["request", "postData"], .object), (["request", "postData", "mimeType"], .text),
        (["request", "postData", "text"], .text), (["request", "postData", "params"], .objects),
        (["response"], .object), (["response", "status"], .number), (["response", "statusText"], .text),
        (["response", "httpVersion"], .text), (["response", "headers"], .objects),
        (["response", "content"], .object), (["response", "content", "mimeType"], .text),
        (["response", "content", "text"], .text), (["response", "content", "encoding"], .text),
        (["request", "postData", "encoding"], .text), (["request", "postData", "_encoding"], .text),
        ([HARMark.name], .object), ([HARMark.name, "error"], .object), ([HARMark.name, "error", "kind"], .text),
        ([HARMark.name, "error", "message"], .text), ([HARMark.name, "error", "curlCode"], .integer),
        ([HARMark.name, "error", "errno"], .integer), ([HARMark.name, "chunks"], .list),
        ([HARMark.name, "trailers"], .objects), ([HARMark.name, "truncatedRequest"], .integer),
        ([HARMark.name, "truncatedResponse"], .integer),
    ]

    /// The problem, as the end of a sentence about the entry; `nil`: there is none.
    static func problem(of entry: JSONValue, requiresResponse: Bool) -> String? {
        guard entry.object != nil else { return "is no object" }
        for (path, kind) in members {
            guard let value = member(at: path, of: entry), !value.isNull, !kind.fits(value) else { continue }
            return "has a '\(path.joined(separator: "."))' that is no \(kind.rawValue)"
        }
        guard entry["request"]?["method"]?.string != nil, entry["request"]?["url"]?.string?.isEmpty == false else {
            return "has no request with a method and a URL"
        }
        if requiresResponse, entry["response"]?.object == nil { return "has no response" }
        return problemOfValues(entry) ?? problemOfLists(entry) ?? problemOfBodies(entry)
    }

    /// Finds values of the right type that have no meaning.
    private static func problemOfValues(_ entry: JSONValue) -> String? {
        if let text = entry["startedDateTime"]?.string, !text.isEmpty, HARTime.time(text) == nil {
            return "has a 'startedDateTime' that is no date with a time"
        }
        // 0 means that there is no response. So does a negative number: some exporters write -1 for an unknown status.
        if let status = entry["response"]?["status"], !status.isNull, status.string?.isEmpty != true {
            guard let number = status.lenientInteger, number <= 0 || (100...999).contains(number) else {
                return "has a 'response.status' that is no status"
            }
        }
        if let error = entry[HARMark.name]?["error"], !error.isNull, error["kind"]?.string == nil {
            return "has a '\(HARMark.name).error' without a 'kind'"
        }
        return nil
    }

    /// Lists of names and values.
    private static let lists = [
        ["request", "headers"], ["request", "postData", "params"], ["response", "headers"], [HARMark.name, "trailers"],
    ]

    private static func problemOfLists(_ entry: JSONValue) -> String? {
        for path in lists {
            for (index, field) in (member(at: path, of: entry)?.array ?? []).enumerated() {
                let place = "\(path.joined(separator: "."))[\(index)]"
                guard field["name"]?.string != nil else { return "has a '\(place)' without a 'name'" }
                if let value = field["value"], !value.isNull, value.lenientText == nil {
                    return "has a '\(place).value' that is no text"
                }
            }
        }
        for (index, chunk) in (entry[HARMark.name]?["chunks"]?.array ?? []).enumerated() {
            guard chunk[0]?.lenientTime != nil, let size = chunk[1]?.lenientInteger, size >= 0 else {
                return "has a '\(HARMark.name).chunks[\(index)]' that is no pair of milliseconds and bytes"
            }
        }
        return nil
    }

    private static func problemOfBodies(_ entry: JSONValue) -> String? {
        let bodies = [
            ("request.postData", entry["request"]?["postData"]), ("response.content", entry["response"]?["content"]),
        ]
        for (name, body) in bodies where !isKnown(encoding(of: body)) {
            return "has a '\(name)' in an encoding that is not known"
        }
        if isBroken(entry["request"]?["postData"]) { return "has a 'request.postData.text' that is not base64" }
        if isBroken(entry["response"]?["content"]) { return "has a 'response.content.text' that is not base64" }
        return nil
    }

    private static func member(at path: [String], of entry: JSONValue) -> JSONValue? {
        path.reduce(Optional(entry)) { $0?[$1] }
    }

    /// Empty: the text is the body.
    private static func encoding(of body: JSONValue?) -> String {
        (body?["_encoding"] ?? body?["encoding"])?.string ?? ""
    }

    /// The format has `base64`; some exporters name the encoding of the text.
    private static func isKnown(_ encoding: String) -> Bool {
        ["", "base64", "utf-8", "utf8"].contains(encoding.lowercased())
    }

    /// Whether the text of a body says that it is base64, and is not.
    private static func isBroken(_ body: JSONValue?) -> Bool {
        guard let text = body?["text"]?.string, encoding(of: body).lowercased() == "base64" else { return false }
        return Data(base64Encoded: text, options: .ignoreUnknownCharacters) == nil
    }
}
