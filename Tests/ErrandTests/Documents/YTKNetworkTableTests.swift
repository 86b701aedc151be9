import Foundation
import Testing

/// docs/ytknetwork.md says what became of each name of YTKNetwork; this keeps it true.
@Suite struct YTKNetworkTableTests {
    private struct Table {
        /// Those of the long tables.
        let rows: [MarkdownTable.Row]
        /// Those of the short table at the page's beginning.
        let shortRows: [MarkdownTable.Row]

        init() {
            let text = (try? SourceTree.text("docs/ytknetwork.md")) ?? ""
            let long = text.components(separatedBy: "\n").firstIndex(of: "## Enumerations, constants, types") ?? 0
            let all = MarkdownTable(text).rows
            rows = all.filter { $0.line > long }
            shortRows = all.filter { $0.line <= long }
        }

        /// The name of YTKNetwork, or the rule.
        func name(_ row: MarkdownTable.Row) -> String {
            row.cells[0].contains("rule: ") || row.cells[0].hasPrefix("rule") ? row.cells[0] : row.code(0).first ?? ""
        }
    }

    private let table = Table()

    @Test func everyNameHasARowAndNoRowHasAnother() {
        let found = table.rows.map(table.name)
        #expect(Set(found).count == found.count, "a name twice")
        #expect(Set(YTKNetworkNames.all).subtracting(found).sorted() == [])
        #expect(Set(found).subtracting(YTKNetworkNames.all).sorted() == [])
    }

    /// The short table has no name that the long ones do not have.
    @Test func theShortTableHasTheSameNames() {
        #expect(table.shortRows.count == 30)
        let known = Set(YTKNetworkNames.all)
        #expect(table.shortRows.flatMap { $0.code(0) }.filter { !known.contains($0) } == [])
    }

    @Test func everyRowNamesADeclarationOrAReason() throws {
        let declarations = try Declarations(in: "Sources")
        var missing: [String] = []
        for row in table.rows {
            if row.cells[1].hasPrefix("none: ") {
                if row.cells[1].count < 20 { missing.append("\(row.line): a reason") }
                continue
            }
            if row.code(1).isEmpty { missing.append("\(row.line): a name") }
            for name in row.code(1) where !declarations.contains(name) { missing.append("\(row.line): \(name)") }
        }
        #expect(missing == [])
    }

    @Test func everyRowHasATestThatExists() throws {
        let tests = try TestNames(in: "Tests")
        var missing: [String] = []
        for row in table.rows {
            let needsOne = !row.cells[1].hasPrefix("none: ")
            if needsOne, row.code(2).isEmpty { missing.append("\(row.line): a test") }
            for test in row.code(2) where !tests.names.contains(test) { missing.append("\(row.line): \(test)") }
        }
        #expect(missing == [])
    }

    /// Nothing is put off, and the document says how many rows there are.
    @Test func nothingIsPlanned() throws {
        let planned = table.rows.filter { row in row.cells.contains { $0.hasPrefix("planned") } }
        #expect(planned.map(\.line) == [])
        // A line may end in the middle of it.
        let words = try SourceTree.text("docs/ytknetwork.md").split(whereSeparator: \.isWhitespace).joined(
            separator: " ")
        #expect(words.contains("All \(table.rows.count) rows are done."), "\(table.rows.count) rows")
    }

    /// The search must be able to fail.
    @Test func theSearchTellsWhatIsThereFromWhatIsNot() throws {
        let declarations = try Declarations(in: "Sources")
        for name in [
            "Client.start", "Command.path", "RequestState.cancelled", "ErrandError.Code.timeoutIdle", "Limits",
        ] {
            #expect(declarations.contains(name), "\(name)")
        }
        let absent = [
            "Priority.path", "ErrandError.message.text", "Client.Configuration.folder", "Command.nothing",
            "RequestState.nothing", "Nothing", "Nothing.start", "",
        ]
        #expect(absent.filter { declarations.contains($0) } == [])
        let tests = try TestNames(in: "Tests").names
        #expect(tests.contains("everyRowHasATestThatExists") && !tests.contains("callbacksDrained"))
    }
}
