import ArgumentParser
import Errand

/// How to reach servers and how long to wait for them: what the subcommands that fetch have in common.
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

    @Option(help: "PEM file of trusted authorities.")
    var cacert: String?

    @Option(help: "PEM file of a client certificate.")
    var cert: String?

    @Option(help: "PEM file of its key; default: in the certificate's file.")
    var key: String?

    @Flag(name: [.customShort("k"), .long], help: "Accept any certificate. For tests alone.")
    var insecure = false

    @Option(help: "http://, https://, socks5:// or socks5h:// proxy. The environment is not looked at.")
    var proxy: String?

    @Option(help: "'host:port:address': connect there instead of asking DNS, as often as needed.")
    var resolve: [String] = []

    @Option(help: "Connect to this socket instead of the URL's host.")
    var unixSocket: String?

    var timeouts: Timeouts {
        Timeouts(
            connect: connectTimeout.duration, firstByte: firstByteTimeout?.duration, idle: idleTimeout.duration,
            total: timeout?.duration)
    }

    var connection: ConnectionOptions {
        var options = ConnectionOptions(httpVersion: httpVersion.policy, encodings: compressed ? .all : [])
        options.tls.caFile = cacert
        options.tls.clientCertificate = cert
        options.tls.clientKey = key
        options.tls.insecureAcceptAnyCertificate = insecure
        options.tls.insecureAcceptAnyHostName = insecure
        if let proxy { options.proxy = .url(proxy) }
        options.resolveOverrides = resolve
        options.unixSocketPath = unixSocket
        return options
    }
}
