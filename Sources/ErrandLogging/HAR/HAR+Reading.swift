import FoundationEssentials
import HTTPTypes

extension HAR {
    /// Reads JSON text in UTF-8, UTF-16 or UTF-32. Throws ``ErrandError/invalidArgument`` for text that is not a HAR; the
    /// message says what is wrong, and in which entry.
    public init(parsing text: [UInt8]) throws(ErrandError) {
        try self.init(parsing: text, requiresResponses: false)
    }

    /// The same. `requiresResponses`: an entry without the member `response` is an error. A status of 0, which
    /// exporters write for a failure, is not an error.
    package init(parsing text: [UInt8], requiresResponses: Bool) throws(ErrandError) {
        let value: JSONValue
        do {
            value = try JSONReader.value(JSONValue.self, from: Data(text), using: SharedCoders.jsonDecoder)
        } catch DecodingError.dataCorrupted(let context) {
            throw Self.malformed("the text is not JSON: \(context.debugDescription)")
        } catch {
            throw Self.malformed("the text is not JSON")
        }
        guard let log = value["log"], let items = log["entries"]?.array else {
            throw Self.malformed("the text has no 'log.entries' and is no HAR")
        }
        var entries: [Entry] = []
        entries.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            if let problem = HARShape.problem(of: item, requiresResponse: requiresResponses) {
                throw Self.malformed("entry \(index + 1) \(problem)")
            }
            guard let entry = Entry(reading: item) else {
                throw Self.malformed("entry \(index + 1) has no request with a method and a URL")
            }
            entries.append(entry)
        }
        self.init(
            entries: entries,
            creator: Creator(
                name: log["creator"]?["name"]?.string ?? "unknown",
                version: log["creator"]?["version"]?.lenientText ?? ""),
            comment: log["comment"]?.string)
    }

    private static func malformed(_ problem: String) -> ErrandError {
        .invalidArgument.with(message: problem, isRefusal: true)
    }
}

extension HAR.Entry {
    /// `nil`: there is no request.
    fileprivate init?(reading item: JSONValue) {
        guard let sent = HAR.Sent(reading: item["request"]) else { return nil }
        let mark = HARMark(reading: item[HARMark.name])
        self.init(
            started: item["startedDateTime"]?.string.flatMap(HARTime.time) ?? .zero, request: sent,
            response: HAR.Received(reading: item["response"]),
            timings: HAR.Timings(reading: item["timings"], time: item["time"]?.lenientTime),
            serverAddress: item["serverIPAddress"]?.string, connection: item["connection"]?.lenientText,
            failure: mark.failure, chunks: mark.chunks,
            others: (item.object ?? [:]).filter { $0.key.hasPrefix("_") && $0.key != HARMark.name })
        response?.trailers = mark.trailers
        if let size = mark.truncatedRequest { request.body?.truncate(size) }
        if let size = mark.truncatedResponse { response?.body.truncate(size) }
    }
}

extension HAR.Body {
    /// Notes that bytes are missing. `size`: the size of the whole body; negative: not known.
    fileprivate mutating func truncate(_ size: Int) {
        isTruncated = true
        self.size = size < 0 ? nil : size
    }
}

extension HAR.Sent {
    fileprivate init?(reading item: JSONValue?) {
        guard let method = item?["method"]?.string, let url = item?["url"]?.string, !url.isEmpty else { return nil }
        self.init(
            method: method, url: url, httpVersion: item?["httpVersion"]?.string ?? "unknown",
            headers: HTTPFields(reading: item?["headers"]), body: HAR.Body(posted: item?["postData"]),
            wireSize: item?["bodySize"]?.lenientCount)
    }
}

extension HAR.Received {
    /// `nil`: there is none, or its status is 0, as exporters write it for a failure.
    fileprivate init?(reading item: JSONValue?) {
        guard let item, let status = item["status"]?.lenientInteger, (100...999).contains(status) else { return nil }
        self.init(
            status: status, statusText: item["statusText"]?.string ?? "",
            httpVersion: item["httpVersion"]?.string ?? "unknown", headers: HTTPFields(reading: item["headers"]),
            body: HAR.Body(content: item["content"]), wireSize: item["bodySize"]?.lenientCount)
    }
}

extension HAR.Body {
    /// Reads `content`. If the exporter has left out the text, the body is truncated.
    fileprivate init(content item: JSONValue?) {
        self.init(text: item?["text"]?.string, encoding: item?["encoding"]?.string, item)
        guard item?["text"]?.string == nil, let size = item?["size"]?.lenientCount, size > 0 else { return }
        self.size = size
        isTruncated = true
    }

    /// Reads `postData`, as text or as form parameters; `nil`: there is none.
    fileprivate init?(posted item: JSONValue?) {
        guard let item, item.object?.isEmpty == false else { return nil }
        let encoding = item["_encoding"]?.string ?? item["encoding"]?.string
        var text = item["text"]?.string
        if text?.isEmpty ?? true, let parameters = item["params"]?.array, !parameters.isEmpty {
            let items = parameters.compactMap { item -> QueryItem? in
                guard let name = item["name"]?.string else { return nil }
                return QueryItem(name, item["value"]?.lenientText ?? "")
            }
            text = PercentEncoding.query(items)
        }
        self.init(text: text, encoding: encoding, item)
    }

    private init(text: String?, encoding: String?, _ item: JSONValue?) {
        var type = item?["mimeType"]?.string ?? ""
        if type == "x-unknown" { type = "" }
        var bytes = Array((text ?? "").utf8)
        if encoding?.lowercased() == "base64", let text,
            let decoded = Data(base64Encoded: text, options: .ignoreUnknownCharacters)
        {
            bytes = Array(decoded)
        }
        self.init(bytes: bytes, mimeType: type)
    }
}

extension HAR.Timings {
    /// `time`: the whole time, for an exchange whose phases are not known.
    fileprivate init(reading item: JSONValue?, time: Duration?) {
        guard let item, item.object?.isEmpty == false else {
            self.init(wait: time ?? .zero)
            return
        }
        var connect = item["connect"]?.lenientTime
        let ssl = item["ssl"]?.lenientTime
        // mitmproxy does not count the handshake as a part of connecting.
        if let part = connect, let ssl, ssl > part { connect = part + ssl }
        if connect == nil { connect = ssl }
        self.init(
            blocked: item["blocked"]?.lenientTime, dns: item["dns"]?.lenientTime, connect: connect, ssl: ssl,
            send: item["send"]?.lenientTime ?? .zero, wait: item["wait"]?.lenientTime ?? .zero,
            receive: item["receive"]?.lenientTime ?? .zero)
    }
}

extension HTTPFields {
    /// Reads a list of names and values. Some exporters leave out an empty value. Names that are not fields of
    /// HTTP/1.1, such as `:authority`, are left out.
    init(reading item: JSONValue?) {
        self.init()
        // `HTTPFields` traps beyond 65,535 fields.
        for field in (item?.array ?? []).prefix(10_000) {
            guard let name = field["name"]?.string,
                let checked = try? HTTPField.checked(name: name, value: field["value"]?.lenientText ?? "")
            else { continue }
            append(checked)
        }
    }
}

extension JSONValue {
    /// A number, even if an exporter has written it as text.
    var lenientNumber: Double? { number ?? string.flatMap { Double($0) } }

    /// A whole number; fractions are rounded.
    var lenientInteger: Int? { lenientNumber.flatMap { Int(exactly: $0.rounded()) } }

    /// A number of bytes; `nil` for -1, which means that it is not known.
    var lenientCount: Int? { lenientInteger.flatMap { $0 < 0 ? nil : $0 } }

    /// Milliseconds; `nil` for -1, and for more than 30 years.
    var lenientTime: Duration? {
        guard let number = lenientNumber, number >= 0, number < 1e12 else { return nil }
        return .microseconds(Int64((number * 1000).rounded()))
    }

    /// Text, or a number as text.
    var lenientText: String? { string ?? integer.map { String($0) } ?? number.map { String($0) } }
}
