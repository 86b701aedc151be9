import Foundation

/// The package's own files, for tests that compare documents with code.
enum SourceTree {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// Paths below `folder` that end with `suffix`, relative to the root, sorted.
    static func files(in folder: String, suffix: String) -> [String] {
        let start = root.appendingPathComponent(folder)
        let found = FileManager.default.enumerator(atPath: start.path)?.compactMap { $0 as? String } ?? []
        return found.filter { $0.hasSuffix(suffix) }.map { "\(folder)/\($0)" }.sorted()
    }

    static func write(_ text: String, to path: String) throws {
        try text.write(to: root.appendingPathComponent(path), atomically: true, encoding: .utf8)
    }
}

/// What Swift files declare, found line by line: enough for names in documents.
struct Declarations {
    private struct File {
        /// Types that are declared or extended, by the last part of their names.
        var types: Set<String> = []
        var members: Set<String> = []
    }

    private var files: [File] = []

    init(in folder: String) throws {
        for path in SourceTree.files(in: folder, suffix: ".swift") {
            var file = File()
            // Indents of the types that a line is in; what a function declares is no member.
            var open: [Int] = []
            for line in try SourceTree.text(path).split(separator: "\n") {
                let indent = line.prefix { $0 == " " }.count
                if line.dropFirst(indent) == "}", open.last == indent { open.removeLast() }
                guard indent == (open.last.map { $0 + 4 } ?? 0) else { continue }
                if Self.note(line, in: &file), line.hasSuffix("{") { open.append(indent) }
            }
            files.append(file)
        }
    }

    /// Whether `Type.member` or `Type` is declared: the member in a file that declares or extends the type.
    func contains(_ name: String) -> Bool {
        let parts = name.split(separator: ".").map(String.init)
        guard let last = parts.last else { return false }
        let type = parts.count > 1 ? parts[parts.count - 2] : nil
        return files.contains { file in
            (file.members.contains(last) || type == nil && file.types.contains(last))
                && type.map(file.types.contains) != false
        }
    }

    private static let kinds: Set<Substring> = [
        "struct", "class", "enum", "protocol", "actor", "extension", "var", "let", "func", "typealias",
        "associatedtype", "case", "init",
    ]
    private static let typeKinds: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "extension"]

    /// Returns whether it opens a type.
    private static func note(_ line: Substring, in file: inout File) -> Bool {
        let code = line.drop { $0 == " " }
        guard !code.hasPrefix("//") else { return false }
        let words = code.split { !($0.isLetter || $0.isNumber || "_.`@".contains($0)) }
        guard let place = words.firstIndex(where: kinds.contains), place + 1 < words.count else { return false }
        let kind = words[place]
        let name = words[place + 1].filter { $0 != "`" }
        if kind == "case" {
            // A pattern of a switch begins with a dot or a keyword.
            guard !name.hasPrefix("."), name != "let", name != "nil" else { return false }
            file.members.formUnion(caseNames(code))
        } else if typeKinds.contains(kind) {
            let last = String(name.split(separator: ".").last ?? "")
            file.types.insert(last)
            if kind != "extension" { file.members.insert(last) }
        } else {
            file.members.insert(name)
        }
        return typeKinds.contains(kind)
    }

    /// The names of `case a, b(x: Int, y: Int), c = "c"`.
    private static func caseNames(_ code: Substring) -> [String] {
        var depth = 0
        var parts = [""]
        for character in code.drop(while: { $0 != " " }) {
            switch character {
            case "(": depth += 1
            case ")": depth -= 1
            case "," where depth == 0: parts.append("")
            default: if depth == 0 { parts[parts.count - 1].append(character) }
            }
        }
        return parts.compactMap { part in
            part.split(whereSeparator: { $0 == " " || $0 == "=" || $0 == ":" }).first.map { $0.filter { $0 != "`" } }
        }
    }
}

/// The functions that are marked as tests.
struct TestNames {
    private(set) var names: Set<String> = []

    init(in folder: String) throws {
        for path in SourceTree.files(in: folder, suffix: ".swift") {
            var isTest = false
            for line in try SourceTree.text(path).components(separatedBy: "\n") {
                if line.contains("@Test") { isTest = true }
                guard let range = line.range(of: "func ") else { continue }
                if isTest { names.insert(String(line[range.upperBound...].prefix { $0 != "(" })) }
                isTest = false
            }
        }
    }
}

/// The rows of a Markdown document's tables, headings and rules left out.
struct MarkdownTable {
    struct Row {
        let line: Int
        let cells: [String]

        /// What stands in backticks in a cell.
        func code(_ column: Int) -> [String] {
            guard column < cells.count else { return [] }
            return cells[column].split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        }
    }

    let rows: [Row]

    init(_ text: String) {
        let lines = text.components(separatedBy: "\n")
        rows = lines.indices.compactMap { index in
            let line = lines[index]
            guard line.hasPrefix("|"), !line.hasPrefix("|---") else { return nil }
            if index + 1 < lines.count, lines[index + 1].hasPrefix("|---") { return nil }
            let cells = line.dropFirst().dropLast().components(separatedBy: "|")
            return Row(line: index + 1, cells: cells.map { $0.trimmingCharacters(in: .whitespaces) })
        }
    }
}
