import Foundation
import Testing

/// The guides' code is compiled, and most of it run, in Tests/ErrandTests/Snippets; this keeps the two alike.
@Suite struct GuideTests {
    private struct Block {
        let place: String
        let lines: [String]
    }

    private static let catalog = "Sources/Errand/Errand.docc"

    private func blocks() throws -> [Block] {
        try SourceTree.files(in: Self.catalog, suffix: ".md").flatMap { path in
            var blocks: [Block] = []
            var open: (start: Int, lines: [String])?
            for (index, line) in try SourceTree.text(path).components(separatedBy: "\n").enumerated() {
                if let block = open, line == "```" {
                    blocks.append(Block(place: "\(path):\(block.start)", lines: block.lines))
                    open = nil
                } else if open != nil {
                    open?.lines.append(line)
                } else if line.hasPrefix("```swift") {
                    open = (index + 1, [])
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
        let files = try SourceTree.files(in: "Tests/ErrandTests/Snippets", suffix: ".swift").map {
            try SourceTree.text($0).components(separatedBy: "\n")
        }
        let blocks = try blocks()
        #expect(blocks.count > 20)
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
                let name = part.element.replacingOccurrences(of: "/", with: ".")
                if name != "Errand", !declarations.contains(name) { broken.append("\(path): \(name)") }
            }
            for part in text.components(separatedBy: "<doc:").dropFirst() {
                let guide = part.prefix { $0 != ">" }
                let file = SourceTree.root.appendingPathComponent("\(Self.catalog)/\(guide).md").path
                if !FileManager.default.fileExists(atPath: file) { broken.append("\(path): \(guide)") }
            }
        }
        #expect(broken == [])
    }
}
