import Errand
import HTTPTypes

/// The text that `-v` shows for a request and its response, without secrets: heads, and bodies that are text.
enum ExchangeText {
    private static let redaction = Redaction.standard

    static func text(_ title: String, _ command: HTTPFileCommand, _ response: Response?, failure: String?) -> String {
        var text = "* \(OutcomeTable.printable(title))\n"
        text += "> \(command.method.rawValue) \(OutcomeTable.printable(redaction.url(command.url)))\n"
        var fields = redaction.fields(command.headers)
        // The engine adds the Authorization field; for Digest it can add the field only after a challenge.
        if command.authorization != nil { fields[.authorization] = Redaction.placeholder }
        text += lines(fields, mark: ">")
        if let bytes = command.bodyBytes {
            text += body(bytes, command.headers[.contentType])
        } else {
            text += "* the body is sent from a file\n"
        }
        if let response {
            let status = response.rawHead.prefix { $0 != 0x0D && $0 != 0x0A }
            text += "< \(OutcomeTable.printable(String(decoding: status, as: UTF8.self)))\n"
            text += lines(redaction.fields(response.headers), mark: "<")
            text += body(response.body.bytes, response.headers[.contentType])
        }
        if let failure { text += "* \(OutcomeTable.printable(failure))\n" }
        return text + "\n"
    }

    private static func lines(_ fields: HTTPFields, mark: String) -> String {
        fields.map { "\(mark) \($0.name.rawName): \(OutcomeTable.printable($0.value))\n" }.joined() + "\(mark)\n"
    }

    private static func body(_ bytes: [UInt8], _ contentType: String?) -> String {
        guard !bytes.isEmpty else { return "" }
        // Simple servers often send JSON without a Content-Type.
        let looksLikeJSON = bytes.first == UInt8(ascii: "{") || bytes.first == UInt8(ascii: "[")
        let type = contentType ?? (looksLikeJSON ? "application/json" : nil)
        var headers = HTTPFields()
        headers[.contentType] = type
        let shown = redaction.body(bytes, contentType: type)
        let text = try? Response(statusCode: 200, headers: headers, body: shown).text()
        guard let text, !isBinary(text), isText(type) else {
            let kind = type.map { ", \(OutcomeTable.printable($0))" } ?? ""
            return "* \(bytes.count.grouped) bytes that are not text\(kind)\n"
        }
        let lines = text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
        let whole = lines.map { line in
            // A tab is harmless on a terminal.
            line.split(separator: "\t", omittingEmptySubsequences: false).map { OutcomeTable.printable(String($0)) }
                .joined(separator: "\t")
        }.joined(separator: "\n")
        return whole.hasSuffix("\n") ? whole : whole + "\n"
    }

    /// Decides by the content type, because some bytes of an image are valid text by chance.
    private static func isText(_ type: String?) -> Bool {
        let type = (type ?? "").prefix { $0 != ";" }.trimmed.lowercased()
        return !["image/", "audio/", "video/", "font/"].contains { type.hasPrefix($0) } || type.hasSuffix("+xml")
    }

    /// Text never contains NUL, and contains at most a few of the other control characters.
    private static func isBinary(_ text: String) -> Bool {
        let controls = text.unicodeScalars.count { scalar in
            scalar.properties.generalCategory == .control && !"\t\n\r\u{C}\u{1B}".unicodeScalars.contains(scalar)
        }
        return text.utf8.contains(0) || controls * 10 > text.utf8.count
    }
}
