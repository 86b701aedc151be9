import ArgumentParser
import Errand
import Foundation
import HTTPTypes

struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Downloads files, and resumes interrupted downloads when run again.",
        discussion: """
            The bytes go to NAME.part, with a journal in NAME.part.journal. When the file is complete and synced to \
            disk, it is renamed to NAME. The tool resumes a broken connection by itself. After an interrupt, a crash \
            or a full disk, the same command resumes the partial file if the server still has the same content; \
            otherwise it starts from the beginning. Redirects are followed. Several URLs are downloaded one after \
            another. A URL without a scheme is http.

            With -o, and where the server's response determines the name, an existing file is an error, unless it has \
            the SHA-256 of --sha256, or --overwrite or --no-clobber is given.
            """)

    @Argument(help: "The URLs to download, http or https.")
    var urls: [URLArgument]

    @Option(
        name: .shortAndLong,
        help: """
            The file, once for each URL in order, or one directory for all URLs. '-' is standard output, without \
            retries. Default: the current directory, with a name from the response or the URL.
            """,
        completion: .file())
    var output: [String] = []

    @Option(
        help: "Number of connections, 1 to 64, each for a range of the file, if the server supports ranges. Default: 1."
    )
    var parallel: Int?

    @Option(help: "Maximum rate in bytes per second, such as 500k or 2m.")
    var limitRate: ByteCountArgument?

    @Option(
        name: .customLong("sha256"),
        help: "Expected SHA-256 of the file, 64 hexadecimal digits; once for each URL. A mismatch is an error.")
    var digests: [String] = []

    @Flag(help: "Replace an existing file once the new one is complete. A symbolic link is followed.")
    var overwrite = false

    @Flag(help: "Keep an existing file and use the next free name: 'name (1).txt'.")
    var noClobber = false

    @Option(name: [.customShort("H"), .customLong("header")], help: "Header field, 'Name: value'. Repeatable.")
    var headers: [HeaderArgument] = []

    @Option(
        help: """
            Maximum number of consecutive retries without progress; 0 disables retries. Default: 5, once the server \
            has responded. If the option is given, it also covers the first connection.
            """)
    var retries: Int?

    @Flag(help: "Resume the partial file of a URL that differs only in its query, as signed URLs do.")
    var ignoreQuery = false

    @Option(help: "Maximum number of redirects.")
    var maxRedirects: Int = 10

    @Flag(name: .shortAndLong, help: "Show neither progress nor a summary; only errors are printed.")
    var quiet = false

    @OptionGroup var transfer: TransferArguments

    func run() async throws {
        try await ToolError.reporting {
            // With SIGXFSZ ignored, reaching the file size limit (RLIMIT_FSIZE) is reported like a full disk, and does
            // not end the process.
            signal(SIGXFSZ, SIG_IGN)
            try check()
            let connection = try transfer.connection()
            if output.contains("-") {
                try await fetch(connection).run()
            } else {
                let jobs = try jobs()
                try await DownloadSession(jobs: jobs, connection: connection, isQuiet: quiet).run()
            }
        }
    }

    private func check() throws(ToolError) {
        guard !(overwrite && noClobber) else {
            throw ToolError(.usage, "--overwrite and --no-clobber exclude each other")
        }
        if let parallel, !(1...64).contains(parallel) {
            throw ToolError(.usage, "--parallel is \(parallel), expected 1 to 64")
        }
        if let retries, !(0...1000).contains(retries) {
            throw ToolError(.usage, "--retries is \(retries), expected 0 to 1,000")
        }
        guard (0...100).contains(maxRedirects) else {
            throw ToolError(.usage, "--max-redirects is \(maxRedirects), expected 0 to 100")
        }
        guard digests.isEmpty || digests.count == urls.count else {
            throw ToolError(.usage, "--sha256 is given \(digests.count) times for \(urls.count) URLs")
        }
        for digest in digests where digest.utf8.count != 64 || !digest.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
            throw ToolError(.usage, "--sha256 '\(Shown.text(digest))' does not have 64 hexadecimal digits")
        }
        guard output.count <= urls.count else {
            throw ToolError(.usage, "-o is given \(output.count) times for \(urls.count) URLs")
        }
        let files = output.filter { !Self.isDirectory($0) && $0 != "-" }.map(OutputFile.resolved)
        guard Set(files).count == files.count else { throw ToolError(.usage, "-o names the same file twice") }
    }

    private func fields() throws(ErrandError) -> HTTPFields {
        var fields = HTTPFields()
        for header in headers { fields.append(try HTTPField.checked(name: header.name, value: header.value)) }
        if fields[.userAgent] == nil { fields[.userAgent] = "errand" }
        if fields[.accept] == nil { fields[.accept] = "*/*" }
        return fields
    }

    // MARK: To files

    private func jobs() throws -> [DownloadJob] {
        let fields = try fields()
        return urls.enumerated().map { index, url in
            let (address, user) = url.withoutUser
            var command = RawCommand(url: address, headers: fields)
            command.timeouts = transfer.timeouts
            command.redirects = .follow(limit: maxRedirects)
            let source = FetchCommand(command, fields[.authorization] == nil ? user : nil, usesDigest: false)
            var download = Errand.Download(source, to: destination(index))
            download.overwrite = overwrite ? .replace : noClobber ? .number : .fail
            download.sha256 = digests.isEmpty ? nil : digests[index]
            download.ranges = parallel ?? 1
            download.rateLimit = limitRate?.bytes
            if let retries { download.retry.maximumFailures = retries }
            download.retry.coversFirstConnection = retries != nil
            download.ignoresQuery = ignoreQuery
            download.acceptsEncodings = transfer.way.compressed
            return DownloadJob(url: url.text, download: download)
        }
    }

    private func destination(_ index: Int) -> DownloadDestination {
        if output.count == 1, let only = output.first, Self.isDirectory(only) { return .directory(only) }
        guard index < output.count else { return .directory(".") }
        return Self.isDirectory(output[index]) ? .directory(output[index]) : .file(output[index])
    }

    private static func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return path.hasSuffix("/")
            || FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }

    // MARK: To standard output

    private func fetch(_ connection: ConnectionOptions) throws -> FetchRunner {
        guard output.count == urls.count, output.allSatisfy({ $0 == "-" }) else {
            throw ToolError(.usage, "-o - must be given for all URLs or for none")
        }
        let needFile = [
            ("--sha256", !digests.isEmpty), ("--parallel", parallel != nil), ("--limit-rate", limitRate != nil),
            ("--overwrite", overwrite), ("--no-clobber", noClobber), ("--retries", retries != nil),
            ("--ignore-query", ignoreQuery),
        ]
        if let (name, _) = needFile.first(where: \.1) {
            throw ToolError(.usage, "\(name) requires a file and cannot be used with -o -")
        }
        var settings = FetchSettings(
            method: .get, headers: try fields(), body: .empty, timeouts: transfer.timeouts, bodyLimit: nil,
            connection: connection, followsRedirects: true, maxRedirects: maxRedirects, refused: .allButContent,
            parallel: 1)
        if !transfer.way.compressed, settings.headers[.acceptEncoding] == nil {
            settings.headers[.acceptEncoding] = "identity"
        }
        return try FetchRunner(
            jobs: urls.map { FetchJob($0, .standardOutput(isNamed: true)) }, settings: settings,
            printer: FetchPrinter(includesHead: false, isJSON: false), showsProgress: false)
    }
}
