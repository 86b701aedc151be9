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
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw ToolError(.inputFile, "cannot read '\(path)': no such file")
        }
        guard !isDirectory.boolValue else {
            throw ToolError(.inputFile, "cannot read '\(path)': it is a directory")
        }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw ToolError(.inputFile, "cannot read '\(path)': permission denied")
        }
        return .file(path, contentType: contentType)
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
