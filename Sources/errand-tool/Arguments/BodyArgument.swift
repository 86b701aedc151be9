import Errand
import Foundation

/// What `-d` and `--json` say: text, `@FILE`, or `@-` for standard input.
enum BodyArgument: Sendable {
    case text(String)
    case file(String)
    case standardInput

    /// Bytes that are held in memory at most.
    static let limit = 1 << 30

    init(_ argument: String) {
        switch argument {
        // Opening /dev/stdin fails where standard input is a socket.
        case "@-", "@/dev/stdin": self = .standardInput
        case let path where path.hasPrefix("@"): self = .file(String(path.dropFirst()))
        default: self = .text(argument)
        }
    }

    /// The bytes; a file is read now, so that a missing one is told before any request.
    func load() throws(ToolError) -> Data {
        switch self {
        case .text(let text): return Data(text.utf8)
        case .standardInput: return try BodyArgument.read(STDIN_FILENO, "standard input")
        case .file(let path):
            try BodyArgument.check(path)
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw BodyArgument.unreadable("'\(path)'") }
            defer { close(descriptor) }
            return try BodyArgument.read(descriptor, "'\(path)'")
        }
    }

    /// A file is not read but sent by the engine, whatever its size; the rest is bytes.
    func body(contentType: String?) throws(ToolError) -> RequestBody {
        guard case .file(let path) = self else {
            return .data(try load(), contentType: contentType)
        }
        try BodyArgument.check(path)
        guard BodyArgument.hasLength(path) else { return .data(try load(), contentType: contentType) }
        return .file(path, contentType: contentType)
    }

    /// Pipes and devices have no length to announce, and files of /proc say 0.
    private static func hasLength(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size > 0
    }

    private static func read(_ descriptor: Int32, _ name: String) throws(ToolError) -> Data {
        guard let data = Descriptor.read(descriptor, limit: limit) else { throw unreadable(name) }
        return data
    }

    private static func unreadable(_ name: String) -> ToolError {
        let reason = errno == EFBIG ? "more than 1 GiB, which is not held in memory" : String(cString: strerror(errno))
        return ToolError(.inputFile, "cannot read \(name): \(reason)")
    }

    /// The usual mistakes, in words of their own.
    private static func check(_ path: String) throws(ToolError) {
        var isDirectory: ObjCBool = false
        let reason: String? =
            if !FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
                "no such file"
            } else if isDirectory.boolValue {
                "it is a directory"
            } else if !FileManager.default.isReadableFile(atPath: path) {
                "permission denied"
            } else {
                nil
            }
        if let reason { throw ToolError(.inputFile, "cannot read '\(path)': \(reason)") }
    }

    /// The same as JSON, which is checked here rather than by a server that says "400".
    func json() throws(ToolError) -> RequestBody {
        let data = try load()
        do {
            _ = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        } catch {
            throw ToolError(.usage, "--json: this is not JSON: \(ToolError.reason(error))")
        }
        return .data(data, contentType: "application/json")
    }
}
