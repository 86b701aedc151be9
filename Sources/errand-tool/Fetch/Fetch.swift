import ArgumentParser
import Errand
import Foundation

struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sends requests and prints or saves the responses.",
        discussion: """
            Several URLs are fetched at the same time, and their responses are printed in the given order as they \
            arrive. A URL without a scheme is http. Without -L, a redirect is a response like any other.

            --json-output prints one JSON object per line and URL: url, final_url, status, http_version, headers, \
            body_bytes, wire_bytes_received, wire_bytes_sent, redirects, retries, connection_reused, remote_address, \
            timings_microseconds {queue, resolved, connected, secured, sent, first_byte, total}, output, error {kind, \
            message, exit_code, curl_code, errno}. Bodies are saved by -o, otherwise discarded. Passwords and tokens \
            in URLs are hidden.

            With --retry, each retry is reported on standard error. Only the last response is printed, and it or the \
            last failure decides the exit code. A file of -o is begun anew. A response of which a part was printed, or \
            that goes into a pipe or device of -o, is not requested again once its body has begun, nor is a request \
            whose body was read from a pipe.
            """)

    @Argument(help: "The URLs to request, http or https.")
    var urls: [URLArgument]

    @Option(
        name: [.customShort("X"), .customLong("method")],
        help: "Method of the requests. Default: GET, or POST with a body.")
    var method: String?

    @Option(name: [.customShort("H"), .customLong("header")], help: "Header field, 'Name: value'. Repeatable.")
    var headers: [HeaderArgument] = []

    @Option(
        name: .shortAndLong,
        help: """
            Body, or '@file' for the bytes of a file, or '@-' for standard input, which is sent as it arrives. Several \
            are joined by '&'. The type is that of a form unless -H sets another.
            """)
    var data: [String] = []

    @Option(help: "Body in JSON, as with -d. It is validated and sent as application/json.")
    var json: String?

    @Option(
        name: [.customShort("F"), .long],
        help: """
            Part of a multipart form: NAME=TEXT, NAME=@FILE, or NAME=<FILE for the text of the file, with ';type=' and \
            ';filename=' after it. Repeatable.
            """)
    var form: [String] = []

    @Option(
        name: [.customShort("T"), .long],
        help:
            "Send this file by PUT, or '-' for standard input. The file name is appended to a URL that ends with '/'.",
        completion: .file())
    var uploadFile: String?

    @Option(
        name: .shortAndLong,
        help: """
            USER:PASSWORD, sent as Basic at once, and used to answer a Digest challenge. Without ':' the tool prompts \
            for the password.
            """)
    var user: UserArgument?

    @Flag(help: "Send the credentials only by Digest.")
    var digest = false

    @Option(
        name: [.customShort("b"), .customLong("cookie")],
        help: "Cookie to send, NAME=VALUE, or a cookie file to read. Repeatable.",
        completion: .file())
    var cookies: [String] = []

    @Option(
        name: [.customShort("c"), .long], help: "Store cookies, and write them to this file at the end.",
        completion: .file())
    var cookieJar: String?

    @Option(
        name: .shortAndLong, help: "File for the body, once for each URL, in order. '-' is standard output.",
        completion: .file())
    var output: [String] = []

    @Flag(name: .shortAndLong, help: "Print the response head before the body.")
    var include = false

    @Flag(name: [.customShort("I"), .long], help: "Request only the head (HEAD) and print it.")
    var head = false

    @Flag(name: .shortAndLong, help: "Show what is sent and received on standard error. Secrets are hidden.")
    var verbose = false

    @Flag(name: [.customShort("L"), .customLong("location")], help: "Follow redirects.")
    var location = false

    @Option(help: "Maximum number of redirects.")
    var maxRedirects: Int = 10

    @Flag(name: .shortAndLong, help: "Treat a status of 400 or above as a failure and do not print its body.")
    var fail = false

    @OptionGroup var transfer: TransferArguments

    @OptionGroup var retries: RetryArguments

    @Option(help: "Maximum size of a body in bytes, such as 10m or 2g. Default: none.")
    var maxBody: ByteCountArgument?

    @Option(help: "Maximum number of URLs fetched at the same time.")
    var parallel: Int = 16

    @Flag(help: "Print one JSON object per line instead of heads and bodies.")
    var jsonOutput = false

    @Option(
        help: """
            Also write all requests and responses to this file as HAR 1.2, with secrets hidden. Bodies are kept up to 1 MiB.
            """, completion: .file())
    var har: String?

    @Flag(inversion: .prefixedNo, help: "Show a progress bar if standard error is a terminal.")
    var progress = true

    func run() async throws {
        try await ToolError.reporting {
            let jobs = try jobs()
            let settings = try settings(jobs)
            let traffic = try har.map { path throws(ToolError) in try HARFile(path) }
            let runner = try FetchRunner(
                jobs: jobs, settings: settings,
                printer: FetchPrinter(includesHead: include || head, isJSON: jsonOutput),
                showsProgress: progress, traffic: traffic?.accessory)
            var failure: (any Error)?
            do {
                try await runner.run()
            } catch {
                failure = error
            }
            // The file is also written after a failure, because failed exchanges are the reason to record traffic.
            try traffic?.write()
            if let failure { throw failure }
        }
    }
}
