import ArgumentParser
import Errand
import Foundation

/// How requests reach the server: client certificates, proxy, addresses. Shared by all subcommands that send requests.
struct ConnectionArguments: ParsableArguments {
    @Flag(help: "Request a compressed response (gzip, deflate, brotli or zstd, if supported) and decode it.")
    var compressed = false

    @Option(help: "PEM file with the client certificate.", completion: .file())
    var cert: String?

    @Option(help: "PEM file with the client key. Default: the file of the certificate.", completion: .file())
    var key: String?

    @Flag(
        help: """
            Write the TLS keys to the file that SSLKEYLOGFILE names, for a network analyser. Without this option the \
            variable is ignored.
            """)
    var keyLog = false

    @Option(help: "URL of an http, https, socks5 or socks5h proxy. Environment variables are ignored.")
    var proxy: String?

    @Option(help: "'host:port:address': connect to this address instead of resolving the host. Repeatable.")
    var resolve: [String] = []

    @Option(help: "Connect to this Unix domain socket instead of the URL's host.", completion: .file())
    var unixSocket: String?

    /// The options for connections. Throws an error that names the invalid option.
    func connection(
        httpVersion: HTTPVersionArgument, cacert: String?, insecure: Bool
    ) throws(ToolError) -> ConnectionOptions {
        try check(cacert)
        var options = ConnectionOptions(httpVersion: httpVersion.policy, encodings: compressed ? .all : [])
        options.tls.caFile = cacert.map { .value($0) }
        options.tls.clientCertificate = cert.map { .value($0) }
        options.tls.clientKey = key.map { .value($0) }
        options.tls.insecureAcceptAnyCertificate = insecure
        options.tls.insecureAcceptAnyHostName = insecure
        if keyLog { options.tls.keyLog = .environment }
        if let proxy { options.proxy = .url(proxy) }
        options.resolveOverrides = resolve
        options.unixSocketPath = unixSocket.map { .value($0) }
        return options
    }

    private func check(_ cacert: String?) throws(ToolError) {
        if keyLog, ProcessInfo.processInfo.environment["SSLKEYLOGFILE"] == nil {
            throw ToolError(.usage, "--key-log needs the environment variable SSLKEYLOGFILE, the name of a file")
        }
        for case let (name, path?) in [("--cacert", cacert), ("--cert", cert), ("--key", key)] {
            if let reason = FileCheck.whyUnreadable(path) { throw ToolError(.inputFile, "\(name) \(path): \(reason)") }
        }
        if let proxy {
            let scheme = proxy.range(of: "://").map { proxy[..<$0.lowerBound].lowercased() }
            guard let scheme, ["http", "https", "socks5", "socks5h"].contains(scheme) else {
                // The proxy URL may contain a password. Its position cannot be determined without a scheme.
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
