import Errand
import ErrandTesting
import FoundationEssentials
import HTTPTypes
import Testing

@testable import ErrandModel

/// The text; that a shell's curl sends what the engine sends is for the integration tests.
@Suite struct CurlCommandTests {
    private func description(
        _ url: String = "http://h/", method: HTTPRequest.Method = .get, headers: HTTPFields = [.userAgent: "t"],
        body: RequestDescription.Body = .none, timeouts: Timeouts = .unlimited, connection: ConnectionOptions? = nil
    ) throws -> RequestDescription {
        RequestDescription(
            method: method, url: url, headers: HeaderBlock(headers), body: body, options: [],
            settings: try TransferSettings(
                timeouts: timeouts, limits: Limits(), priority: .normal, connection: connection))
    }

    private func text(
        _ description: RequestDescription, redaction: Redaction = .standard, bodyLimit: Int = 65536
    ) -> String {
        let connection = ConnectionOptions(encodings: [], proxy: .environment)
        return CurlCommand(description, connection: connection, redaction: redaction, bodyLimit: bodyLimit).description
    }

    @Test func methodsAndBodies() throws {
        let table: [(HTTPRequest.Method, RequestDescription.Body, before: String, after: String)] = [
            (.get, .none, "", ""), (.head, .none, "--head ", ""), (.delete, .none, "-X DELETE ", ""),
            (.post, .none, "", "-H Content-Type: -H Expect: --data-raw '' "),
            (.put, .none, "-X PUT ", "-H Content-Type: -H Expect: --data-raw '' "),
            (
                .put, .bytes(Array("it's".utf8)), "-X PUT ",
                #"-H Content-Type: -H Expect: --data-raw 'it'\''s' "#
            ),
            (.get, .bytes(Array("@x".utf8)), "-X GET ", "-H Content-Type: -H Expect: --data-raw @x "),
            (
                .post, .file(path: "-a b", offset: 0, length: nil), "",
                "-H Content-Type: -H Expect: --data-binary '@./-a b' "
            ),
            (.post, .stream(length: nil), "-X POST ", "-H Content-Type: -H Expect: -T - "),
            (.put, .stream(length: nil), "-X PUT ", "-H Content-Type: -H Expect: -T - "),
        ]
        for (method, body, before, after) in table {
            let command = text(try description(method: method, body: body))
            var expected = "curl -q \(before)-H 'User-Agent: t' \(after)http://h/"
            if case .stream = body { expected += " # the body, a stream, on standard input" }
            #expect(command == expected)
        }
    }

    @Test func bytesThatNoArgumentCanHoldComeThroughAPipe() throws {
        let command = text(try description(method: .post, body: .bytes([0, 0x25, 0x27, 0x5C, 0xFF, 0x41])))
        #expect(
            command == #"printf '\000%%\047\134\377A' | curl -q -H 'User-Agent: t' -H Content-Type: -H Expect: "#
                + "--data-binary @- http://h/")
        let part = text(try description(method: .post, body: .file(path: "f", offset: 2, length: 5)))
        #expect(part.hasPrefix("tail -c +3 f | head -c 5 | curl "))
        let long = text(try description(method: .post, body: .bytes([UInt8](repeating: 0x61, count: 9))), bodyLimit: 8)
        #expect(long.hasSuffix("--data-binary @- http://h/ # the body's 9 bytes on standard input"))
    }

    /// A body that is left out is not searched for secrets, so it counts as it is.
    @Test func theLimitIsOfTheBodyThatIsSent() throws {
        let secret = Array(#"{"password":"\#(String(repeating: "x", count: 100))"}"#.utf8)
        let request = try description(method: .post, headers: [.contentType: "application/json"], body: .bytes(secret))
        #expect(
            text(request, bodyLimit: 50).hasSuffix("http://h/ # the body's \(secret.count) bytes on standard input"))
        #expect(text(request, bodyLimit: secret.count).contains(#"{"password":"REDACTED"}"#))
        let data = try description(method: .post, body: .data(Data(secret)))
        #expect(text(data, bodyLimit: 50).hasSuffix("# the body's \(secret.count) bytes on standard input"))
    }

    @Test func secretsAreHidden() throws {
        let headers: HTTPFields = [
            .authorization: "Bearer s3cret", .cookie: "s3cret", .contentType: "application/json",
        ]
        let secret = try description(
            "https://u:s3cret@h/?key=s3cret", method: .post, headers: headers,
            body: .bytes(Array(#"{"password":"s3cret"}"#.utf8)),
            connection: .init(
                tls: .init(clientCertificate: "c", clientKeyPassword: "s3cret"), proxy: .url("http://u:s3cret@p:1")))
        #expect(!text(secret).contains("s3cret"))
        #expect(text(secret).contains("Authorization: REDACTED"))
        #expect(text(secret, redaction: .none).split(separator: "s3cret").count == 8)
    }

    @Test func digest() throws {
        var request = try description()
        request.authentication = .digest(username: "ada", password: "it's")
        #expect(text(request) == "curl -q --digest --user ada:REDACTED -H 'User-Agent: t' http://h/")
        #expect(text(request, redaction: .none).contains(#"--user 'ada:it'\''s' "#))
    }

    @Test func connectionOptions() throws {
        var options = ConnectionOptions(
            httpVersion: .http2OverTLS, encodings: [.gzip, .brotli],
            tls: .init(
                caFile: "ca", clientCertificate: "a:b", clientKey: "k", pinnedKeys: ["AA=", "sha256//BB="],
                minimumVersion: .v1_3, insecureAcceptAnyCertificate: true),
            proxy: .url("https://p:1", bypass: ["a", "b"]), resolveOverrides: ["h:1:127.0.0.1"],
            unixSocketPath: "/s", localInterface: "lo", tcpKeepaliveSeconds: 5)
        options.tls.proxyCAFile = "own"
        let timeouts = Timeouts(connect: .milliseconds(250), idle: .milliseconds(1001), total: .seconds(3))
        let words = text(try description("https://h/[1]/.a", timeouts: timeouts, connection: options))
        #expect(
            words == "curl -q --http2 --compressed -H 'Accept-Encoding: gzip, br' --tlsv1.3 --cacert ca --cert 'a\\:b' "
                + "--key k --pinnedpubkey 'sha256//AA=;sha256//BB=' -k --proxy https://p:1 --noproxy a,b "
                + "--proxy-cacert own --resolve h:1:127.0.0.1 --unix-socket /s --interface lo --keepalive-time 5 "
                + "--connect-timeout 0.250 --max-time 3 --speed-limit 1 --speed-time 2 -H 'User-Agent: t' -g "
                + "--path-as-is 'https://h/[1]/.a'")
        let plain = text(try description(connection: .init(httpVersion: .http2PriorKnowledge, encodings: [])))
        #expect(plain == "curl -q --http2-prior-knowledge --noproxy '*' -H 'User-Agent: t' http://h/")
        let usual = CurlCommand(try description(), connection: ConnectionOptions(proxy: .environment)).description
        #expect(
            usual == "curl -q --compressed -H 'Accept-Encoding: gzip, deflate, br, zstd' -H 'User-Agent: t' http://h/")
    }

    @Test func oddHeaders() throws {
        let fields = HTTPFields([
            HTTPField(name: try #require(.init("X-Empty")), value: ""),
            HTTPField(name: try #require(.init("X-Odd")), lenientValue: [0x22, 0x24, 0x60, 0x5C, 0xE9]),
        ])
        let command = text(try description(headers: fields))
        #expect(command == #"curl -q -H 'X-Empty;' -H "$(printf 'X-Odd: "$`\134\351')" -H User-Agent: http://h/"#)
    }

    @Test func ofRequestsAndCommands() async throws {
        let client = Client.stubbed(.init { _ in .response(status: 200) })
        let command = try client.curlCommand(for: GetText(path: "a?token=x"))
        #expect(command.hasSuffix("-H 'User-Agent: errand/0.1' 'http://test/a?token=REDACTED'"))
        #expect(throws: ErrandError.invalidURL) { try client.curlCommand(for: GetText(path: "a\0")) }
        let request = client.request(GetText())
        #expect(request.curlCommand() == nil)
        request.start()
        await client.shutdown()
        #expect(request.curlCommand(redaction: .none)?.hasSuffix("http://test/text") == true)
    }
}
