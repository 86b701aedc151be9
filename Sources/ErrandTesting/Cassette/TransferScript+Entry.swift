import Errand
import HTTPTypes

extension TransferScript {
    /// Replays a recorded exchange. `isTimed`: whether it takes as long as the recorded one. `now`: the time since
    /// 1970; dates of the response are moved, to be as far from it as they were from the start of the exchange. `nil`:
    /// dates are not changed.
    init(_ entry: HAR.Entry, isTimed: Bool, now: Duration?, for description: RequestDescription) {
        let metrics = entry.replayedMetrics
        let end = isTimed ? entry.time : .zero
        guard let received = entry.response else {
            if entry.isGivenUp {
                self = .silence(for: description)
                return
            }
            let failure =
                entry.failure?.error(response: nil, metrics: metrics)
                ?? ErrandError.connectionLost.with(
                    message: "the recorded exchange \(entry.request.method) \(entry.request.url) has no response")
            self.init(failure, after: end)
            return
        }
        // The start is 0 if it was not recorded.
        let age: Duration = now.map { entry.started > .zero ? $0 - entry.started : .zero } ?? .zero
        let response = Response(
            statusCode: received.status, head: received.replayedHead(answering: description.method, later: age),
            body: received.body.bytes, metrics: metrics, trailers: HeaderBlock(received.trailers).bytes)
        var failure = entry.failure?.error(response: nil, metrics: metrics)
        if failure == nil, received.body.isTruncated {
            failure = ErrandError.partialBody.with(
                message: "the cassette has only the first \(received.body.bytes.count) bytes of the body")
        }
        self.init(
            response, failure: failure, pieces: entry.pieces(isTimed: isTimed),
            after: isTimed ? entry.timings.untilFirstByte : .zero, until: end, for: description)
        if entry.isGivenUp { self = unfinished(for: description) }
    }
}

extension HAR.Entry {
    /// Whether the program stopped the recorded request. The rest of the response is then unknown.
    var isGivenUp: Bool {
        let kinds = [ErrandError.cancelled, .shutDown].map(\.shortDescription)
        return failure.map { kinds.contains($0.kind) } ?? false
    }

    fileprivate var replayedMetrics: TransferMetrics {
        var metrics = timings.metrics
        metrics.bytesSent = UInt64(clamping: request.wireSize ?? request.body?.bytes.count ?? 0)
        guard let response else { return metrics }
        metrics.bytesReceived = UInt64(clamping: response.wireSize ?? response.body.bytes.count)
        metrics.httpVersion = response.knownVersion.map { String($0.dropFirst(5)) }
        if metrics.httpVersion == "2.0" { metrics.httpVersion = "2" }
        metrics.wasDecoded = response.headers[.contentEncoding] != nil && !response.body.bytes.isEmpty
        return metrics
    }

    /// The body in the recorded pieces; empty: no pieces were recorded.
    fileprivate func pieces(isTimed: Bool) -> [TransferScript.Piece] {
        guard let response, !chunks.isEmpty else { return [] }
        var rest = response.body.bytes[...]
        var pieces: [TransferScript.Piece] = []
        for chunk in chunks where !rest.isEmpty {
            let bytes = rest.prefix(chunk.size)
            rest = rest.dropFirst(chunk.size)
            pieces.append(TransferScript.Piece(time: isTimed ? chunk.time : .zero, bytes: bytes))
        }
        // The text may be longer than the recorded sizes, because a secret was replaced or a person has edited it.
        if !rest.isEmpty { pieces.append(TransferScript.Piece(time: pieces.last?.time ?? .zero, bytes: rest)) }
        return pieces
    }
}

extension HAR.Received {
    private static let versions: Set<String> = ["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/2.0", "HTTP/3", "HTTP/3.0"]

    /// The version as in a status line; `nil`: it is not a known version. Other text must not get into a head.
    fileprivate var knownVersion: String? {
        let version = httpVersion.uppercased()
        return Self.versions.contains(version) ? version : nil
    }

    /// The status line and the fields. `Content-Length` is that of the recorded body, in which secrets were replaced.
    fileprivate func replayedHead(answering method: HTTPRequest.Method, later age: Duration) -> [UInt8] {
        let version = knownVersion ?? "HTTP/1.1"
        let reason = statusText.filter { !$0.isNewline }
        var headers = age == .zero ? headers : headers.later(by: age)
        let isWhole = headers[.contentEncoding] == nil && !body.isTruncated && method != .head && status != 304
        if isWhole, headers[.contentLength] != nil { headers[.contentLength] = String(body.bytes.count) }
        return Array("\(version) \(status) \(reason)\r\n".utf8) + HeaderBlock(headers).bytes
    }
}

extension HTTPFields {
    private static let dates: Set<HTTPField.Name> = [.date, .expires, .lastModified, .retryAfter]

    /// The fields, with their dates moved later by `age`. A `Retry-After` in seconds and an `Expires: 0` are not changed.
    fileprivate func later(by age: Duration) -> HTTPFields {
        HTTPFields(
            map { field in
                guard Self.dates.contains(field.name), let date = HTTPDate.shifted(field.value, by: age) else {
                    return field
                }
                return HTTPField(name: field.name, value: date)
            })
    }
}
