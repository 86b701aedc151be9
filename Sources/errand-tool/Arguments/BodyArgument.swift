import Errand
import Foundation

/// What `-d` and `--json` say: text, `@FILE`, or `@-` for standard input.
enum BodyArgument: Sendable {
    case text(String)
    case file(String)
    case standardInput

    init(_ argument: String) {
        switch argument {
        case "@-": self = .standardInput
        case let path where path.hasPrefix("@"): self = .file(String(path.dropFirst()))
        default: self = .text(argument)
        }
    }

    /// The bytes; a file is read now, so that a missing one is told before any request.
    func load() throws(ToolError) -> Data {
        switch self {
        case .text(let text): return Data(text.utf8)
        case .standardInput: return FileHandle.standardInput.readDataToEndOfFile()
        case .file(let path):
            try BodyArgument.check(path)
            do {
                return try Data(contentsOf: URL(fileURLWithPath: path))
            } catch {
                throw ToolError(.inputFile, "cannot read '\(path)': \(ToolError.reason(error))")
            }
        }
    }

    /// A file is not read but sent by the engine, whatever its size; the rest is bytes.
    func body(contentType: String?) throws(ToolError) -> RequestBody {
        guard case .file(let path) = self else {
            return .data(try load(), contentType: contentType)
        }
        try BodyArgument.check(path)
        return .file(path, contentType: contentType)
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
