import ArgumentParser
import Errand

/// The arguments that `errand batch` and `errand chain` share.
struct HTTPFileArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Files with requests, and folders: all .http and .rest files within. '-' is standard input.",
            valueName: "file"), completion: .file(extensions: ["http", "rest"]))
    var files: [String]

    @Option(
        help: ArgumentHelp(
            """
            Run this request alone, as often as needed: its '@name', its title, or its number in its file as in '#3'. Of \
            several files, all that are called so.
            """,
            valueName: "name"))
    var only: [String] = []

    @Option(
        help: ArgumentHelp(
            "Sets a variable, as often as needed; wins over the file and the environment.", valueName: "name=value"))
    var variable: [VariableArgument] = []

    @Option(
        help: ArgumentHelp(
            """
            JSON file of environments, as often as needed, later ones win. Default with --env: http-client.env.json and \
            http-client.private.env.json beside the file, or in the nearest folder above it within the folder that was named.
            """, valueName: "path"), completion: .file(extensions: ["json"]))
    var envFile: [String] = []

    @Option(help: ArgumentHelp("The environment to take variables from. Default: '$shared' alone.", valueName: "name"))
    var env: String?

    @Option(help: "Bytes of a response at most, such as 10m or 2g. Default: 64m.")
    var maxBody: ByteCountArgument?

    @OptionGroup var transfer: TransferArguments

    @Flag(help: "One JSON array instead of the table.")
    var json = false

    @Flag(help: "The Test Anything Protocol (version 14) instead of the table.")
    var tap = false

    @Option(
        help: ArgumentHelp(
            "Also write the results to this file as JUnit XML: a test suite for each file, a test case for each request.",
            valueName: "path"), completion: .file())
    var junit: String?

    @Flag(
        name: .shortAndLong,
        help: "Show heads and bodies on standard error, a request and its response at a time; secrets are hidden.")
    var verbose = false

    @Flag(inversion: .prefixedNo, help: "The progress bar, shown where standard error is a terminal.")
    var progress = true

    func settings() throws(ToolError) -> HTTPFileSettings {
        HTTPFileSettings(
            connection: try transfer.connection(), timeouts: transfer.timeouts, bodyLimit: maxBody?.bytes,
            holdsResponses: verbose)
    }

    static let jsonHelp = """
        --json prints one array with an object for each request, in the files' order: file, name, method, url, status, ms, \
        bytes, error {kind, message, exit_code, curl_code, errno}. Names, methods and URLs are as far as they are known; \
        passwords and tokens in URLs are hidden. ms is the time from the start of the transfer to its end.
        """
}
