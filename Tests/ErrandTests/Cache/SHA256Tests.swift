import Errand
import Testing

@testable import ErrandModel

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

    /// Where libcurl has no OpenSSL 3 the digests are the same: one written by either is read by the other.
    @Test func withoutLibcryptoDigestsAreTheSame() throws {
        let library = try #require(Libcrypto.loaded, "libcurl has loaded no OpenSSL 3")
        for count in Array(0...130) + [1000, 4096, 65537] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ count) }
            let expected = library.digest(of: bytes)
            // Blocks that come whole, in parts, and with what the block before left.
            for size in [1, 7, 63, 64, 65, 100_000] {
                guard var digest = SHA256(nil) else {
                    Issue.record("no SHA-256")
                    return
                }
                var rest = bytes[...]
                while !rest.isEmpty {
                    let isTaken = digest.update(Array(rest.prefix(size)))
                    #expect(isTaken)
                    rest = rest.dropFirst(size)
                }
                let soFar = digest.digest()
                let whole = digest.finish()
                #expect(soFar == expected && whole == expected, "\(count) bytes, \(size) at a time")
            }
        }
    }

    @Test func aLibraryThatIsNotLoadedIsNotUsed() {
        #expect(Libcrypto(soname: "libcrypto.so.0") == nil)
    }
}
