import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandResilience

@Suite struct ServerRateLimitTests {
    private func read(_ fields: [(String, String)], status: Int = 200) throws -> ServerRateLimit {
        var list = HTTPFields()
        for (name, value) in fields {
            list.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        return ServerRateLimit(list, status: status, date: 1_800_000_000)
    }

    @Test func theFieldsOfTheDraft() throws {
        let answer = try read([
            (
                "RateLimit-Policy",
                "\"burst\";q=100;w=60, \"daily\";q=1000;w=86400;qu=\"content-bytes\";pk=:cHNrLmtleQ==:"
            ),
            ("RateLimit", "\"burst\";r=50;t=30"), ("ratelimit", "\"daily\";r=0;t=3600"),
        ])
        #expect(answer.policies.map(\.name) == ["burst", "daily"])
        #expect(answer.policies.map(\.quota) == [100, 1000])
        #expect(answer.policies.map(\.window) == [.seconds(60), .seconds(86_400)])
        #expect(answer.policies.map(\.unit) == ["requests", "content-bytes"])
        #expect(
            answer.remaining == [
                .init(name: "burst", count: 50, reset: .seconds(30)),
                .init(name: "daily", count: 0, reset: .seconds(3600)),
            ])
        #expect(answer.pause == .seconds(3600))
    }

    private static let cases: [([(String, String)], Int, Int)] = [
        ([("RateLimit", "\"a\";r=0;t=5")], 200, 5), ([("RateLimit", "\"a\";r=1;t=5")], 200, 0),
        ([("RateLimit", "\"a\";r=0;t=5"), ("Retry-After", "2")], 429, 2),
        // On a redirect it is about the redirect.
        ([("RateLimit", "\"a\";r=0;t=5"), ("Retry-After", "2")], 302, 5), ([("Retry-After", "9")], 503, 9),
        ([("RateLimit", "\"a\";r=0"), ("RateLimit-Policy", "\"a\";q=1;w=60")], 200, 60),
        ([("RateLimit", "\"a\";r=0"), ("RateLimit-Policy", "\"b\";q=1;w=60")], 200, 0),
        ([("RateLimit", "\"a\";r=0;t=5"), ("RateLimit-Policy", "\"a\";q=1;qu=\"concurrent-requests\"")], 200, 0),
        ([("RateLimit", "a;r=0;t=5, b;r=0;t=9, c;r=0;t=7")], 200, 9), ([("RateLimit", "\"a\";r=-1;t=5")], 200, 0),
        ([("RateLimit", "\"a\";r=0;t=-5")], 200, 0),
        ([("RateLimit", "\"a\";r=0;t=999999999999999")], 200, 2_147_483_648),
        // Malformed.
        ([("RateLimit", "\"a\";r=0;t=5,")], 200, 0), ([("RateLimit", "\"a;r=0;t=5")], 200, 0),
        ([("RateLimit", "\"a\";r=0;t=9999999999999999")], 200, 0), ([("RateLimit", "")], 200, 0),
        ([("RateLimit", "\"a\";r=\"0\";t=5")], 200, 0), ([("RateLimit", "5;r=0;t=5")], 200, 0),
        // Earlier forms.
        ([("RateLimit-Remaining", "0"), ("RateLimit-Reset", "7")], 200, 7),
        ([("RateLimit-Limit", "100, 100;w=60"), ("RateLimit-Remaining", "0"), ("RateLimit-Reset", "7")], 200, 7),
        ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "7")], 200, 7),
        ([("X-RateLimit-Remaining", "3"), ("X-RateLimit-Reset", "7")], 200, 0),
        ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1800000030")], 200, 30),
        ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1800000030000")], 200, 30),
        ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1700000000")], 200, 0),
        ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1.2")], 200, 2),
        ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "99999999999999999999999")], 200, 2_147_483_648),
        ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "soon")], 200, 0),
        ([("X-RateLimit-Remaining", "-1"), ("X-RateLimit-Reset", "7")], 200, 0),
        ([("X-RateLimit-Remaining", "0 left"), ("X-RateLimit-Reset", "7")], 200, 0),
        ([("X-RateLimit-Remaining", "0")], 200, 0),
        // The server's clock differs from this one.
        (
            [
                ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "784111800"),
                ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ],
            200, 784_111_800
        ),
        (
            [
                ("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1800000030"),
                ("Date", "Fri, 15 Jan 2027 08:00:10 GMT"),
            ],
            200, 20
        ),
        ([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "7"), ("RateLimit", "a;r=0;t=3")], 200, 3),
    ]

    @Test(arguments: cases)
    func pauses(_ fields: [(String, String)], _ status: Int, _ seconds: Int) throws {
        #expect(try read(fields, status: status).pause == .seconds(seconds))
    }

    @Test(arguments: [
        ("", 0), ("a", 1), (" a , b\t,c ", 3), ("\"a\\\"b\\\\\";x", 1), ("*a;*x=?1;y=?0", 1),
        ("1;a=-1.5;b=@-5;c=:YQ==:", 1),
        ("a/b:c;x=token", 1), ("999999999999999", 1), ("-999999999999.999", 1), ("a;  b=1", 1), ("::", 1), ("\"\"", 1),
    ])
    func lists(_ text: String, _ count: Int) {
        #expect(StructuredList([text])?.items.count == count)
    }

    @Test(arguments: [
        ",", "a,", ",a", "a b", "a;", "a;B=1", "a; =1", "a;x=", "\"a", "\"a\\b\"", "\"ä\"", "1000000000000000", "1.",
        "1.2345",
        "1000000000000.1", "-", "--1", "?2", "?", ":a", ":*:", "@1.5", "@a", "(a b)", "ä", "a;x=(1)", "%\"a\"", "a ;x",
        "\"\u{7f}\"",
        "\"a\\\"",
    ])
    func malformedLists(_ text: String) {
        #expect(StructuredList([text]) == nil, "\(text)")
    }

    @Test func valuesOfItems() {
        let list = StructuredList(["a;x=1;y=2;x=3;z", "\"b\\\"\";n=-1.5;t=tok;b=:YQ==:;d=@7;f=?0"])
        #expect(
            list?.items == [
                .init(value: .token("a"), parameters: ["x": .integer(3), "y": .integer(2), "z": .boolean(true)]),
                .init(
                    value: .string("b\""),
                    parameters: [
                        "n": .decimal(-1.5), "t": .token("tok"), "b": .bytes("YQ=="), "d": .date(7),
                        "f": .boolean(false),
                    ]),
            ])
        let long = (0..<64).map { "a\($0)" }.joined(separator: ",")
        #expect(StructuredList([long])?.items.count == 64)
        #expect(StructuredList([long, "b"]) == nil)
    }

    /// No text makes the readers trap.
    @Test(arguments: 0..<10)
    func randomTexts(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let alphabet = Array("\"\\,;=:@?*%ab1 90.-t()\t".utf8)
        for _ in 0..<2000 {
            let text = String(
                decoding: (0..<Int.random(in: 0...20, using: &random)).map { _ in
                    alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                }, as: UTF8.self)
            let answer = try read([("RateLimit", text), ("RateLimit-Policy", text), ("X-RateLimit-Remaining", text)])
            #expect(answer.pause >= .zero)
        }
    }
}
