import ArgumentParser
import Errand
import Foundation

/// Options for connections and timeouts, shared by the subcommands that send requests.
struct TransferArguments: ParsableArguments {
    @Option(
        name: [.customShort("m"), .long],
        help: """
            For each URL or request as a whole, redirects and a download's further tries included; not for all of them \
            together: \(DurationArgument.rule). Default: none.
            """)
    var timeout: DurationArgument?

    @Option(help: "For look-up, TCP and TLS.")
    var connectTimeout = DurationArgument(seconds: 10)

    @Option(help: "From the request's last byte to the response's first. Default: none.")
    var firstByteTimeout: DurationArgument?

    @Option(help: "Longest silence.")
    var idleTimeout = DurationArgument(seconds: 60)

    @Option(help: "automatic, 1.1, 2 (by ALPN over TLS) or 2-prior-knowledge.")
    var httpVersion: HTTPVersionArgument = .automatic

    @Flag(help: "Ask for gzip, deflate, brotli and zstd, as far as this build knows them, and decode it.")
    var compressed = false

    @Option(help: "PEM file of trusted authorities.", completion: .file())
    var cacert: String?

    @Option(help: "PEM file of a client certificate.", completion: .file())
    var cert: String?

    @Option(help: "PEM file of its key; default: in the certificate's file.", completion: .file())
    var key: String?

    @Flag(name: [.customShort("k"), .long], help: "Accept any certificate. For tests alone.")
    var insecure = false

    @Option(help: "http://, https://, socks5:// or socks5h:// proxy. The environment is not looked at.")
    var proxy: String?

    @Option(help: "'host:port:address': connect there instead of asking DNS, as often as needed.")
    var resolve: [String] = []

    @Option(help: "Connect to this socket instead of the URL's host.", completion: .file())
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
                let what =
                    scheme == nil ? "needs a scheme, such as http://" : "is no http, https, socks5 or socks5h proxy"
                throw ToolError(.usage, "--proxy '\(shown)' \(what)")
            }
        }
        for entry in resolve {
            let parts = entry.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), UInt16(parts[1]) != nil else {
                throw ToolError(.usage, "--resolve '\(Shown.text(entry))' is no host:port:address")
            }
        }
        if unixSocket?.isEmpty == true { throw ToolError(.usage, "--unix-socket is empty") }
    }
}
