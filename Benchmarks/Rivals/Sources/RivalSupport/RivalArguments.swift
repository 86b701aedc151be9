package import ArgumentParser
import Foundation

/// The command line of every program that scripts/bench runs.
package struct RivalArguments: ParsableArguments {
    @Argument(help: "An http or https URL.")
    package var url: String

    @Option(name: .customShort("c"), help: "Requests in flight; with --rate, at most.")
    package var connections = 64

    @Option(name: .customShort("n"), help: "Requests to measure.")
    package var requests = 10_000

    @Option(name: .customShort("w"), help: "Requests before those, not counted.")
    package var warmUp = 0

    @Option(help: "Method. Default: GET, or POST with a body.")
    package var method: String?

    @Option(help: ArgumentHelp("Body of each request: a file's bytes.", valueName: "file"))
    package var bodyFile: String?

    @Option(name: .customShort("H"), help: ArgumentHelp("'Name: value', as often as needed.", valueName: "field"))
    package var fields: [String] = []

    @Flag(name: .customLong("http2"), help: "HTTP/2 by ALPN over TLS. Without: HTTP/1.1.")
    package var isHTTP2 = false

    @Option(help: ArgumentHelp("File of the trusted authorities.", valueName: "pem"))
    package var cacert: String?

    @Option(help: "Open loop: requests a second. Latency counts from a request's due time.")
    package var rate: Double?

    @Option(help: "With --rate: send what is due so often, in microseconds. 0: each request at its own time.")
    package var tick: UInt64 = 0

    @Flag(name: .customLong("typed"), help: "POST a value as JSON, and decode the answer as one.")
    package var isTyped = false

    @Flag(
        name: .customLong("rich"),
        help: "Fields and deadlines set for each request, the answer read as text, an observer, a log line.")
    package var isRich = false

    package init() {}

    package mutating func validate() throws {
        guard (1...100_000).contains(connections) else { throw ValidationError("-c is 1 to 100,000") }
        guard (1...Int.max / 4).contains(requests) else { throw ValidationError("-n is 1 and above") }
        guard (0...Int.max / 4).contains(warmUp) else { throw ValidationError("-w is 0 and above") }
        if let rate, !(0.001...10_000_000).contains(rate) {
            throw ValidationError("--rate is 0.001 to 10,000,000 requests a second")
        }
        guard tick <= 1_000_000 else { throw ValidationError("--tick is 0 to 1,000,000 microseconds") }
        if isTyped, bodyFile != nil { throw ValidationError("--typed has a body of its own: not with --body-file") }
        if isHTTP2, URL(string: url)?.scheme?.lowercased() != "https" {
            throw ValidationError("--http2 is agreed on by TLS: it needs an https URL")
        }
    }
}
