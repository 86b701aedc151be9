import ArgumentParser
import Errand
import Foundation

/// Options for connections and timeouts, shared by the subcommands that send requests.
struct TransferArguments: ParsableArguments {
    @Option(
        name: [.customShort("m"), .long],
        help: """
            Time limit for each URL or request, including its redirects and the retries of a download: \
            \(DurationArgument.rule). Default: none.
            """)
    var timeout: DurationArgument?

    @Option(help: "Time limit for the name lookup, the TCP connection and the TLS handshake.")
    var connectTimeout = DurationArgument(seconds: 10)

    @Option(help: "Time limit from the last byte of the request to the first byte of the response. Default: none.")
    var firstByteTimeout: DurationArgument?

    @Option(help: "Longest time without any data.")
    var idleTimeout = DurationArgument(seconds: 60)

    @Option(help: "HTTP version: automatic, 1.1, 2 (by ALPN over TLS) or 2-prior-knowledge.")
    var httpVersion: HTTPVersionArgument = .automatic

    @Flag(help: "Request a compressed response (gzip, deflate, brotli or zstd, if supported) and decode it.")
    var compressed = false

    @Option(help: "PEM file with the trusted CA certificates.", completion: .file())
    var cacert: String?

    @Option(help: "PEM file with the client certificate.", completion: .file())
    var cert: String?

    @Option(help: "PEM file with the client key. Default: the file of the certificate.", completion: .file())
    var key: String?

    @Flag(name: [.customShort("k"), .long], help: "Accept any server certificate. Only for tests.")
    var insecure = false

    @Option(help: "URL of an http, https, socks5 or socks5h proxy. Environment variables are ignored.")
    var proxy: String?

    @Option(help: "'host:port:address': connect to this address instead of resolving the host. Repeatable.")
    var resolve: [String] = []

    @Option(help: "Connect to this Unix domain socket instead of the URL's host.", completion: .file())
    var unixSocket: String?

    var timeouts: Timeouts {
        Timeouts(
            connect: .after(connectTimeout.duration), firstByte: firstByteTimeout.map { .after($0.duration) },
            idle: .after(idleTimeout.duration), total: timeout.map { .after($0.duration) })
    }

    /// The options for connections. Throws an error that names the invalid option.
    func connection() throws(ToolError) -> ConnectionOptions {
        try check()
        var options = ConnectionOptions(httpVersion: httpVersion.policy, encodings: compressed ? .all : [])
        options.tls.caFile = cacert.map { .value($0) }
        options.tls.clientCertificate = cert.map { .value($0) }
        options.tls.clientKey = key.map { .value($0) }
        options.tls.insecureAcceptAnyCertificate = insecure
        options.tls.insecureAcceptAnyHostName = insecure
        if let proxy { options.proxy = .url(proxy) }
        options.resolveOverrides = resolve
        options.unixSocketPath = unixSocket.map { .value($0) }
        return options
    }

    private func check() throws(ToolError) {
        for case let (name, path?) in [("--cacert", cacert), ("--cert", cert), ("--key", key)] {
            if let reason = FileCheck.whyUnreadable(path) { throw ToolError(.inputFile, "\(name) \(path): \(reason)") }
        }
        if let proxy {
            let scheme = proxy.range(of: "://").map { proxy[..<$0.lowerBound].lowercased() }
            guard let scheme, ["http", "https", "socks5", "socks5h"].contains(scheme) else {
                // The proxy URL may contain a password, whose position cannot be determined without a scheme.
                let shown = Shown.url(scheme == nil ? "http://" + proxy : proxy).trimmingPrefix(
                    scheme == nil ? "http://" : "")
                let problem =
                    scheme == nil ? "needs a scheme, such as http://" : "is not an http, https, socks5 or socks5h URL"
                throw ToolError(.usage, "--proxy '\(shown)' \(problem)")
            }
        }
        for entry in resolve {
            let parts = entry.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), UInt16(parts[1]) != nil else {
                throw ToolError(.usage, "--resolve '\(Shown.text(entry))' does not have the form host:port:address")
            }
        }
        if unixSocket?.isEmpty == true { throw ToolError(.usage, "--unix-socket is empty") }
    }
}
