import Errand
import Foundation

/// Makes a body from its lines and files.
struct HTTPBodyMaker {
    private enum Kind {
        case plain
        /// Lines end with CRLF (RFC 2046 5.1.1).
        case multipart
        /// A line that begins with `&`, or that follows a line ending with `&`, continues the previous line.
        case form
        /// The last line has a line end too.
        case lines
    }

    private let variables: HTTPVariables
    private let folder: String
    private let kind: Kind

    init(variables: HTTPVariables, folder: String, contentType: String?) {
        self.variables = variables
        self.folder = folder
        let type = (contentType ?? "").prefix { $0 != ";" }.trimmed.lowercased()
        switch type {
        case "application/x-www-form-urlencoded": kind = .form
        case "application/x-ndjson", "application/ndjson": kind = .lines
        default: kind = type.hasPrefix("multipart/") ? .multipart : .plain
        }
    }

    /// `bytes` is `nil` if the engine reads the body from its file.
    func make(_ lines: [HTTPBodyLine]) throws -> (body: RequestBody, bytes: [UInt8]?) {
        guard let first = lines.first else { return (.empty, []) }
        if lines.count == 1, case .file(let file) = first, file.encoding == nil {
            let path = try path(file)
            let body = try located(file) { () throws(ToolError) in
                try BodyArgument.file(path).body(contentType: nil)
            }
            return (body, nil)
        }
        if lines.count == 1, case .bytes(let bytes) = first { return (.bytes(bytes, contentType: nil), bytes) }
        if lines.count == 1, case .exact(let template) = first {
            let bytes = Array(try variables.expand(template, limit: BodyArgument.limit).utf8)
            return (.bytes(bytes, contentType: nil), bytes)
        }
        var bytes: [UInt8] = []
        for (index, line) in lines.enumerated() {
            if index > 0 { bytes += separator(lines, index) }
            switch line {
            case .text(let template):
                bytes += try text(template).utf8
            case .file(let file):
                bytes += try load(file)
            case .bytes(let recorded):
                bytes += recorded
            case .exact(let template):
                bytes += try variables.expand(template, limit: BodyArgument.limit).utf8
            }
            guard bytes.count <= BodyArgument.limit else {
                throw ToolError(.inputFile, "the body is larger than 1 GiB, the limit for bodies in memory")
            }
        }
        if kind == .lines { bytes.append(0x0A) }
        return (.bytes(bytes, contentType: nil), bytes)
    }

    private func separator(_ lines: [HTTPBodyLine], _ index: Int) -> [UInt8] {
        switch kind {
        case .plain, .lines: return [0x0A]
        case .multipart: return [0x0D, 0x0A]
        case .form:
            if case .text(let line) = lines[index], line.source.trimmed.hasPrefix("&") { return [] }
            if case .text(let line) = lines[index - 1], line.source.trimmed.hasSuffix("&") { return [] }
            return [0x0A]
        }
    }

    private func text(_ template: HTTPTemplate) throws(HTTPFileError) -> String {
        let text = try variables.expand(template, limit: BodyArgument.limit)
        guard kind == .form else { return text }
        for mark in [" =", "= ", " &", "& "] where template.source.trimmed.contains(mark) {
            throw HTTPFileError(template.position, "the form has a space beside '=' or '&'; write '%20' for a space")
        }
        return HTTPBodyMaker.formText(text[...].trimmed)
    }

    /// Percent-encodes only the characters that a form cannot contain. Text that is already encoded stays unchanged.
    private static func formText(_ text: Substring) -> String {
        guard text.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) else { return String(text) }
        var encoded: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            if byte > 0x20, byte < 0x7F {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    // MARK: Files

    private func path(_ file: HTTPBodyFile) throws(HTTPFileError) -> String {
        let path = try variables.expand(file.path)
        return path.hasPrefix("/") ? path : folder + "/" + path
    }

    private func load(_ file: HTTPBodyFile) throws -> [UInt8] {
        let path = try path(file)
        let bytes = try located(file) { () throws(ToolError) in [UInt8](try BodyArgument.file(path).load()) }
        guard let template = try template(file, path, bytes) else { return bytes }
        do {
            return Array(try variables.expand(template, limit: BodyArgument.limit).utf8)
        } catch {
            throw error.inFile(path)
        }
    }

    /// The template of an included file; `nil` if the file's bytes are sent unchanged and therefore contain no
    /// references.
    func template(_ file: HTTPBodyFile) throws -> (template: HTTPTemplate, path: String)? {
        guard file.encoding != nil else { return nil }
        let path = try path(file)
        let bytes = try located(file) { () throws(ToolError) in [UInt8](try BodyArgument.file(path).load()) }
        return try template(file, path, bytes).map { ($0, path) }
    }

    private func template(_ file: HTTPBodyFile, _ path: String, _ bytes: [UInt8]) throws(HTTPFileError) -> HTTPTemplate?
    {
        guard let encoding = file.encoding else { return nil }
        guard let text = encoding.text(bytes) else {
            throw HTTPFileError(file.position, "'\(path)' is not \(encoding.rawValue) text")
        }
        do {
            return try HTTPTemplate(text[...], at: FilePosition(line: 1))
        } catch {
            throw error.inFile(path)
        }
    }

    /// Adds the position to the error of a file that cannot be read, and keeps its exit code.
    private func located<Value>(
        _ file: HTTPBodyFile, _ read: () throws(ToolError) -> Value
    ) throws(ToolError) -> Value {
        do {
            return try read()
        } catch {
            let place = HTTPFileError(file.position, error.message).inFile(variables.path)
            throw ToolError(error.status, place.text)
        }
    }
}
