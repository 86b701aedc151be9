import Testing

@testable import Errand

@Suite struct SHA256Tests {
    /// FIPS 180-4's examples.
    @Test func knownDigests() throws {
        let known = [
            "": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "abc": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq":
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        ]
        for (text, digest) in known { #expect(SHA256.digest(of: Array(text.utf8)).map(SHA256.hex) == digest) }
    }

    @Test func aDigestMayBeTakenOnTheWay() throws {
        guard var hash = SHA256() else {
            Issue.record("no SHA-256")
            return
        }
        let updated = hash.update(Array("ab".utf8))
        #expect(updated && hash.digest() == SHA256.digest(of: Array("ab".utf8)))
        let again = hash.update(Array("c".utf8))
        #expect(again && hash.digest() == SHA256.digest(of: Array("abc".utf8)))
    }
}
