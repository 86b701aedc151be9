import Foundation
import Testing

/// The README's table of targets, its links and its length; the map of the sources.
@Suite struct ReadmeTests {
    private let text = (try? SourceTree.text("README.md")) ?? ""

    /// A newcomer reads it in one go.
    @Test func itIsShort() {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
        #expect(lines > 100 && lines <= 200, "\(lines) lines")
    }

    @Test func everyProductIsInTheTable() throws {
        let start = try #require(text.range(of: "### Targets\n"))
        let end = try #require(text[start.upperBound...].range(of: "\n#"))
        let names = MarkdownTable(String(text[start.upperBound..<end.lowerBound])).rows.flatMap { $0.code(0) }
        let package = try SourceTree.text("Package.swift").components(separatedBy: "\n")
        let products = package.compactMap { line -> String? in
            let code = line.trimmingCharacters(in: .whitespaces)
            guard code.contains("targets: ["), code.hasPrefix(".library(") || code.hasPrefix(".executable(") else {
                return nil
            }
            let parts = code.components(separatedBy: "\"")
            return parts.count > 1 ? parts[1] : nil
        }
        #expect(products.contains("Errand") && products.contains("errand"))
        #expect(products.filter { !names.contains($0) } == [])
    }

    /// Links between the documents lead to files.
    @Test func everyLinkLeadsToAFile() {
        let pages =
            ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Benchmarks/README.md"]
            + SourceTree.files(in: "docs", suffix: ".md")
        var count = 0
        var broken: [String] = []
        for page in pages {
            let folder = SourceTree.root.appendingPathComponent(page).deletingLastPathComponent()
            for part in ((try? SourceTree.text(page)) ?? "").components(separatedBy: "](").dropFirst() {
                let target = part.prefix { $0 != ")" }
                let file = target.prefix { $0 != "#" }
                guard !target.contains("://"), !file.isEmpty else { continue }
                count += 1
                if !FileManager.default.fileExists(atPath: folder.appendingPathComponent(String(file)).path) {
                    broken.append("\(page): \(target)")
                }
            }
        }
        #expect(count > 20)
        #expect(broken == [])
    }

    @Test func everyFolderIsOnTheMap() throws {
        let page = try SourceTree.text("docs/architecture.md")
        let map = try #require(page.range(of: "## Where things are"))
        let words = MarkdownTable(String(page[map.upperBound...])).rows.flatMap { $0.code(0) + $0.code(1) }
        let found = words.map { $0.hasPrefix("Sources/") ? String($0.dropFirst(8)) : $0 }
        var missing: [String] = []
        let targets = try FileManager.default.contentsOfDirectory(
            atPath: SourceTree.root.appendingPathComponent("Sources").path)
        let apart: Set<String> = [
            "ErrandLoad", "ErrandSQLite", "ErrandTesting", "ErrandXML", "ErrandMetrics", "ErrandTracing",
        ]
        let parts = targets.filter { $0.hasPrefix("Errand") && !apart.contains($0) }
        #expect(parts.count > 8)
        for folder in ["Sources", "Sources/CErrand"] + parts.map({ "Sources/\($0)" }) {
            let path = SourceTree.root.appendingPathComponent(folder).path
            for name in try FileManager.default.contentsOfDirectory(atPath: path).sorted() {
                var isFolder: ObjCBool = false
                let isThere = FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isFolder)
                guard isThere, isFolder.boolValue, folder != "Sources/CErrand" || name != "include" else { continue }
                if !found.contains(name) { missing.append("\(folder)/\(name)") }
            }
        }
        #expect(missing == [])
    }
}
