package import ArgumentParser
import Foundation

/// The command line of every program that scripts/bench runs.
package struct RivalArguments: ParsableArguments {
    @Argument(help: "The URL to request, http or https.")
    package var url: String

    @Option(name: .customShort("c"), help: "Number of requests in flight; with --rate, the maximum.")
    package var connections = 64

    @Option(name: .customShort("n"), help: "Number of requests to measure.")
    package var requests = 10_000

    @Option(name: .customShort("w"), help: "Number of requests before the measurement.")
    package var warmUp = 0

    @Option(help: "Method of the requests. Default: GET, or POST with a body.")
    package var method: String?

    @Option(help: ArgumentHelp("File with the body of each request.", valueName: "file"))
    package var bodyFile: String?

    @Option(name: .customShort("H"), help: ArgumentHelp("Header field, 'Name: value'. Repeatable.", valueName: "field"))
    package var fields: [String] = []

    @Flag(name: .customLong("http2"), help: "Use HTTP/2, by ALPN over TLS. Default: HTTP/1.1.")
    package var isHTTP2 = false

    @Option(help: ArgumentHelp("PEM file with the trusted CA certificates.", valueName: "pem"))
    package var cacert: String?

    @Option(help: "Open loop: requests per second. Latency counts from the due time of a request.")
    package var rate: Double?

    @Option(
        help:
            "With --rate: the interval in microseconds at which due requests are sent. 0: each request at its own time."
    )
    package var tick: UInt64 = 0

    @Flag(name: .customLong("typed"), help: "POST a value as JSON and decode the response as JSON.")
    package var isTyped = false

    @Flag(
        name: .customLong("rich"),
        help: "Set fields and deadlines for each request, read the response as text, add an observer and a log line.")
    package var isRich = false

    package init() {}

    package mutating func validate() throws {
        guard (1...100_000).contains(connections) else { throw ValidationError("-c is 1 to 100,000") }
        guard (1...Int.max / 4).contains(requests) else { throw ValidationError("-n must be 1 or more") }
        guard (0...Int.max / 4).contains(warmUp) else { throw ValidationError("-w must be 0 or more") }
        if let rate, !(0.001...10_000_000).contains(rate) {
            throw ValidationError("--rate must be 0.001 to 10,000,000 requests per second")
        }
        guard tick <= 1_000_000 else { throw ValidationError("--tick must be 0 to 1,000,000 microseconds") }
        if isTyped, bodyFile != nil {
            throw ValidationError("--typed sets its own body and cannot be used with --body-file")
        }
        if isHTTP2, URL(string: url)?.scheme?.lowercased() != "https" {
            throw ValidationError("--http2 is negotiated by TLS and requires an https URL")
        }
    }
}
