import ErrandTesting
import Foundation
import Testing

@testable import errand

/// `--junit` and `--tap` of `errand batch` and `errand chain`.
@Suite struct ReportTests {
    private let run: HTTPFileRun

    init() throws {
        run = try HTTPFileRun()
        try run.server.on("/ok", [HTTPFileRun.answer()])
        try run.server.on("/missing", [HTTPFileRun.answer("404 Not Found")])
        try run.server.on("/lost", [.reset])
        for (name, text) in [("a.http", ReportTests.first), ("b.rest", ReportTests.second)] {
            try run.write(name, text.replacing("HOST", with: "http://127.0.0.1:\(run.server.port)"))
        }
    }

    private static let first = """
        # @name fine
        GET HOST/ok
        ### <&"'> \\ \u{1}\u{1B}é
        GET HOST/missing?token=hunter2
        ###
        # @expect 2xx
        GET HOST/missing
        """

    private static let second = """
        GET HOST/lost
        ###
        GET HOST/ok
        """

    private var paths: [String] { ["a.http", "b.rest"].map { run.folder.file($0).path } }

    @Test func writesJUnitXML() throws {
        let report = run.folder.file("report.xml")
        let tool = try ToolRun(["chain", "--keep-going", "--junit", report.path] + paths)
        #expect(tool.status == 22 && tool.text.hasSuffix("5 requests: 2 ok, 3 failed\n"))
        let text = try String(contentsOf: report, encoding: .utf8)
        // Times and dates differ from run to run.
        let lines = text.replacing(/time="\d+\.\d{6}"/, with: "time=\"T\"")
            .replacing(/timestamp="\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/, with: "timestamp=\"D\"").split(separator: "\n")
        let (a, b) = (paths[0], paths[1])
        let folder = a.split(separator: "/").dropLast().joined(separator: ".")
        let host = "http://127.0.0.1:\(run.server.port)"
        #expect(
            lines.prefix(12).map(String.init) == [
                #"<?xml version="1.0" encoding="UTF-8"?>"#,
                #"<testsuites name="errand" tests="5" failures="2" errors="1" skipped="0" time="T">"#,
                #"  <testsuite name="\#(a)" tests="3" failures="2" errors="0" skipped="0" time="T" timestamp="D">"#,
                #"    <testcase name="fine" classname="\#(folder).a" file="\#(a)" time="T"/>"#,
                #"    <testcase name="&lt;&amp;&quot;'&gt; \ \#u{FFFD}\#u{FFFD}é" classname="\#(folder).a" file="\#(a)" time="T">"#,
                #"      <failure message="statusNotAccepted: the status is 404, expected 200-299" type="statusNotAccepted">"#
                    + #"GET \#(host)/missing?token=REDACTED&#10;status 404&#10;statusNotAccepted: the status is 404, "#
                    + #"expected 200-299</failure>"#,
                "    </testcase>",
                ##"    <testcase name="#3" classname="\##(folder).a" file="\##(a)" time="T">"##,
                #"      <failure message="expected status == 2xx (line 6), got 404" type="expectationFailed">"#
                    + #"GET \#(host)/missing&#10;status 404&#10;expected status == 2xx (line 6), got 404</failure>"#,
                "    </testcase>",
                "  </testsuite>",
                #"  <testsuite name="\#(b)" tests="2" failures="0" errors="1" skipped="0" time="T" timestamp="D">"#,
            ])
        #expect(
            text.contains("no response&#10;") && text.contains("<error message=\"") && text.hasSuffix("</testsuites>\n")
        )
        #expect(run.folder.names == ["a.http", "b.rest", "report.xml"])
    }

    @Test func tellsWhatWasNotRunAsSkipped() throws {
        let report = run.folder.file("report.xml")
        let tool = try ToolRun(["chain", "--tap", "--junit", report.path] + paths)
        #expect(tool.status == 22)
        let text = try String(contentsOf: report, encoding: .utf8)
        #expect(text.contains(#"tests="5" failures="1" errors="0" skipped="3""#))
        #expect(text.contains(#"      <skipped message="not run, because the group ended"/>"#))
        #expect(tool.text.hasSuffix("\nok 5 - \(paths[1]): \\#2 # SKIP not run, because the group ended\n"))
    }

    @Test func writesTAP() throws {
        let tool = try ToolRun(["chain", "--keep-going", "--tap", paths[0]])
        #expect(tool.status == 22)
        let text = tool.text.replacing(/duration_ms: [0-9.]+/, with: "duration_ms: D")
        let host = "http://127.0.0.1:\(run.server.port)"
        #expect(
            text == """
                TAP version 14
                1..3
                ok 1 - fine
                not ok 2 - <&"'> \\\\ \u{FFFD}\u{FFFD}é
                  ---
                  message: "statusNotAccepted: the status is 404, expected 200-299"
                  severity: "fail"
                  kind: "statusNotAccepted"
                  file: "\(paths[0])"
                  method: "GET"
                  url: "\(host)/missing?token=REDACTED"
                  status: 404
                  duration_ms: D
                  exit_code: 22
                  ...
                not ok 3 - \\#3
                  ---
                  message: "expected status == 2xx (line 6), got 404"
                  severity: "fail"
                  kind: "expectationFailed"
                  file: "\(paths[0])"
                  method: "GET"
                  url: "\(host)/missing"
                  status: 404
                  duration_ms: D
                  exit_code: 23
                  ...

                """)
    }

    @Test func writesWhatThereIsWhenInterrupted() throws {
        try run.server.on("/stall", [.stall])
        let report = run.folder.file("report.xml")
        let tool = try run.run(
            "chain", "GET HOST/ok\n###\nGET HOST/stall\n###\nGET HOST/ok", ["--tap", "--junit", report.path],
            interruptWhen: { run.server.counts.requests == 2 })
        #expect(tool.status == 130)
        #expect(tool.text.hasPrefix("TAP version 14\n1..3\nok 1 - \\#1\nok 2 - \\#2 # SKIP stopped"), "\(tool.text)")
        #expect(tool.text.hasSuffix("\nBail out! interrupted\n"))
        #expect(
            try String(contentsOf: report, encoding: .utf8).contains(#"tests="3" failures="0" errors="0" skipped="2""#))
    }

    @Test func refusesWhatCannotBeWritten() throws {
        let tool = try ToolRun(["batch", "--junit", "/nonexistent/report.xml", paths[0]])
        #expect(tool.status == 73)
        #expect(tool.errors == "errand: --junit: cannot write '/nonexistent/report.xml': No such file or directory\n")
        #expect(try ToolRun(["batch", "--json", "--tap", paths[0]]).status == 64)
        #expect(run.server.counts.requests == 0)
        let full = try ToolRun(["batch", "--junit", "/dev/full", paths[0], "--only", "fine"])
        #expect(full.status == 73 && full.errors.contains("cannot write '/dev/full'") && full.text.contains("1 ok"))
    }

    @Test func escapesWhatXMLDoesNotAllow() {
        let text = "\u{0}\u{B}\u{7F}\u{85}\u{FFFE}\u{FFFF}\t\r\n😀"
        let place = "\u{FFFD}"
        #expect(JUnitReport.escaped(text) == String(repeating: place, count: 6) + "&#9;&#13;&#10;😀")
    }
}
