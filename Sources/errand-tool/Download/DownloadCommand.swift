import ArgumentParser
import Errand
import Foundation
import HTTPTypes

struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Downloads a file, and goes on where it was interrupted when it is run again.",
        discussion: """
            The bytes go to NAME.part, with NAME.part.journal beside it, and the file takes its name when it is complete and \
            safe on disk. A broken connection is taken up again by itself. After an interrupt, a crash or a full disk the \
            same command goes on with what is there, if the server still has the same content; else it begins from zero. \
            Redirects are followed.

            With -o, and where the name is the server's to say, a file that exists is an error, unless --overwrite or \
            --no-clobber says otherwise.
            """)

    @Argument(help: "An http or https URL.")
    var url: String

    @Option(
        name: .shortAndLong,
        help: "The file, or a directory for it. Default: the present directory, and a name by the response or the URL.")
    var output: String?

    @Option(help: "Connections at once, each for a range of the file, where the server can do it: 1 to 64.")
    var parallel: Int = 1

    @Option(help: "Bytes a second at most, such as 500k or 2m.")
    var limitRate: ByteCountArgument?

    @Option(name: .customLong("sha256"), help: "The file's SHA-256, 64 hexadecimal digits; another one is an error.")
    var digest: String?

    @Flag(help: "Replace a file that exists, when the new one is complete.")
    var overwrite = false

    @Flag(help: "Keep a file that exists, and take the next free name: 'name (1).txt'.")
    var noClobber = false

    @Option(name: [.customShort("H"), .customLong("header")], help: "'Name: value', as often as needed.")
    var headers: [HeaderArgument] = []

    @Option(help: "Tries after failures in a row, without a byte between them; 0: none.")
    var retries: Int = 5

    @Option(help: "Redirects to follow at most.")
    var maxRedirects: Int = 10

    @Flag(name: .shortAndLong, help: "No progress and no summary; errors are said.")
    var quiet = false

    @OptionGroup var transfer: TransferArguments

    func run() async throws {
        try await ToolError.reporting {
            // A limit of file size (RLIMIT_FSIZE) is a full disk, then, and not the end.
            signal(SIGXFSZ, SIG_IGN)
            try await DownloadSession(download: try download(), connection: try transfer.connection(), isQuiet: quiet)
                .run()
        }
    }

    private func download() throws -> Errand.Download {
        guard !(overwrite && noClobber) else { throw ToolError(.usage, "--overwrite and --no-clobber contradict") }
        guard (1...64).contains(parallel) else {
            throw ToolError(.usage, "--parallel is 1 to 64, not \(parallel)")
        }
        guard (0...1000).contains(retries) else { throw ToolError(.usage, "--retries is 0 to 1,000, not \(retries)") }
        guard (0...100).contains(maxRedirects) else {
            throw ToolError(.usage, "--max-redirects is 0 to 100, not \(maxRedirects)")
        }
        var fields = HTTPFields()
        for header in headers { fields.append(try HTTPField.checked(name: header.name, value: header.value)) }
        if fields[.userAgent] == nil { fields[.userAgent] = "errand" }
        if fields[.accept] == nil { fields[.accept] = "*/*" }
        var command = RawCommand(url: url, headers: fields)
        command.timeouts = transfer.timeouts
        command.redirects = .follow(limit: maxRedirects)
        var download = Errand.Download(command, to: destination)
        download.overwrite = overwrite ? .replace : noClobber ? .number : .fail
        download.sha256 = digest
        download.ranges = parallel
        download.rateLimit = limitRate?.bytes
        download.retry.maximumFailures = retries
        download.acceptsEncodings = transfer.compressed
        return download
    }

    private var destination: DownloadDestination {
        guard let output else { return .directory(".") }
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: output, isDirectory: &isDirectory)
        return output.hasSuffix("/") || exists && isDirectory.boolValue ? .directory(output) : .file(output)
    }
}
