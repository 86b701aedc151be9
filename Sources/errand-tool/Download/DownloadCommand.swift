import ArgumentParser
import Errand
import Foundation
import HTTPTypes

struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Downloads files, and goes on where it was interrupted when it is run again.",
        discussion: """
            The bytes go to NAME.part, with NAME.part.journal beside it, and the file takes its name when it is complete and \
            safe on disk. A broken connection is taken up again by itself. After an interrupt, a crash or a full disk the \
            same command goes on with what is there, if the server still has the same content; else it begins from zero. \
            Redirects are followed. Several URLs are downloaded one after another; a URL without a scheme is http.

            With -o, and where the name is the server's to say, a file that exists is an error, unless it has the SHA-256 of \
            --sha256, or --overwrite or --no-clobber says otherwise.
            """)

    @Argument(help: "http or https URLs.")
    var urls: [URLArgument]

    @Option(
        name: .shortAndLong,
        help: """
            The file, once for each URL in their order, or a directory for all. '-' is standard output: as it comes, and \
            without a further try. Default: the present directory, and a name by the response or the URL.
            """,
        completion: .file())
    var output: [String] = []

    @Option(help: "Connections at once, each for a range of the file, where the server can do it: 1 to 64. Default: 1.")
    var parallel: Int?

    @Option(help: "Bytes a second at most, such as 500k or 2m.")
    var limitRate: ByteCountArgument?

    @Option(
        name: .customLong("sha256"),
        help: "The file's SHA-256, 64 hexadecimal digits, once for each URL; another one is an error.")
    var digests: [String] = []

    @Flag(help: "Replace a file that exists, when the new one is complete. A link is written through.")
    var overwrite = false

    @Flag(help: "Keep a file that exists, and take the next free name: 'name (1).txt'.")
    var noClobber = false

    @Option(name: [.customShort("H"), .customLong("header")], help: "'Name: value', as often as needed.")
    var headers: [HeaderArgument] = []

    @Option(
        help: """
            Tries after failures in a row, without a byte between them; 0: none. Default: 5 once the server has answered; \
            with this option the first connection is tried so often, too.
            """)
    var retries: Int?

    @Flag(help: "Go on with what is there of a URL that differs in its query alone, as signed URLs do.")
    var ignoreQuery = false

    @Option(help: "Redirects to follow at most.")
    var maxRedirects: Int = 10

    @Flag(name: .shortAndLong, help: "No progress and no summary; errors are said.")
    var quiet = false

    @OptionGroup var transfer: TransferArguments

    func run() async throws {
        try await ToolError.reporting {
            // With SIGXFSZ ignored, reaching the file size limit (RLIMIT_FSIZE) is reported like a full disk and does
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
        guard !(overwrite && noClobber) else { throw ToolError(.usage, "--overwrite and --no-clobber contradict") }
        if let parallel, !(1...64).contains(parallel) {
            throw ToolError(.usage, "--parallel is 1 to 64, not \(parallel)")
        }
        if let retries, !(0...1000).contains(retries) {
            throw ToolError(.usage, "--retries is 0 to 1,000, not \(retries)")
        }
        guard (0...100).contains(maxRedirects) else {
            throw ToolError(.usage, "--max-redirects is 0 to 100, not \(maxRedirects)")
        }
        guard digests.isEmpty || digests.count == urls.count else {
            throw ToolError(.usage, "--sha256 is given \(digests.count) times for \(urls.count) URLs")
        }
        for digest in digests where digest.utf8.count != 64 || !digest.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
            throw ToolError(.usage, "--sha256 '\(Shown.text(digest))' is not 64 hexadecimal digits")
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
            download.acceptsEncodings = transfer.compressed
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
            throw ToolError(.usage, "-o - is for all URLs or none")
        }
        let needFile = [
            ("--sha256", !digests.isEmpty), ("--parallel", parallel != nil), ("--limit-rate", limitRate != nil),
            ("--overwrite", overwrite), ("--no-clobber", noClobber), ("--retries", retries != nil),
            ("--ignore-query", ignoreQuery),
        ]
        if let (name, _) = needFile.first(where: \.1) {
            throw ToolError(.usage, "\(name) needs a file, and -o - has none")
        }
        var settings = FetchSettings(
            method: .get, headers: try fields(), body: .empty, timeouts: transfer.timeouts, bodyLimit: nil,
            connection: connection, followsRedirects: true, maxRedirects: maxRedirects, refused: .allButContent,
            parallel: 1)
        if !transfer.compressed, settings.headers[.acceptEncoding] == nil {
            settings.headers[.acceptEncoding] = "identity"
        }
        return try FetchRunner(
            jobs: urls.map { FetchJob($0, .standardOutput(isNamed: true)) }, settings: settings,
            printer: FetchPrinter(includesHead: false, isJSON: false), showsProgress: false)
    }
}
