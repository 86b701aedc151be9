import Errand
import ErrandTesting
import HTTPTypes
import Testing

@testable import ErrandCaching

@Suite struct CacheControlTests {
    private func response(_ values: String...) -> CacheControl {
        .response(CacheWorld.fields(values.map { ("Cache-Control", $0) }))
    }

    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("007", 7), ("2147483647", 2_147_483_647), ("2147483648", 1 << 31),
            ("99999999999999999999999999", 1 << 31),
        ] as [(String, Int64)])
    func rfc9111_1_2_2_deltaSecondsSaturate(text: String, expected: Int64) {
        #expect(DeltaSeconds.parse(text) == expected)
    }

    @Test(arguments: ["", " 1", "-1", "+1", "1.5", "1e3", "0x10", "١", "1 2", "\"1\""])
    func rfc9111_1_2_2_deltaSecondsAreDigitsAlone(text: String) {
        #expect(DeltaSeconds.parse(text) == nil)
    }

    @Test func rfc9111_5_2_directivesAreNamesInAnyCase() {
        let control = response("MAX-AGE=5, No-Store,PUBLIC", "must-Revalidate , immutable")
        #expect(control.maxAge == 5)
        #expect(control.flags == [.noStore, .public, .mustRevalidate, .immutable])
    }

    @Test func rfc9111_5_2_bothFormsOfAnArgumentCount() {
        #expect(response("max-age=\"5\"").maxAge == 5)
        #expect(response("max-age=\"\\5\"").maxAge == 5)
        #expect(response("private=set-cookie").private == .fields(["set-cookie"]))
        #expect(response("private=\"Set-Cookie, X-A\"").private == .fields(["set-cookie", "x-a"]))
    }

    @Test func rfc9111_5_2_3_unknownDirectivesArePassedOver() {
        #expect(response("foo, bar=1, baz=\"no-store, max-age=1\", max-age=3").maxAge == 3)
        #expect(!response("baz=\"no-store\"").flags.contains(.noStore))
        #expect(response("no-storey, xno-store").flags.isEmpty)
    }

    @Test(arguments: [
        "max-age", "max-age=", "max-age=a", "max-age=-1", "max-age=1.0", "max-age=\"", "max-age=\"10", "max-age=1 0",
        "max-age=\"1\"0", "max-age=a, max-age=5",
    ])
    func rfc9111_4_2_1_whatCannotBeReadIsStale(value: String) {
        #expect(response(value).maxAge == 0, "\(value)")
    }

    @Test func rfc9111_4_2_1_theFirstOfTwoCounts() {
        #expect(response("max-age=1, max-age=2").maxAge == 1)
        #expect(response("s-maxage=7", "s-maxage=9").sharedMaxAge == 7)
    }

    @Test func rfc9111_5_2_1_2_and_5_2_1_3_nonsenseAllowsNothing() {
        #expect(response("min-fresh=x").minFresh == CacheControl.longest)
        #expect(response("max-stale=x").maxStale == nil)
        #expect(response("stale-while-revalidate=x").staleWhileRevalidate == nil)
        #expect(response("stale-if-error").staleIfError == nil)
    }

    @Test func rfc9111_5_2_1_2_maxStaleMayHaveNoValue() {
        #expect(response("max-stale").maxStale == CacheControl.longest)
        #expect(response("max-stale=3").maxStale == 3)
    }

    @Test func rfc9111_5_2_2_4_noCacheNamesFields() {
        #expect(response("no-cache").noCache == .everything)
        #expect(response("no-cache=\"a, b\"").noCache == .fields(["a", "b"]))
        #expect(response("no-cache=a, no-cache=b").noCache == .fields(["a", "b"]))
        #expect(response("no-cache=a, no-cache").noCache == .everything)
        // What announces names and gives none is the whole.
        for value in ["no-cache=", "no-cache=\"\"", "no-cache=\", ,\"", "no-cache=\"(\"", "no-cache=\"a\"b"] {
            #expect(response(value).noCache == .everything, "\(value)")
        }
    }

    /// A quote left open hides no directive behind it.
    @Test func rfc9111_5_2_anOpenQuoteHidesNothing() {
        let control = response("a=\"b, no-store, private=\"c, max-age=\"9")
        #expect(control.private == .everything && control.flags.contains(.noStore) && control.maxAge == 0)
        #expect(response("max-age=\"10, no-store").flags.contains(.noStore))
        #expect(response("=, \"x\", no-store").flags.contains(.noStore))
        #expect(response("no-store foo").flags.contains(.noStore))
    }

    @Test func rfc9111_5_4_pragmaCountsWithoutCacheControl() {
        #expect(CacheControl.request(CacheWorld.fields([("Pragma", "x, No-Cache")])).noCache == .everything)
        let both = CacheWorld.fields([("Pragma", "no-cache"), ("Cache-Control", "max-age=1")])
        #expect(CacheControl.request(both).noCache == .nothing)
        #expect(CacheControl.request(CacheWorld.fields([("Pragma", "foo=\"no-cache\"")])).noCache == .nothing)
        // It is a field of requests.
        #expect(CacheControl.response(CacheWorld.fields([("Pragma", "no-cache")])).noCache == .nothing)
    }

    @Test func garbageIsBorne() {
        var random = SeededGenerator(seed: 9111)
        let pieces = [
            "max-age", "no-cache", "=", "\"", "\\", ",", " ", "\t", "5", "99999999999999999999", "private", "é", "(",
            "no-store", "stale-if-error=", "-1", "\u{0}",
        ]
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 0...16, using: &random))
                .map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            let control = response(text)
            for seconds in [control.maxAge, control.sharedMaxAge, control.minFresh, control.staleIfError] {
                #expect((0...CacheControl.longest).contains(seconds ?? 0), "\(text.debugDescription)")
            }
        }
        // In time that grows with the length alone.
        for piece in ["a=\",", "a=\"x\"y,", "a=\"\\\",", "\"", "a=\" "] {
            let long = String(repeating: piece, count: 10_000)
            #expect(response(long + "\"\", no-store").flags.contains(.noStore), "\(piece)")
        }
    }
}
