import Foundation
import Testing

@testable import errand

/// The tool's pure parts.
@Suite struct PartsTests {
    @Test(arguments: [
        ("500ms", 0.5), ("10s", 10), ("1.5m", 90), ("2h", 7200), ("3", 3), ("30", 30),
    ]) func readsDurations(_ text: String, _ seconds: Double) {
        #expect(DurationArgument(argument: text)?.duration == .seconds(seconds))
    }

    @Test(arguments: ["", "s", "0", "-1s", "1e3", "0x10", "inf", "nan", "1 s", "31d", "800h", ".", "1..2", "٣s"])
    func refusesDurations(_ text: String) {
        #expect(DurationArgument(argument: text) == nil)
    }

    @Test func readsByteCounts() {
        #expect(ByteCountArgument(argument: "10")?.bytes == 10)
        #expect(ByteCountArgument(argument: "64K")?.bytes == 65_536)
        #expect(ByteCountArgument(argument: "2g")?.bytes == 2 << 30)
        for text in ["", "k", "0", "-1", "+1", "1.5m", "9223372036854775807g"] {
            #expect(ByteCountArgument(argument: text) == nil)
        }
    }

    @Test func writesJSON() {
        let value = PrintedJSON.object([
            ("a", .string("q\"\\\n\u{1}\u{9B}é")), ("b", .array([.integer(1), .number(0.5), .null, .bool(true)])),
            ("c", .number(.infinity)), ("d", .object([])),
        ])
        #expect(value.text() == #"{"a": "q\"\\\n\u0001\u009bé", "b": [1, 0.5, null, true], "c": null, "d": {}}"#)
        #expect(PrintedJSON.object([("a", .integer(1))]).text(pretty: true) == "{\n  \"a\": 1\n}")
    }

    @Test func groupsDigits() {
        #expect(0.grouped == "0" && 999.grouped == "999" && 1000.grouped == "1,000")
        #expect((-1_234_567).grouped == "-1,234,567" && (-100).grouped == "-100")
        #expect(1234.5678.text(2) == "1,234.57" && 0.05.text(1) == "0.1" && 7.0.text(0) == "7")
    }

    @Test func drawsTheBar() {
        let half = FetchProgress.line(received: 5_000_000, expected: 10_000_000, ended: 0, count: 1, seconds: 1)
        #expect(half == "[###############...............] 50 %  5.0 of 10.0 MB  1 s left  5.0 MB/s")
        let unknown = FetchProgress.line(received: 5_000_000, expected: 0, ended: 1, count: 3, seconds: 2)
        #expect(unknown == "5.0 MB  2.5 MB/s  1 of 3 done")
        // A decoded body may be longer than its Content-Length said.
        #expect(!FetchProgress.line(received: 11, expected: 10, ended: 0, count: 1, seconds: 1).contains("["))
    }

    @Test func drawsTheBarOfAGroup() {
        #expect(GroupProgress.line(ended: 5, failed: 0, count: 10) == "[###############...............] 5 of 10 done")
        #expect(GroupProgress.line(ended: 1, failed: 1, count: 1).hasSuffix("##] 1 of 1 done, 1 failed"))
        #expect(GroupProgress.line(ended: 2, failed: 0, count: 0).hasPrefix("[####"))
    }

    @Test func tablesHoldNoControlCharacters() {
        #expect(OutcomeTable.printable("a\u{1B}[2Jb\n\u{9B}é😀") == "a\u{FFFD}[2Jb\u{FFFD}\u{FFFD}é😀")
    }

    @Test func readsVariables() {
        #expect(VariableArgument(argument: "a=b=c").map { [$0.name, $0.value] } == ["a", "b=c"])
        #expect(VariableArgument(argument: "a=")?.value == "")
        for text in ["", "a", "=b", "a b=c", "$a=b"] { #expect(VariableArgument(argument: text) == nil) }
    }

    @Test func exitCodesAreDocumented() throws {
        let codes = ExitStatus.allCases.map(\.rawValue)
        #expect(Set(codes).count == codes.count)
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/tool.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        for status in ExitStatus.allCases {
            #expect(ExitStatus.help.contains("\(status.rawValue)  \(status.meaning)"))
            #expect(text.contains("| \(status.rawValue) | \(status.meaning) |"))
        }
    }

    @Test func drawsDownloads() {
        let bar = String(repeating: "#", count: 15) + String(repeating: ".", count: 15)
        let half = DownloadBar.line(100_000_000, of: 200_000_000, rate: 50e6, left: .seconds(2), hasBar: true)
        #expect(half == "[\(bar)]  50 %  100.0 of 200.0 MB  50.0 MB/s  2 s left")
        let plain = DownloadBar.line(1_500_000, of: 3_000_000, rate: 0, left: nil, hasBar: false)
        #expect(plain == "50 %  1.5 of 3.0 MB")
        #expect(DownloadBar.line(1_500_000, of: nil, rate: 1e6, left: nil, hasBar: true) == "1.5 MB  1.0 MB/s")
    }
}
