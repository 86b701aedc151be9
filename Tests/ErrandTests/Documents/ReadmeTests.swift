import Foundation
import Testing

/// The README's map and its table of YTKNetwork.
@Suite struct ReadmeTests {
    private let text = (try? SourceTree.text("README.md")) ?? ""

    @Test func everyFolderIsOnTheMap() throws {
        let map = try #require(text.range(of: "## Where things are"))
        let words = MarkdownTable(String(text[map.upperBound...])).rows.flatMap { $0.code(0) }
        let found = words.map { $0.hasPrefix("Sources/") ? String($0.dropFirst(8)) : $0 }
        var missing: [String] = []
        for folder in ["Sources", "Sources/Errand", "Sources/CErrand"] {
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

    /// The short table has no name that the long one does not.
    @Test func namesOfYTKNetworkAreItsOwn() throws {
        let start = try #require(text.range(of: "## Coming from YTKNetwork"))
        let end = try #require(text.range(of: "## Where things are"))
        let rows = MarkdownTable(String(text[start.upperBound..<end.lowerBound])).rows
        #expect(rows.count == 30)
        let known = Set(YTKNetworkNames.all)
        #expect(rows.flatMap { $0.code(0) }.filter { !known.contains($0) } == [])
    }
}
