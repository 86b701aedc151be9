import Testing

@testable import ErrandModel

@Suite struct PercentEncodingTests {
    @Test(
        arguments: [
            ("", "", ""), ("a%20b%2Fc", "a b/c", "a b/c"), ("%e2%82%AC", "€", "€"), ("100%", "100%", nil),
            ("%4", "%4", nil), ("%zz%41", "%zzA", nil), ("%%41", "%A", nil),
            // A sign is no digit, although `UInt8.init(_:radix:)` takes one.
            ("%+1", "%+1", nil), ("%-0", "%-0", nil),
        ] as [(String, String, String?)])
    func decoding(text: String, lenient: String, strict: String?) {
        #expect(PercentEncoding.decoded(text) == lenient)
        #expect(PercentEncoding.decoded(text.utf8) == Array(lenient.utf8))
        #expect(PercentEncoding.decodedStrictly(text.utf8) == strict.map { Array($0.utf8) })
    }
}
