import Foundation
import Testing

@testable import ErrandModel

/// How the lines of the core's record become a trace.
@Suite struct ConnectionTraceTests {
    private func trace(_ lines: String...) -> ConnectionTrace {
        ConnectionTrace(lines: lines.joined(separator: "\r\n").utf8)
    }

    @Test func nothingIsKnownInClearText() {
        #expect(trace() == ConnectionTrace())
        #expect(trace("proxy: http://127.0.0.1:3128", "").proxy == "http://127.0.0.1:3128")
    }

    @Test func aSessionWithItsCertificates() throws {
        let tls = try #require(
            trace(
                "tls-version: TLSv1.3", "tls-cipher: TLS_AES_256_GCM_SHA384", "tls-protocol: h2", "tls-resumed: 1",
                "tls-error: self-signed certificate", "subject: O=A: B, CN=a.test", "issuer: CN=ca",
                "not-before: 1700000000", "not-after: 1800000000", "sha256: 00ff", "name: DNS:a.test", "name: IP:::1",
                "subject: ", "issuer: CN=root", "future: x"
            ).tls)
        #expect(tls.version == "TLSv1.3" && tls.cipher == "TLS_AES_256_GCM_SHA384")
        #expect(tls.applicationProtocol == "h2" && tls.isResumed)
        #expect(tls.verificationError == "self-signed certificate" && tls.certificates.count == 2)
        let own = try #require(tls.certificates.first)
        #expect(own.subject == "O=A: B, CN=a.test" && own.issuer == "CN=ca" && own.sha256 == "00ff")
        #expect(own.notBefore == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(own.notAfter == Date(timeIntervalSince1970: 1_800_000_000))
        #expect(own.names == ["DNS:a.test", "IP:::1"])
        #expect(tls.certificates[1].subject.isEmpty && tls.certificates[1].issuer == "CN=root")
    }

    @Test func linesThatAreNoneAreLeftOut() {
        #expect(
            trace("", "no colon", "issuer: before any subject", "tls-cipher: without a version") == ConnectionTrace())
        #expect(
            trace("tls-version: TLSv1.2", "subject: CN=a", "not-after: soon").tls?.certificates.first?.notAfter == nil)
    }
}
