import Foundation

/// A real nginx on free loopback ports, for tests: `Tests/Support/nginx-site` run as a child that ends when this
/// object or the process does.
///
/// It serves `/12b`, `/1k`, `/64k` and `/1m` (with ranges), the same under `/gzip/` and `/slow/`, `/status/NNN`,
/// `/redirect`, `/redirect/NNN`, `/redirect/loop`, `/echo`, `/dav/NAME` for PUT and DELETE, under `/cached/` what says for
/// how long, and `/files/NAME` for whatever is put into `www/`, with a line in `access.log` for each request: `X-Round`,
/// status, bytes of the body, `Range`. nginx and openssl have to be installed.
public final class NginxServer: Sendable {
    /// A port and what it speaks.
    public enum Port: String, Sendable, CaseIterable {
        /// HTTP/1.1 in clear text.
        case http
        /// HTTP/2 in clear text, without negotiation.
        case h2c
        /// TLS with a valid certificate for localhost, errand.test and 127.0.0.1; HTTP/2 by ALPN.
        case tls
        /// The same, of TLS 1.2 alone.
        case tls12
        /// TLS with a certificate that has expired.
        case expired
        /// TLS with a certificate of nobody.
        case selfSigned = "selfsigned"
        /// TLS with a certificate for other.test.
        case wrongHost = "wronghost"
        /// TLS that asks for a certificate of the CA.
        case clientCertificate = "clientcert"
    }

    /// Why the server did not start.
    public struct StartError: Error, CustomStringConvertible {
        /// What the script said.
        public let description: String
    }

    private let child: ChildProcess
    private let ports: [Port: Int]

    /// Where the server keeps `www/`, `certs/` and `nginx.sock`; removed at the end.
    public let directory: String

    /// Starts the server and waits, blocking the thread, until it listens.
    ///
    /// - Throws: ``StartError``, and `POSIXError` where no process can be had.
    public init() throws {
        let script = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Tests/Support/nginx-site").path
        let child = try ChildProcess(script)
        var ports: [Port: Int] = [:]
        var directory = ""
        var isReady = false
        while !isReady, let line = child.readLine() {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            if words == ["ready"] {
                isReady = true
            } else if words.count == 2, words[0] == "dir" {
                directory = words[1]
            } else if words.count == 2, let port = Port(rawValue: words[0]), let number = Int(words[1]) {
                ports[port] = number
            }
        }
        guard isReady, ports.count == Port.allCases.count else {
            child.stop()
            throw StartError(description: "\(script) did not start; what it said is on standard error")
        }
        self.child = child
        self.ports = ports
        self.directory = directory
    }

    deinit {
        child.stop()
    }

    /// A port's number.
    public func number(of port: Port) -> Int {
        ports[port] ?? 0
    }

    /// `http://HOST:PORT/path`, `https` where the port speaks TLS.
    public func url(_ path: String, port: Port = .http, host: String = "127.0.0.1") -> String {
        let scheme = port == .http || port == .h2c ? "http" : "https"
        return "\(scheme)://\(host):\(number(of: port))\(path)"
    }

    /// The CA's certificate, a PEM file.
    public var certificateAuthorityPath: String { "\(directory)/certs/ca.pem" }

    /// A certificate or key of the CA: `file("client.pem")`, `file("client.key")`, `file("valid.pin")`.
    public func certificate(_ name: String) -> String {
        "\(directory)/certs/\(name)"
    }
}
