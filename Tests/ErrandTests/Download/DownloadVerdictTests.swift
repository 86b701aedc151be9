import Errand
import Testing

@testable import ErrandDownloads

@Suite struct DownloadVerdictTests {
    private static let tag = DownloadValidators(entityTag: "\"a\"")
    private static let policy = DownloadPolicy()
    private static let whole = DownloadAsk(transfer: 1)
    private static let rest = DownloadAsk(transfer: 2, offset: 40, ifRange: "\"a\"")
    private static let piece = DownloadAsk(transfer: 2, offset: 40, end: 60, ifRange: "\"a\"")

    private static func head(
        _ statusCode: Int, _ range: Range<Int64>? = nil, total: Int64? = nil, length: Int64? = nil,
        tag: String? = "\"a\"",
        isEncoded: Bool = false, isMultipart: Bool = false, retryAfter: Duration? = nil
    ) -> DownloadHead {
        var head = DownloadHead(statusCode: statusCode)
        if range != nil || total != nil { head.contentRange = ContentRange(range, total: total) }
        head.contentLength = length
        head.validators.entityTag = tag
        head.isEncoded = isEncoded
        head.isMultipart = isMultipart
        head.retryAfter = retryAfter
        return head
    }

    private static func on(
        _ head: DownloadHead, _ ask: DownloadAsk, length: Int64? = 100, _ policy: DownloadPolicy = policy
    ) -> DownloadVerdict {
        DownloadVerdict.on(head, to: ask, validators: tag, length: length, policy: policy)
    }

    @Test(
        arguments: [
            (head(200, length: 100), whole, .take(end: 100)), (head(200), whole, .take(end: nil)),
            (head(200, length: 0), whole, .take(end: 0)),
            // The server does without ranges, or the content changed.
            (head(200, length: 100), rest, .takeFromZero(end: 100)),
            (head(200, tag: "\"b\""), rest, .takeFromZero(end: nil)),
            (head(200, length: 100), piece, .takeFromZero(end: 100)),
            (head(200, length: 100, isEncoded: true), whole, .take(end: 100)),
            (head(200, isEncoded: true), rest, .takeFromZero(end: nil)),
            (head(206, 40..<100, total: 100, isEncoded: true), rest, .restart),
            (head(206, 0..<100, total: 100, isEncoded: true), whole, .fail(.malformedResponse)),
            (head(206, 40..<100, total: 100), rest, .take(end: 100)),
            (head(206, 40..<100, total: 100, length: 60), rest, .take(end: 100)),
            (head(206, 40..<100, total: 100, tag: nil), rest, .take(end: 100)),
            (head(206, 40..<50, total: 100), rest, .take(end: 50)),
            (head(206, 40..<60, total: 100), piece, .take(end: 60)),
            (head(206, 40..<100), rest, .take(end: 100)),
            // Another start, more than asked for, another total, another length than the range's, none, several, changed.
            (head(206, 39..<100, total: 100), rest, .restart), (head(206, 41..<100, total: 100), rest, .restart),
            (head(206, 40..<61, total: 100), piece, .restart), (head(206, 40..<99, total: 99), rest, .restart),
            (head(206, 40..<101, total: 101), rest, .restart), (head(206, 40..<101), rest, .restart),
            (head(206, 40..<100, total: 100, length: 100), rest, .restart), (head(206), rest, .restart),
            (head(206, total: 100), rest, .restart),
            (head(206, 40..<100, total: 100, isMultipart: true), rest, .restart),
            (head(206, 40..<100, total: 100, tag: "\"b\""), rest, .restart),
            (head(206, 40..<100, total: 100, tag: "W/\"a\""), rest, .restart),
            (head(206, 0..<100, total: 100), whole, .fail(.malformedResponse)),
            (head(416, total: 100), DownloadAsk(transfer: 2, offset: 100), .complete),
            (head(416, total: 100, tag: nil), DownloadAsk(transfer: 2, offset: 100), .complete),
            (head(416, total: 100, tag: "\"b\""), DownloadAsk(transfer: 2, offset: 100), .restart),
            (head(416, total: 30), rest, .restart), (head(416, total: 100), rest, .restart),
            (head(416), rest, .restart),
            (head(416, total: 40), rest, .restart), (head(416, total: 40), piece, .restart),
            (head(416, total: 0), whole, .fail(.statusNotAccepted)),
            (head(204), whole, .fail(.statusNotAccepted)), (head(304), rest, .fail(.statusNotAccepted)),
            (head(404), rest, .fail(.statusNotAccepted)), (head(412), rest, .fail(.statusNotAccepted)),
            (head(503, retryAfter: .seconds(9)), rest, .retry(after: .seconds(9), .statusNotAccepted)),
            (head(429), whole, .retry(after: nil, .statusNotAccepted)),
        ] as [(DownloadHead, DownloadAsk, DownloadVerdict)])
    func heads(head: DownloadHead, ask: DownloadAsk, expected: DownloadVerdict) {
        #expect(Self.on(head, ask) == expected)
    }

    @Test func theErrorOfAStatusNamesTheExpectedOnes() {
        guard case .fail(let error) = Self.on(Self.head(404), Self.whole) else {
            Issue.record("the download did not fail")
            return
        }
        #expect(error.message == "the status is 404, expected 200, 206")
    }

    @Test func theLengthNeedNotBeKnown() {
        #expect(Self.on(Self.head(206, 40..<90, total: 90), Self.rest, length: nil) == .take(end: 90))
        #expect(Self.on(Self.head(416, total: 40), Self.rest, length: nil) == .complete)
    }

    @Test func theExpectedLength() {
        var policy = DownloadPolicy()
        policy.expectedLength = 50
        let mismatch = DownloadVerdict.fail(.lengthMismatch)
        #expect(Self.on(Self.head(200, length: 100), Self.whole, length: nil, policy) == mismatch)
        #expect(Self.on(Self.head(200, length: 100), Self.rest, length: nil, policy) == mismatch)
        #expect(Self.on(Self.head(206, 40..<100, total: 100), Self.rest, length: nil, policy) == mismatch)
        #expect(Self.on(Self.head(416, total: 40), Self.rest, length: nil, policy) == mismatch)
        #expect(Self.on(Self.head(206, 40..<50, total: 50), Self.rest, length: nil, policy) == .take(end: 50))
        #expect(Self.on(Self.head(200), Self.whole, length: nil, policy) == .take(end: nil))
    }

    @Test func theFieldToSend() {
        #expect(Self.whole.range == nil && Self.rest.range == "bytes=40-" && Self.piece.range == "bytes=40-59")
        #expect(DownloadAsk(transfer: 1, offset: 0, end: 5).range == "bytes=0-4")
    }

    @Test func delays() {
        let policy = DownloadPolicy()
        let waits = (0...9).map { policy.delay(failures: $0, leastByServer: nil, random: 0) }
        #expect(waits == [1, 1, 2, 4, 8, 16, 32, 60, 60, 60].map { Duration.seconds($0) })
        #expect(policy.delay(failures: .max, leastByServer: nil, random: 0) == .seconds(60))
        #expect(policy.delay(failures: 1, leastByServer: .seconds(7), random: 0) == .seconds(7))
        #expect(policy.delay(failures: 1, leastByServer: .seconds(700), random: 0) == .seconds(60))
        #expect(policy.delay(failures: 4, leastByServer: nil, random: 1) == .milliseconds(6400))
    }
}
