import Errand
import Foundation

/// The value of `-d` or `--json`: text, `@FILE`, or `@-` for standard input.
enum BodyArgument: Sendable {
    case text(String)
    case file(String)
    case standardInput

    /// The largest body, in bytes, that is held in memory.
    static let limit = 1 << 30

    init(_ argument: String) {
        switch argument {
        // Opening /dev/stdin fails if standard input is a socket, so it is handled like `@-`.
        case "@-", "@/dev/stdin": self = .standardInput
        case let path where path.hasPrefix("@"): self = .file(String(path.dropFirst()))
        default: self = .text(argument)
        }
    }

    /// The bytes of the body. A file is read now, so that a missing file is reported before any request is sent.
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

    /// Files and pipes are not read here: the engine reads them while it sends the body, whatever their size.
    func body(contentType: String?) throws(ToolError) -> RequestBody {
        switch self {
        case .text: return .data(try load(), contentType: contentType)
        case .standardInput: return .source(DescriptorBodySource.standardInput, contentType: contentType)
        case .file(let path):
            try BodyArgument.check(path)
            if BodyArgument.hasLength(path) { return .file(path, contentType: contentType) }
            return .source(try DescriptorBodySource(path: path), contentType: contentType)
        }
    }

    /// Several `-d` values, joined by `&` as curl does. More than one value is held in memory.
    static func body(joining arguments: [String], contentType: String?) throws(ToolError) -> RequestBody {
        if arguments.count == 1 { return try BodyArgument(arguments[0]).body(contentType: contentType) }
        var joined = Data()
        for (index, argument) in arguments.enumerated() {
            if index > 0 { joined.append(UInt8(ascii: "&")) }
            joined.append(try BodyArgument(argument).load())
            guard joined.count <= limit else {
                throw ToolError(.inputFile, "-d: the body is larger than 1 GiB, the limit for bodies in memory")
            }
        }
        return .data(joined, contentType: contentType)
    }

    /// Pipes and devices have no length, and files of /proc report 0.
    private static func hasLength(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size > 0
    }

    private static func read(_ descriptor: Int32, _ name: String) throws(ToolError) -> Data {
        guard let data = Descriptor.read(descriptor, limit: limit) else { throw unreadable(name) }
        return data
    }

    private static func unreadable(_ name: String) -> ToolError {
        let reason = errno == EFBIG ? "larger than 1 GiB, the limit for bodies in memory" : SystemError(errno).text
        return ToolError(.inputFile, "cannot read \(name): \(reason)")
    }

    /// Checks for common mistakes and reports each with its own message.
    private static func check(_ path: String) throws(ToolError) {
        if let reason = FileCheck.whyUnreadable(path) {
            throw ToolError(.inputFile, "cannot read '\(path)': \(reason)")
        }
    }

    /// The value as a JSON body. The JSON is checked here, so that the error names the mistake; a server would only
    /// answer 400.
    func json() throws(ToolError) -> RequestBody {
        let data = try load()
        do {
            _ = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        } catch {
            throw ToolError(.usage, "--json: the value is not valid JSON: \(ToolError.reason(error))")
        }
        return .data(data, contentType: "application/json")
    }
}
