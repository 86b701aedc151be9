import ArgumentParser
import Errand
import Foundation

struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sends requests and prints or saves what comes back.",
        discussion: """
            Several URLs are fetched at the same time and printed in the order given, each as it comes. A URL without a \
            scheme is http. Without -L, a redirect is a response like any other.

            --json-output prints one JSON object a line and URL: url, final_url, status, http_version, headers, \
            body_bytes, wire_bytes_received, wire_bytes_sent, redirects, connection_reused, remote_address, \
            timings_microseconds {queue, resolved, connected, secured, sent, first_byte, total}, output, error {kind, \
            message, exit_code, curl_code, errno}. Bodies are then saved by -o or dropped; in URLs passwords and tokens are hidden.
            """)

    @Argument(help: "http or https URLs.")
    var urls: [URLArgument]

    @Option(name: [.customShort("X"), .customLong("method")], help: "Method. Default: GET, or POST with a body.")
    var method: String?

    @Option(name: [.customShort("H"), .customLong("header")], help: "'Name: value', as often as needed.")
    var headers: [HeaderArgument] = []

    @Option(
        name: .shortAndLong,
        help: """
            Body, '@file' for a file's bytes, '@-' for standard input, sent as it comes. Several are joined by '&'. Form \
            type unless -H says otherwise.
            """)
    var data: [String] = []

    @Option(help: "The same as JSON: it is checked, and sent as application/json.")
    var json: String?

    @Option(
        name: [.customShort("F"), .long],
        help: """
            A part of a multipart form, as often as needed: NAME=TEXT, NAME=@FILE, or NAME=<FILE for the file's text; with \
            ';type=' and ';filename=' behind it.
            """)
    var form: [String] = []

    @Option(
        name: [.customShort("T"), .long],
        help: "Send this file by PUT, '-' for standard input; its name is added to a URL that ends with '/'.",
        completion: .file())
    var uploadFile: String?

    @Option(
        name: .shortAndLong,
        help: "USER:PASSWORD, sent at once (Basic), and in answer to Digest; without ':' the password is asked for.")
    var user: UserArgument?

    @Flag(help: "Send the credentials by Digest alone.")
    var digest = false

    @Option(
        name: [.customShort("b"), .customLong("cookie")],
        help: "NAME=VALUE to send, alone, or a cookie file to read; as often as needed.",
        completion: .file())
    var cookies: [String] = []

    @Option(
        name: [.customShort("c"), .long], help: "Keep cookies, and write them to this file at the end.",
        completion: .file())
    var cookieJar: String?

    @Option(
        name: .shortAndLong, help: "Save the body here; once for each URL, in their order. '-' is standard output.",
        completion: .file())
    var output: [String] = []

    @Flag(name: .shortAndLong, help: "Print the response head before the body.")
    var include = false

    @Flag(name: [.customShort("I"), .long], help: "Ask for the head alone (HEAD), and print it.")
    var head = false

    @Flag(name: .shortAndLong, help: "Tell on standard error what is sent and received; secrets are hidden.")
    var verbose = false

    @Flag(name: [.customShort("L"), .customLong("location")], help: "Follow redirects.")
    var location = false

    @Option(help: "Redirects to follow at most.")
    var maxRedirects: Int = 10

    @Flag(name: .shortAndLong, help: "A status of 400 or above is a failure, its body is not printed.")
    var fail = false

    @OptionGroup var transfer: TransferArguments

    @Option(help: "Bytes of a body at most, such as 10m or 2g. Default: none.")
    var maxBody: ByteCountArgument?

    @Option(help: "URLs fetched at the same time at most.")
    var parallel: Int = 16

    @Flag(help: "One JSON object a line instead of heads and bodies.")
    var jsonOutput = false

    @Flag(inversion: .prefixedNo, help: "The progress bar, shown where standard error is a terminal.")
    var progress = true

    func run() async throws {
        try await ToolError.reporting {
            let jobs = try jobs()
            let settings = try settings(jobs)
            let runner = try FetchRunner(
                jobs: jobs, settings: settings,
                printer: FetchPrinter(includesHead: include || head, isJSON: jsonOutput),
                showsProgress: progress)
            try await runner.run()
        }
    }
}
