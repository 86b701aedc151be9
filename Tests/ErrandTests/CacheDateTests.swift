import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandModel

@Suite struct CacheDateTests {
    private static let now = CacheTime(seconds: 1_700_000_000)

    private func seconds(_ text: String, now: CacheTime = now) -> Int64? {
        HTTPDate.time(text, now: now).map { $0.milliseconds / 1000 }
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "sun, 06 NOV 1994 08:49:37 gmt", "SUNDAY, 06-nov-94 08:49:37 GMT", " \tSun, 06 Nov 1994 08:49:37 GMT ",
    ])
    func rfc9110_5_6_7_threeFormats(text: String) {
        #expect(seconds(text) == 784_111_777)
    }

    @Test(
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200), ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
            ("Thu Feb 29 00:00:00 2024", 1_709_164_800), ("Thu Nov 10 00:00:00 1994", 784_425_600),
            // The day of the week is not checked against the date.
            ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ] as [(String, Int64)])
    func rfc9110_5_6_7_values(text: String, expected: Int64) {
        #expect(seconds(text) == expected)
    }

    @Test(arguments: [
        "", "0", "-1", "Sun", "Sun,", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 31 Apr 1994 08:49:37 GMT", "Tue, 29 Feb 1900 00:00:00 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Xun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT x", "Sunda, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
        "Sun Nov  6 08:49:37 94", "1994-11-06T08:49:37Z", "784111777",
    ])
    func rfc9111_4_2_whatIsNoDate(text: String) {
        #expect(seconds(text) == nil)
    }

    /// RFC 9110 5.6.7: more than 50 years ahead is the past.
    @Test func rfc9110_5_6_7_twoDigitYears() {
        func year(_ digits: String, now: String) -> String? {
            guard let now = HTTPDate.time("Sun, 01 Jul \(now) 00:00:00 GMT", now: Self.now) else { return nil }
            return HTTPDate.time("Sunday, 01-Jan-\(digits) 00:00:00 GMT", now: now)
                .map { String(HTTPDate.text($0).dropFirst(12).prefix(4)) }
        }
        #expect(year("94", now: "2026") == "1994")
        #expect(year("26", now: "2026") == "2026")
        #expect(year("76", now: "2026") == "2076")
        #expect(year("77", now: "2026") == "1977")
        #expect(year("00", now: "1999") == "2000")
        #expect(year("49", now: "2000") == "2049")
    }

    @Test func rfc9110_5_6_7_whatIsWrittenIsReadBack() {
        #expect(HTTPDate.text(CacheTime(seconds: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(CacheTime(milliseconds: -1)) == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(HTTPDate.text(CacheTime(milliseconds: .max)) == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDate.text(CacheTime(milliseconds: .min)) == "Sat, 01 Jan 0000 00:00:00 GMT")
        var random = SeededGenerator(seed: 5)
        for _ in 0..<5000 {
            let time = CacheTime(seconds: Int64.random(in: -62_167_219_200...253_402_300_799, using: &random))
            #expect(HTTPDate.time(HTTPDate.text(time), now: Self.now) == time)
        }
    }

    @Test func garbageIsBorne() {
        var random = SeededGenerator(seed: 850)
        let pieces = [
            "Sun", "Sunday", ",", " ", "-", "06", "Nov", "94", "1994", "08:49:37", ":", "GMT", "é", "9", "\u{0}",
        ]
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 0...12, using: &random))
                .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            let now = CacheTime(milliseconds: Int64.random(in: .min ... .max, using: &random))
            if let time = HTTPDate.time(text, now: now) {
                #expect(abs(time.milliseconds) < 1 << 53)
            }
        }
    }

    @Test func timesNeverOverflow() {
        let ends = [CacheTime(milliseconds: .min), CacheTime(milliseconds: .max), CacheTime(seconds: .max)]
        for left in ends {
            for right in ends {
                #expect(abs(left - right) <= 1 << 54)
                #expect(left + (right - left) >= CacheTime(milliseconds: .min))
                #expect(left + .max >= left && left + .min <= left)
            }
        }
    }
}
