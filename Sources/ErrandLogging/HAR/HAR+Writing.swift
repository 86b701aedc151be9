import FoundationEssentials
import HTTPTypes

extension HAR {
    /// The HAR as JSON text, with the entries in the order in which they started.
    ///
    /// - Parameter isPretty: Whether each member has a line of its own. Default: yes.
    public func text(isPretty: Bool = true) -> String {
        var log: [(key: String, value: HARValue)] = [
            ("version", .string("1.2")),
            ("creator", .object([("name", .string(creator.name)), ("version", .string(creator.version))])),
            ("pages", .array([])),
            ("entries", .array(sorted.entries.map(\.written))),
        ]
        if let comment { log.append(("comment", .string(comment))) }
        var printer = JSONPrinter(isPretty: isPretty)
        HARValue.object([("log", .object(log))]).write(to: &printer)
        return isPretty ? printer.text + "\n" : printer.text
    }
}

extension HAR.Entry {
    fileprivate var written: HARValue {
        var members: [(key: String, value: HARValue)] = [
            ("startedDateTime", .string(HARTime.text(started))),
            ("time", .milliseconds(time)),
            ("request", request.written),
            ("response", response?.written ?? HAR.Received.nothing),
            ("cache", .object([])),
            ("timings", timings.written),
        ]
        if let serverAddress { members.append(("serverIPAddress", .string(serverAddress))) }
        if let connection { members.append(("connection", .string(connection))) }
        for (name, value) in others.sorted(by: { $0.key < $1.key }) where name != HARMark.name {
            members.append((name, .other(value)))
        }
        let mark = HARMark(self).written
        if !mark.isEmpty { members.append((HARMark.name, .object(mark))) }
        return .object(members)
    }
}

extension HAR.Sent {
    fileprivate var written: HARValue {
        var members: [(key: String, value: HARValue)] = [
            ("method", .string(method)),
            ("url", .string(url)),
            ("httpVersion", .string(httpVersion)),
            ("cookies", .array(HARCookies.sent(headers))),
            ("headers", headers.written),
            ("queryString", .array(queryItems)),
            ("headersSize", .integer(-1)),
            ("bodySize", .count(wireSize ?? body.map { $0.size ?? $0.bytes.count } ?? 0)),
        ]
        if let body { members.append(("postData", body.posted)) }
        return .object(members)
    }

    private var queryItems: [HARValue] {
        guard let query = URLReference(url).query else { return [] }
        return query.split(separator: "&").map { item in
            let name = item.prefix { $0 != "=" }
            return HARValue.pair(
                PercentEncoding.decoded(name), PercentEncoding.decoded(item.dropFirst(name.count + 1)))
        }
    }
}

extension HAR.Received {
    /// The response that browsers write if no response began.
    fileprivate static var nothing: HARValue {
        HAR.Received(status: 0, httpVersion: "unknown").written
    }

    fileprivate var written: HARValue {
        .object([
            ("status", .integer(status)),
            ("statusText", .string(statusText)),
            ("httpVersion", .string(httpVersion)),
            ("cookies", .array(HARCookies.received(headers))),
            ("headers", headers.written),
            // If the body has no coding, only redaction changes the size.
            ("content", body.content(wireSize: headers[.contentEncoding] == nil ? nil : wireSize)),
            ("redirectURL", .string(headers[.location] ?? "")),
            ("headersSize", .integer(-1)),
            ("bodySize", .count(wireSize)),
        ])
    }
}

extension HAR.Body {
    /// `content` of a response.
    fileprivate func content(wireSize: Int?) -> HARValue {
        let size = size ?? bytes.count
        var members: [(key: String, value: HARValue)] = [("size", .integer(size))]
        if let wireSize, wireSize < size, wireSize > 0 { members.append(("compression", .integer(size - wireSize))) }
        members.append(("mimeType", .string(mimeType.isEmpty ? "x-unknown" : mimeType)))
        guard !bytes.isEmpty else { return .object(members) }
        if let text = String(validating: bytes, as: UTF8.self) {
            members.append(("text", .string(text)))
        } else {
            members.append(("text", .string(Data(bytes).base64EncodedString())))
            members.append(("encoding", .string("base64")))
        }
        return .object(members)
    }

    /// `postData` of a request. The format knows text only.
    fileprivate var posted: HARValue {
        var members: [(key: String, value: HARValue)] = [
            ("mimeType", .string(mimeType.isEmpty ? "x-unknown" : mimeType))
        ]
        if let text = String(validating: bytes, as: UTF8.self) {
            members.append(("text", .string(text)))
        } else {
            members.append(("text", .string(Data(bytes).base64EncodedString())))
            members.append(("_encoding", .string("base64")))
        }
        return .object(members)
    }
}

extension HAR.Timings {
    fileprivate var written: HARValue {
        .object([
            ("blocked", .milliseconds(blocked)),
            ("dns", .milliseconds(dns)),
            ("connect", .milliseconds(connect)),
            ("send", .milliseconds(send)),
            ("wait", .milliseconds(wait)),
            ("receive", .milliseconds(receive)),
            ("ssl", .milliseconds(ssl)),
        ])
    }
}

extension HTTPFields {
    /// The fields as names and values, in order.
    var written: HARValue {
        .array(map { HARValue.pair($0.name.rawName, $0.value) })
    }
}

extension HARValue {
    /// A name and its value, as the format lists fields and query items.
    static func pair(_ name: String, _ value: String) -> HARValue {
        .object([("name", .string(name)), ("value", .string(value))])
    }
}
