import Errand
import HTTPTypes
import Testing

@testable import ErrandDownloads

@Suite struct DownloadHeadTests {
    @Test(
        arguments: [
            ("bytes 0-0/1", ContentRange(0..<1, total: 1)), ("Bytes 5-9/*", ContentRange(5..<10, total: nil)),
            ("bytes */47", ContentRange(nil, total: 47)), ("bytes 0-9/10", ContentRange(0..<10, total: 10)),
            ("bytes 0-9223372036854775806/9223372036854775807", ContentRange(0..<Int64.max, total: Int64.max)),
            ("bytes 0-9223372036854775807/*", nil), ("bytes 0-9223372036854775807/9223372036854775807", nil),
            ("bytes 0-10/10", nil), ("bytes 5-4/10", nil), ("bytes */*", nil), ("bytes", nil), ("bytes 1-2", nil),
            ("bytes -2/10", nil), ("bytes 1-/10", nil), ("items 0-0/1", nil), ("bytes 0-0/+1", nil),
            ("bytes +0-1/5", nil),
            ("bytes 0-0/1/2", nil), ("bytes 0-1-2/5", nil), ("", nil), ("bytes 0-0/99999999999999999999", nil),
        ] as [(String, ContentRange?)])
    func rfc9110_14_4_contentRange(value: String, expected: ContentRange?) {
        #expect(ContentRange(value) == expected)
    }

    private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let later = "Sun, 06 Nov 1994 08:49:38 GMT"

    @Test(
        arguments: [
            ("\"a\"", nil, nil, "\"a\""), ("\"\"", nil, nil, "\"\""), ("W/\"a\"", nil, nil, nil), ("a", nil, nil, nil),
            ("\"a", nil, nil, nil), ("\"", nil, nil, nil), ("\"a\"b\"", nil, nil, nil), ("\"a b\"", nil, nil, nil),
            (nil, modified, later, modified), (nil, modified, modified, nil), (nil, modified, nil, nil),
            (nil, later, modified, nil), (nil, nil, later, nil), (nil, nil, nil, nil),
            // RFC 9110 13.1.5: no date where there is an entity tag.
            ("W/\"a\"", modified, later, nil), ("\"a\"", modified, later, "\"a\""),
            (nil, "Sunday, 06-Nov-94 08:49:37 GMT", later, "Sunday, 06-Nov-94 08:49:37 GMT"), (nil, "", "", nil),
        ] as [(String?, String?, String?, String?)])
    func rfc9110_13_1_5_ifRange(entityTag: String?, lastModified: String?, date: String?, expected: String?) {
        let validators = DownloadValidators(entityTag: entityTag, lastModified: lastModified, date: date)
        #expect(validators.ifRange == expected)
    }

    @Test func contradictions() {
        let (a, b) = (DownloadValidators(entityTag: "\"a\""), DownloadValidators(entityTag: "\"b\""))
        let weak = DownloadValidators(entityTag: "W/\"a\"")
        let (old, new) = (DownloadValidators(lastModified: Self.modified), DownloadValidators(lastModified: Self.later))
        #expect(a.contradicts(b) && a.contradicts(weak) && weak.contradicts(a) && old.contradicts(new))
        #expect(
            !a.contradicts(a) && !weak.contradicts(weak) && !a.contradicts(old) && !a.contradicts(DownloadValidators()))
        // An equal tag outweighs a date: servers behind one name often differ in that.
        #expect(
            !DownloadValidators(entityTag: "\"a\"", lastModified: Self.modified).contradicts(
                DownloadValidators(entityTag: "\"a\"", lastModified: Self.later)))
    }

    @Test func fields() {
        let head = DownloadHead(
            statusCode: 206,
            [
                .contentRange: "bytes 2-3/10", .contentLength: "2", .acceptRanges: "Bytes", .eTag: "\"a\"",
                .lastModified: Self.modified, .date: Self.later, .contentEncoding: "identity", .retryAfter: "7",
            ])
        #expect(head.contentRange == ContentRange(2..<4, total: 10))
        #expect(head.contentLength == 2 && head.acceptsRanges == true && !head.isEncoded && !head.isMultipart)
        #expect(
            head.validators == DownloadValidators(entityTag: "\"a\"", lastModified: Self.modified, date: Self.later))
        #expect(head.retryAfter == .seconds(7) && head.total == 10)
        let other = DownloadHead(
            statusCode: 200,
            [
                .contentLength: "-5", .acceptRanges: "none", .contentEncoding: "GZip", .retryAfter: "soon",
                .contentType: "Multipart/Byteranges; boundary=x",
            ])
        #expect(other.contentLength == nil && other.acceptsRanges == false && other.isEncoded && other.isMultipart)
        #expect(other.retryAfter == nil && other.total == nil)
        #expect(DownloadHead(statusCode: 200, [.retryAfter: "9223372036854775807"]).retryAfter == .seconds(1 << 31))
        #expect(DownloadHead(statusCode: 200, [:]).acceptsRanges == nil)
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:51:37 GMT", modified, .seconds(120)), (modified, later, .zero),
            ("Sun, 06 Nov 1994 08:51:37 GMT", nil, nil), (later, "now", nil), ("-1", modified, nil),
            ("Fri, 31 Dec 9999 23:59:59 GMT", modified, .seconds(1 << 31)),
        ] as [(String, String?, Duration?)])
    func rfc9110_10_2_3_retryAfter(value: String, date: String?, expected: Duration?) {
        var fields: HTTPFields = [.retryAfter: value]
        fields[.date] = date
        #expect(DownloadHead(statusCode: 503, fields).retryAfter == expected)
    }
}
