import Errand
import Foundation
import Testing

/// The guide about observing has the table of log lines and their levels.
@Suite struct LogTableTests {
    private static let path = "Sources/Errand/Errand.docc/SeeingWhatTheClientDoes.md"

    @Test func theTableIsThatOfTheCode() throws {
        var lines = try SourceTree.text(Self.path).components(separatedBy: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("| line | level |") })
        let end = try #require(lines[start...].firstIndex { !$0.hasPrefix("|") })
        if ProcessInfo.processInfo.environment["ERRAND_WRITE_DOCS"] == "1" {
            lines.replaceSubrange(start..<end, with: LogLine.table)
            return try SourceTree.write(lines.joined(separator: "\n"), to: Self.path)
        }
        #expect(Array(lines[start..<end]) == LogLine.table)
    }

    /// A service that logs at info gets one line for each request.
    @Test func theDefaultLevelsAreModest() {
        let levels = LogLine.table.dropFirst(2).map { $0.split(separator: "|")[1].trimmingCharacters(in: .whitespaces) }
        #expect(Set(levels) == ["trace", "debug", "info", "warning"])
        #expect(levels.filter { $0 == "info" }.count == 2 && levels.filter { $0 == "warning" }.count == 1)
    }
}
