import Errand

/// Finds the first place where two bodies differ.
enum BodyDifference {
    /// `nil`: the bytes are not JSON.
    static func json(_ bytes: [UInt8]) -> JSONValue? {
        guard !bytes.isEmpty else { return nil }
        return try? Response(statusCode: 200, body: bytes).json()
    }

    /// `nil`: the values are equal.
    static func between(recorded: JSONValue, sent: JSONValue) -> RequestDifference? {
        first(recorded, sent, at: "").map { place, one, other in
            RequestDifference(
                .body(at: place.isEmpty ? "the top" : place), recorded: one?.description ?? "",
                sent: other?.description ?? "")
        }
    }

    private static func first(
        _ one: JSONValue?, _ other: JSONValue?, at place: String
    ) -> (place: String, recorded: JSONValue?, sent: JSONValue?)? {
        guard one != other else { return nil }
        switch (one, other) {
        case (.object(let one), .object(let other)):
            for name in Set(one.keys).union(other.keys).sorted() {
                let member = place.isEmpty ? name : "\(place).\(name)"
                if let found = first(one[name], other[name], at: member) { return found }
            }
        case (.array(let one), .array(let other)):
            for index in 0..<max(one.count, other.count) {
                let pair = (
                    index < one.count ? one[index] : nil, index < other.count ? other[index] : nil
                )
                if let found = first(pair.0, pair.1, at: "\(place)[\(index)]") { return found }
            }
        default: break
        }
        return (place, one, other)
    }

    static func between(recorded: [UInt8], sent: [UInt8]) -> RequestDifference {
        let index = zip(recorded, sent).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        let place = index ?? min(recorded.count, sent.count)
        return RequestDifference(
            .body(at: "byte \(place)"), recorded: excerpt(recorded, at: place), sent: excerpt(sent, at: place))
    }

    /// Some bytes around the place, as text if they are text.
    private static func excerpt(_ bytes: [UInt8], at place: Int) -> String {
        let range = max(0, place - 16)..<min(bytes.count, place + 24)
        guard !range.isEmpty else { return "" }
        let text = String(decoding: bytes[range], as: UTF8.self)
        let isText = !text.unicodeScalars.contains { $0.isControl || $0 == "\u{FFFD}" }
        let shown = isText ? text : bytes[range].map { hexadecimal($0) }.joined(separator: " ")
        return (range.lowerBound > 0 ? "..." : "") + shown + (range.upperBound < bytes.count ? "..." : "")
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
