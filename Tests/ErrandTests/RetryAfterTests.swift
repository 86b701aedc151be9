import HTTPTypes
import Testing

@testable import ErrandModel

@Suite struct RetryAfterTests {
    @Test(
        arguments: [
            (nil, nil), ("120", .seconds(120)), ("0", .zero), ("-5", nil), ("+5", nil), ("", nil), ("soon", nil),
            ("99999999999999999999", .seconds(1 << 31)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", .seconds(60)), ("Sun, 06 Nov 1994 08:48:37 GMT", .zero),
        ] as [(String?, Duration?)])
    func rfc9110_10_2_3(value: String?, expected: Duration?) {
        let fields: HTTPFields = [.date: "Sun, 06 Nov 1994 08:49:37 GMT"]
        var retried = fields
        retried[.retryAfter] = value
        #expect(retried.retryAfter == expected)
    }

    @Test func aDateNeedsTheServersClock() {
        #expect(([.retryAfter: "Sun, 06 Nov 1994 08:50:37 GMT"] as HTTPFields).retryAfter == nil)
    }
}
