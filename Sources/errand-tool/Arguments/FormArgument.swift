import Errand
import Foundation

/// A part of `-F`: `name=text`, `name=@file` for a file, `name=<file` for a file's text without its name. Text and both
/// file forms may be followed by `;type=image/png` and `;filename=other.png`. Within quotes a `;` is part of the value.
struct FormArgument {
    let part: MultipartPart

    /// `literal`: this is the argument of `--form-string`, whose value is used unchanged.
    init(_ argument: String) throws(ToolError) {
        guard let mark = argument.firstIndex(of: "="), mark != argument.startIndex else {
            throw ToolError(.usage, "-F '\(argument)' does not have the form NAME=VALUE, NAME=@FILE or NAME=<FILE")
        }
        let name = String(argument[..<mark])
        let rest = argument[argument.index(after: mark)...]
        let kind = rest.first
        let isFile = kind == "@" || kind == "<"
        let (value, attributes) = Self.attributes(isFile ? rest.dropFirst() : rest)
        let (type, fileName) = (attributes["type"], attributes["filename"])
        switch kind {
        case "@" where value == "-":
            part = .source(
                DescriptorBodySource.standardInput, name: name, fileName: fileName ?? "-", contentType: type)
        case "@":
            if let reason = FileCheck.whyUnreadable(value) { throw Self.unreadable(value, reason) }
            part =
                Descriptor.isRegularFile(value)
                ? .file(value, name: name, fileName: fileName, contentType: type)
                : .source(
                    try DescriptorBodySource(path: value), name: name, fileName: fileName ?? value, contentType: type)
        case "<":
            if value != "-", let reason = FileCheck.whyUnreadable(value) { throw Self.unreadable(value, reason) }
            let data = try (value == "-" ? BodyArgument.standardInput : .file(value)).load()
            part = .data(data, name: name, fileName: fileName, contentType: type)
        default:
            part = .bytes(Array(value.utf8), name: name, fileName: fileName, contentType: type)
        }
    }

    private static func unreadable(_ path: String, _ reason: String) -> ToolError {
        ToolError(.inputFile, "-F: cannot read '\(path)': \(reason)")
    }

    private static func attributes(_ text: Substring) -> (value: String, attributes: [String: String]) {
        var pieces = split(text)
        var attributes: [String: String] = [:]
        // Parsed from the end: a `;` that does not begin an attribute belongs to the value.
        while pieces.count > 1, let last = pieces.last, let mark = last.firstIndex(of: "="),
            ["type", "filename"].contains(last[..<mark].trimmingCharacters(in: .whitespaces).lowercased())
        {
            let name = last[..<mark].trimmingCharacters(in: .whitespaces).lowercased()
            attributes[name] = unquoted(last[last.index(after: mark)...])
            pieces.removeLast()
        }
        return (unquoted(Substring(pieces.joined(separator: ";"))), attributes)
    }

    /// Splits the text at each `;` that is not within quotes.
    private static func split(_ text: Substring) -> [Substring] {
        var pieces: [Substring] = []
        var start = text.startIndex
        var isQuoted = false
        for index in text.indices {
            if text[index] == "\"" { isQuoted.toggle() }
            guard text[index] == ";", !isQuoted else { continue }
            pieces.append(text[start..<index])
            start = text.index(after: index)
        }
        return pieces + [text[start...]]
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return String(text) }
        return String(text.dropFirst().dropLast())
    }
}
