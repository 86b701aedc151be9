import Foundation

/// Sends the same load through clients with different settings. Each client has a server that becomes unhealthy by the
/// same script. Prints a summary, and writes charts to a page. See ``SickScript``, ``Contender``.
@main
struct SickDemo {
    static let usage = """
        usage: errand-sick-server [--short] [--seconds N] [--check] [FILE]
          FILE         the page to write; sick-server.html by default
          --short      a script of 18 s in place of 60 s
          --seconds N  a script of N seconds, 2 to 600
          --check      exit with 1 if the differences that the page is about do not show; from 18 s on
        """

    private var seconds = 60.0
    private var checks = false
    private var file = "sick-server.html"
    private var showsUsage = false

    /// Requests per second of each client.
    static let rate = 200.0
    /// The time before the script begins. Connections are made in this time.
    private static let lead = 0.3
    /// The shortest script in which the differences show.
    private static let shortest = 18.0

    static func main() async {
        do {
            try await SickDemo(Array(CommandLine.arguments.dropFirst())).run()
        } catch {
            FileHandle.standardError.write(Data("errand-sick-server: \(error)\n".utf8))
            exit(1)
        }
    }

    /// The number of open files that are needed: both ends of each connection are in this process.
    private static let files: rlim_t = 512

    /// Raises the limit of open files to the hard limit. A limit that is too low is an error before any request is
    /// sent, because Dispatch traps if it gets no descriptor for a timer.
    private static func allowAllFiles() throws {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard limit.rlim_cur < files else { return }
        throw SickError("the limit of open files is \(limit.rlim_cur), at least \(files) are needed")
    }

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        var files: [String] = []
        while let argument = rest.popFirst() {
            switch argument {
            case "-h", "--help": showsUsage = true
            case "--short": seconds = Self.shortest
            case "--check": checks = true
            case "--seconds":
                let text = rest.popFirst()
                guard let value = text.flatMap(Double.init), (2...600).contains(value) else {
                    throw Self.mistake("--seconds is \(text.map { "'\($0)'" } ?? "missing"), expected 2 to 600")
                }
                seconds = value
            case _ where argument.hasPrefix("-"): throw Self.mistake("unknown option '\(argument)'")
            default: files.append(argument)
            }
        }
        if showsUsage { return }
        guard files.count <= 1 else { throw Self.mistake("\(files.count) files are given, expected one") }
        guard !checks || seconds >= Self.shortest else {
            throw Self.mistake(
                "--check needs a script of at least \(Chart.text(Self.shortest)) s, in which the differences show")
        }
        if let given = files.first { file = given }
    }

    private static func mistake(_ text: String) -> SickError { SickError("\(text)\n\(usage)") }

    private func run() async throws {
        if showsUsage { return print(Self.usage) }
        try Self.allowAllFiles()
        // A page that cannot be written is reported before the script runs.
        let target = try PageFile(file)
        let script = SickScript(seconds: seconds)
        let start = SickTime.now + Self.lead
        let loads = try Contender.all(for: script).map { try Load($0, script, start: start) }
        let due = await Load.run(loads, rate: Self.rate, script, start: start)
        var outcomes: [Outcome] = []
        for load in loads { outcomes.append(await load.finish()) }
        if let failure = outcomes.compactMap(\.failure).first { throw failure }
        for outcome in outcomes where outcome.samples.count != due {
            throw SickError("\(outcome.contender.name): \(outcome.samples.count) of \(due) requests ended")
        }
        let page = Page(script: script, rate: Self.rate, outcomes: outcomes, step: seconds < 30 ? 0.5 : 1)
        try target.write(page.html)
        let summary = Summary(script: script, outcomes: outcomes)
        for line in summary.lines { print(line) }
        print("page           \(URL(fileURLWithPath: file).path)")
        if checks, let missing = summary.missing { throw SickError(missing) }
    }
}
