import ArgumentParser
import Errand

/// The arguments that `errand batch` and `errand chain` share.
struct HTTPFileArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            Files with requests (.http, .rest), folders with such files, or recorded traffic (.har), which is sent again. \
            '-' is standard input in the format of .http files.
            """,
            valueName: "file"), completion: .file(extensions: ["http", "rest", "har"]))
    var files: [String]

    @Option(
        help: ArgumentHelp(
            """
            Run only this request: its '@name', its title, or its number in the file, such as '#3'. If several files \
            have it, all of them run. Repeatable.
            """,
            valueName: "name"))
    var only: [String] = []

    @Option(
        help: ArgumentHelp(
            "Variable, 'name=value'. Repeatable. Overrides variables of the file and the environment.",
            valueName: "name=value"))
    var variable: [VariableArgument] = []

    @Option(
        help: ArgumentHelp(
            """
            JSON file of environments. Repeatable; later files take precedence. Default with --env: \
            http-client.env.json and http-client.private.env.json in the file's folder, or in the nearest folder above \
            it within the given folder.
            """, valueName: "path"), completion: .file(extensions: ["json"]))
    var envFile: [String] = []

    @Option(help: ArgumentHelp("Environment whose variables are used. Default: only '$shared'.", valueName: "name"))
    var env: String?

    @Option(help: "Maximum size of a response in bytes, such as 10m or 2g. Default: 64m.")
    var maxBody: ByteCountArgument?

    @OptionGroup var transfer: TransferArguments

    @Flag(help: "Print one JSON array instead of the table.")
    var json = false

    @Flag(help: "Print the Test Anything Protocol (version 14) instead of the table.")
    var tap = false

    @Option(
        help: ArgumentHelp(
            """
            Also write the results to this file as JUnit XML, with a test suite for each file and a test case for \
            each request.
            """,
            valueName: "path"), completion: .file())
    var junit: String?

    @Flag(
        name: .shortAndLong,
        help: "Show heads and bodies on standard error, one request and its response at a time. Secrets are hidden.")
    var verbose = false

    @Flag(inversion: .prefixedNo, help: "Show a progress bar if standard error is a terminal.")
    var progress = true

    func settings() throws(ToolError) -> HTTPFileSettings {
        HTTPFileSettings(
            connection: try transfer.connection(), timeouts: transfer.timeouts, bodyLimit: maxBody?.bytes,
            holdsResponses: verbose)
    }

    func selection() throws(ToolError) -> HTTPFileSelection {
        HTTPFileSelection(
            files: files, only: only, variables: VariableArgument.values(variable), environmentFiles: envFile,
            environment: env, settings: try settings())
    }

    static let jsonHelp = """
        --json prints one array with an object for each request, in the files' order: file, name, method, url, status, \
        ms, bytes, error {kind, message, exit_code, curl_code, errno}. Names, methods and URLs are given as far as \
        they are known; passwords and tokens in URLs are hidden. ms is the time from the start of the transfer to its \
        end.
        """
}
