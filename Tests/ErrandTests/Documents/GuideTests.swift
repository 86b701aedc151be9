import Foundation
import Testing

/// The guides' code is compiled, and most of it run, in Tests/ErrandTests/Snippets; this keeps the two alike.
@Suite struct GuideTests {
    private struct Block {
        let place: String
        let lines: [String]
    }

    private static let catalog = "Sources/Errand/Errand.docc"
    /// Where Swift code is shown to readers.
    private static var documents: [String] {
        SourceTree.files(in: catalog, suffix: ".md") + SourceTree.files(in: "docs", suffix: ".md")
            + ["README.md", "CONTRIBUTING.md"]
    }
    /// Where it is compiled.
    private static var snippets: [String] {
        SourceTree.files(in: "Tests", suffix: "Snippets.swift") + SourceTree.files(in: "Examples", suffix: ".swift")
            + ["Tests/ErrandToolTests/ReadmeExample.swift"]
    }

    private func blocks() throws -> [Block] {
        try Self.documents.flatMap { path in
            var blocks: [Block] = []
            var open: (start: Int, isSwift: Bool, lines: [String])?
            for (index, line) in try SourceTree.text(path).components(separatedBy: "\n").enumerated() {
                if line == "```", let block = open {
                    if block.isSwift { blocks.append(Block(place: "\(path):\(block.start)", lines: block.lines)) }
                    open = nil
                } else if open != nil {
                    open?.lines.append(line)
                } else if line.hasPrefix("```") {
                    open = (index + 1, line == "```swift", [])
                } else {
                    #expect(!line.contains("```"), "\(path):\(index + 1): a block that is not looked at")
                }
            }
            #expect(open == nil, "\(path) ends in a block")
            return blocks
        }
    }

    /// Whether the lines stand together in the file, all indented alike.
    private func occurs(_ lines: [String], in file: [String]) -> Bool {
        guard let first = lines.first, !lines.isEmpty, file.count >= lines.count else { return false }
        return (0...(file.count - lines.count)).contains { start in
            guard file[start].hasSuffix(first) else { return false }
            let indent = String(file[start].dropLast(first.count))
            guard indent.allSatisfy({ $0 == " " }) else { return false }
            return zip(lines, file[start...]).allSatisfy { $0.isEmpty ? $1.isEmpty : indent + $0 == $1 }
        }
    }

    @Test func everyBlockOfAGuideIsCompiled() throws {
        let files = try Self.snippets.map { try SourceTree.text($0).components(separatedBy: "\n") }
        let blocks = try blocks()
        #expect(blocks.count > 60)
        for page in ["README.md", "docs/tour.md"] { #expect(blocks.contains { $0.place.hasPrefix(page) }) }
        #expect(blocks.filter { block in !files.contains { occurs(block.lines, in: $0) } }.map(\.place) == [])
    }

    /// The symbols that a guide links to, and the guides that are linked to.
    @Test func everyLinkLeadsSomewhere() throws {
        let declarations = try Declarations(in: "Sources")
        var broken: [String] = []
        for path in SourceTree.files(in: Self.catalog, suffix: ".md") {
            let text = try SourceTree.text(path)
            for part in text.replacingOccurrences(of: "```", with: "").components(separatedBy: "``").enumerated()
            where part.offset % 2 == 1 {
                let name = part.element.replacingOccurrences(of: "/", with: ".").prefix { $0 != "(" }
                if name != "Errand", !declarations.contains(String(name)) { broken.append("\(path): \(name)") }
            }
            for part in text.components(separatedBy: "<doc:").dropFirst() {
                let guide = part.prefix { $0 != ">" }
                let file = SourceTree.root.appendingPathComponent("\(Self.catalog)/\(guide).md").path
                if !FileManager.default.fileExists(atPath: file) { broken.append("\(path): \(guide)") }
            }
        }
        #expect(broken == [])
    }

    /// The catalog's first page leads to every guide and to every public type.
    @Test func theFirstPageLeadsEverywhere() throws {
        let page = try SourceTree.text("\(Self.catalog)/Errand.md")
        let links = Set(
            page.components(separatedBy: "\n").filter { $0.hasPrefix("- ") }.map { String($0.dropFirst(2)) })
        for path in SourceTree.files(in: Self.catalog, suffix: ".md") {
            let guide = path.split(separator: "/").last?.dropLast(3) ?? ""
            #expect(guide == "Errand" || links.contains("<doc:\(guide)>"), "\(path) is not linked")
        }
        var types: [String] = []
        let exported = try SourceTree.text("Sources/Errand/Exports.swift").split { !($0.isLetter || $0.isNumber) }
            .filter { $0.hasPrefix("Errand") }
        #expect(exported.count > 8)
        for path in exported.flatMap({ SourceTree.files(in: "Sources/\($0)", suffix: ".swift") }) {
            for line in try SourceTree.text(path).components(separatedBy: "\n") where line.hasPrefix("public ") {
                let words = line.split { !($0.isLetter || $0.isNumber) }
                let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "actor"]
                guard let kind = words.firstIndex(where: kinds.contains), kind + 1 < words.count,
                    !line.hasPrefix("public import")
                else { continue }
                types.append(String(words[kind + 1]))
            }
        }
        #expect(types.count > 70)
        #expect(types.filter { !links.contains("``\($0)``") } == [])
    }
}
