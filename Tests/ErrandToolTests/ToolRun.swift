import ErrandTesting
import Foundation

/// One run of the built `errand`.
struct ToolRun {
    let status: Int32
    let output: Data
    let errors: String

    var text: String { String(decoding: output, as: UTF8.self) }

    struct Stuck: Error, CustomStringConvertible {
        let arguments: [String]
        var what = "end"
        var description: String { "errand \(arguments.joined(separator: " ")) did not \(what) in time" }
    }

    /// Beside the tests, where the package's build puts it.
    static let executable: URL = {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("errand")
    }()

    /// Runs the tool to its end; throws ``Stuck`` after `seconds`. Output goes through files, so that no pipe fills up;
    /// or to that device, and then it reads as empty here.
    ///
    /// - Parameter shell: what bash does with the tool, which is `"$@"` there.
    /// - Parameter isUnderWay: Sends `signal` once it says so; ``Stuck`` after 300 s.
    init(
        _ arguments: [String], shell: String? = nil, input: String = "", interruptWhen isUnderWay: (() -> Bool)? = nil,
        signal: Int32 = SIGINT, seconds: Double = 300,
        outputTo: String? = nil, errorsTo: String? = nil
    ) throws {
        let folder = try TemporaryFolder()
        let inputFile = folder.file("input")
        try Data(input.utf8).write(to: inputFile)
        for name in ["output", "errors"] { try Data().write(to: folder.file(name)) }
        let path = ToolRun.executable.path
        let run = try ProgramRun(
            shell == nil ? path : "/bin/bash", shell.map { ["-c", $0, "bash", path] + arguments } ?? arguments,
            input: inputFile.path,
            output: outputTo ?? folder.file("output").path, errors: errorsTo ?? folder.file("errors").path)
        var ended: Int32?
        if let isUnderWay {
            let deadline = Date() + 300
            var isReady = false
            while ended == nil, !isReady, Date() < deadline {
                // Dispatch sets the handler on a thread of its own, and until then the tool ignores the signal.
                isReady = isUnderWay() && run.catches(signal)
                if !isReady { ended = run.wait(seconds: 0.002) }
            }
            guard isReady || ended != nil else {
                run.kill()
                throw Stuck(arguments: arguments, what: "get under way")
            }
            if isReady { run.signal(signal) }
        }
        guard let ended = ended ?? run.wait(seconds: seconds) else {
            run.kill()
            throw Stuck(arguments: arguments)
        }
        status = ended
        output = try Data(contentsOf: folder.file("output"))
        errors = String(decoding: try Data(contentsOf: folder.file("errors")), as: UTF8.self)
    }

    /// The output as one JSON object.
    func json() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: output) as? [String: Any] ?? [:]
    }
}

extension ProgramRun {
    /// The exit code; `nil` where the program did not end in five minutes. Then it is killed.
    func end() -> Int32? {
        let status = wait(seconds: 300)
        if status == nil { kill() }
        return status
    }
}

extension Duration {
    /// As an option's value: `300ms`.
    var optionText: String { "\(Int(self / .milliseconds(1)))ms" }
}

extension ScriptedServer {
    /// Ends the `stall` steps once so many requests have come.
    func release(afterRequests count: Int) {
        Thread.detachNewThread {
            self.wait(for: .init(requests: count), seconds: 300)
            self.release()
        }
    }
}

/// A folder that goes with the object.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("errand-tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
    }
}
