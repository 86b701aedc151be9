import ArgumentParser
import Errand
import Foundation

/// Options for connections and timeouts, shared by the subcommands that send requests.
struct TransferArguments: ParsableArguments {
    @Option(
        name: [.customShort("m"), .long],
        help: """
            Time limit for each URL or request, including its redirects and the retries of a download; with fetch \
            --retry, of each attempt of each hop: \(DurationArgument.rule). Default: none.
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

    @Option(help: "PEM file with the trusted CA certificates.", completion: .file())
    var cacert: String?

    @Flag(name: [.customShort("k"), .long], help: "Accept any server certificate. Only for tests.")
    var insecure = false

    @OptionGroup var way: ConnectionArguments

    var timeouts: Timeouts {
        Timeouts(
            connect: .after(connectTimeout.duration), firstByte: firstByteTimeout.map { .after($0.duration) },
            idle: .after(idleTimeout.duration), total: timeout.map { .after($0.duration) })
    }

    /// The options for connections. Throws an error that names the invalid option.
    func connection() throws(ToolError) -> ConnectionOptions {
        try way.connection(httpVersion: httpVersion, cacert: cacert, insecure: insecure)
    }
}

/// A header `Name: value`. The engine checks which characters a name and a value may have.
struct HeaderArgument: ExpressibleByArgument, Hashable, Sendable {
    let name: String
    let value: String

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":"), colon != argument.startIndex else { return nil }
        name = String(argument[..<colon])
        let rest = argument[argument.index(after: colon)...]
        value = String(rest.drop { $0 == " " || $0 == "\t" })
    }
}

/// The value of `--http-version`.
enum HTTPVersionArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case automatic
    case one = "1.1"
    case two = "2"
    case twoPriorKnowledge = "2-prior-knowledge"

    var policy: ConnectionOptions.HTTPVersionPolicy {
        switch self {
        case .automatic: .automatic
        case .one: .http1
        case .two: .http2OverTLS
        case .twoPriorKnowledge: .http2PriorKnowledge
        }
    }
}

/// `name:password`, from `-u` or from a URL. Without a colon the tool asks for the password on the terminal.
struct UserArgument: ExpressibleByArgument, Hashable, Sendable {
    let user: String
    let password: String

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else {
            guard let password = Self.ask("Password of '\(Shown.text(argument))': ") else { return nil }
            self.init(user: argument, password: password)
            return
        }
        self.init(user: String(argument[..<colon]), password: String(argument[argument.index(after: colon)...]))
    }

    init(user: String, password: String) {
        (self.user, self.password) = (user, password)
    }

    /// `nil` if there is no terminal, because `getpass` would then read standard input.
    private static func ask(_ prompt: String) -> String? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        close(terminal)
        guard let typed = getpass(prompt) else { return nil }
        return String(cString: typed)
    }
}
