import Foundation

/// A real nginx on free loopback ports, for tests. It runs `Tests/Support/nginx-site` as a child process, which ends
/// with this object or with the process, whichever ends first.
///
/// The server has `/12b`, `/1k`, `/64k` and `/1m` (with ranges), the same files under `/gzip/` and `/slow/`,
/// `/status/NNN`, `/redirect`, `/redirect/NNN`, `/redirect/loop`, `/echo`, and `/dav/NAME` for PUT and DELETE.
/// Responses under `/cached/` have caching headers. `/files/NAME` serves the files in `www/`, and writes a line to
/// `access.log` for each request: `X-Round`, status, bytes of the body, `Range`. nginx and openssl have to be
/// installed.
package final class NginxServer: Sendable {
    /// A port of the server, named after its protocol.
    package enum Port: String, Sendable, CaseIterable {
        /// HTTP/1.1 in clear text.
        case http
        /// HTTP/2 in clear text, without negotiation.
        case h2c
        /// TLS with a valid certificate for localhost, errand.test and 127.0.0.1; HTTP/2 by ALPN.
        case tls
        /// The same as `tls`, with TLS 1.2 only.
        case tls12
        /// TLS with a certificate that has expired.
        case expired
        /// TLS with a self-signed certificate.
        case selfSigned = "selfsigned"
        /// TLS with a certificate for other.test.
        case wrongHost = "wronghost"
        /// TLS that asks the client for a certificate issued by the test CA.
        case clientCertificate = "clientcert"
    }

    /// Why the server did not start.
    package struct StartError: Error, CustomStringConvertible {
        /// The message of the script.
        package let description: String
    }

    private let child: ChildProcess
    private let ports: [Port: Int]

    /// The directory that holds `www/`, `certs/` and `nginx.sock`. It is removed when the server ends.
    package let directory: String

    /// Starts the server and blocks the thread until it listens.
    ///
    /// - Throws: ``StartError``, and `POSIXError` if no process can be started.
    package init() throws {
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
            throw StartError(description: "\(script) did not start; standard error has its messages")
        }
        self.child = child
        self.ports = ports
        self.directory = directory
    }

    deinit {
        child.stop()
    }

    /// The number of a port.
    package func number(of port: Port) -> Int {
        ports[port] ?? 0
    }

    /// `http://HOST:PORT/path`, or `https` if the port uses TLS.
    package func url(_ path: String, port: Port = .http, host: String = "127.0.0.1") -> String {
        let scheme = port == .http || port == .h2c ? "http" : "https"
        return "\(scheme)://\(host):\(number(of: port))\(path)"
    }

    /// The path of the CA's certificate, a PEM file.
    package var certificateAuthorityPath: String { "\(directory)/certs/ca.pem" }

    /// The path of a certificate, key or pin: `certificate("client.pem")`, `certificate("client.key")`,
    /// `certificate("valid.pin")`.
    package func certificate(_ name: String) -> String {
        "\(directory)/certs/\(name)"
    }
}
