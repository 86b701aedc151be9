import Errand
import Foundation
import Testing

@testable import errand

/// What a `.http` file says.
@Suite struct HTTPFileParserTests {
    private func requests(_ text: String) throws -> [HTTPFileRequest] {
        try HTTPFileParser.parse(text).requests
    }

    private func one(_ text: String) throws -> HTTPFileRequest {
        let requests = try requests(text)
        #expect(requests.count == 1)
        return try #require(requests.first)
    }

    private func lines(_ request: HTTPFileRequest) -> [String] {
        request.body.map { line in
            switch line {
            case .text(let text), .exact(let text): String(text.source)
            case .file(let file): "FILE \(file.path.source) \(file.encoding?.rawValue ?? "raw")"
            case .bytes(let bytes): "\(bytes.count) bytes"
            }
        }
    }

    @Test func readsAWholeFile() throws {
        let file = try HTTPFileParser.parse(
            """
            # A comment
            @host = http://a.test
            @base={{host}}/v1

            ### Log in
            // @name login
            POST {{base}}/login HTTP/1.1
            Content-Type: application/json
            # a comment among headers
            X-Empty:

            {"user": "ada"}

            ###

            # @name = list
            {{base}}/users
                ?page=1
                &size={{size}}
            Accept: */*

            ### Nothing but this title
            """)
        #expect(file.variables.map(\.name) == ["host", "base"])
        #expect(file.variables.map { String($0.value.source) } == ["http://a.test", "{{host}}/v1"])
        #expect(file.variables.map(\.position) == [FilePosition(line: 2), FilePosition(line: 3)])
        #expect(file.requests.map(\.name) == ["login", "list"])
        #expect(file.requests.map(\.title) == ["Log in", nil])
        #expect(file.requests.map(\.method) == ["POST", "GET"])
        #expect(
            file.requests.map { String($0.url.source) } == ["{{base}}/login", "{{base}}/users?page=1&size={{size}}"])
        #expect(file.requests.map(\.position.line) == [7, 17])
        #expect(file.requests[0].version == .http1)
        #expect(file.requests[0].fields.map(\.name) == ["Content-Type", "X-Empty"])
        #expect(file.requests[0].fields.map { String($0.value.source) } == ["application/json", ""])
        #expect(lines(file.requests[0]) == [#"{"user": "ada"}"#])
        #expect(file.requests[1].body.isEmpty)
        #expect(
            file.requests[1].url.placeholders.map(\.position) == [
                FilePosition(line: 17), FilePosition(line: 19, column: 11),
            ])
    }

    struct Line: CustomTestStringConvertible, Sendable {
        let text: String
        let method: String
        let url: String
        var version: ConnectionOptions.HTTPVersionPolicy?

        var testDescription: String { text }
    }

    @Test(arguments: [
        Line(text: "GET http://a/", method: "GET", url: "http://a/"),
        Line(text: "  post \t http://a/  ", method: "POST", url: "http://a/"),
        Line(text: "http://a/?b=c", method: "GET", url: "http://a/?b=c"),
        Line(text: "PURGE http://a/", method: "PURGE", url: "http://a/"),
        Line(text: "M-SEARCH http://a/", method: "M-SEARCH", url: "http://a/"),
        Line(text: "GET http://a/ HTTP/1.1", method: "GET", url: "http://a/", version: .http1),
        Line(text: "http://a/ HTTP/2", method: "GET", url: "http://a/", version: .http2OverTLS),
        Line(text: "GET http://a/ HTTP/2.0", method: "GET", url: "http://a/", version: .http2OverTLS),
        Line(
            text: "GET http://a/ HTTP/2 (Prior Knowledge)", method: "GET", url: "http://a/",
            version: .http2PriorKnowledge),
        Line(text: "GET {{url}}", method: "GET", url: "{{url}}"),
        Line(text: "{{$randomInt 1 5}}.test/", method: "GET", url: "{{$randomInt 1 5}}.test/"),
        Line(text: "localhost:8080/x", method: "GET", url: "localhost:8080/x"),
        Line(text: "GET /x", method: "GET", url: "/x"),
    ]) func readsRequestLines(_ line: Line) throws {
        let request = try one(line.text)
        #expect(request.method == line.method)
        #expect(String(request.url.source) == line.url)
        #expect(request.version == line.version)
    }

    @Test func joinsURLs() throws {
        let request = try one("GET http://a\n  /b\n\t/c\n  ?d=1\n# why\n  &e=2\n&f=3 HTTP/1.1\nX: y\n")
        #expect(request.url.source == "http://a/b/c?d=1&e=2&f=3")
        #expect(request.version == .http1 && request.fields.map(\.name) == ["X"])
    }

    @Test func readsBodies() throws {
        #expect(lines(try one("POST http://a/\n\na\n\n  b \n\n\n###\n")) == ["a", "", "  b "])
        #expect(lines(try one("POST http://a/\nX: y\n \n\na")) == ["", "a"])
        #expect(lines(try one("POST http://a/\n\n<?xml version=\"1.0\"?>\n<a>\n> quoted\n@b = c\n")).count == 4)
        #expect(lines(try one("POST http://a/\n\na\n# comment\n  // comment\nb/c#d")) == ["a", "b/c#d"])
        let files = try one("POST http://a/\n\n--x\n< ./a b.bin\n<@ ./{{c}}\n<@latin1 d\n<@UTF-8 e\n--x--\n<> 2.json")
        #expect(
            lines(files) == [
                "--x", "FILE ./a b.bin raw", "FILE ./{{c}} utf8", "FILE d latin1", "FILE e utf8", "--x--",
            ])
    }

    @Test func readsWhatCommentsSay() throws {
        let request = try one(
            """
            #@no-redirect
            # @no-cookie-jar
            // @timeout 5
            ## @connection-timeout 500 ms
            # @author Ada
            # @no-log
            GET http://a/
            """)
        #expect(
            request.options
                == HTTPFileRequest.Options(
                    followsRedirects: false, usesCookies: false, idleTimeout: .seconds(5),
                    connectTimeout: .milliseconds(500)))
        #expect(request.name == nil)
        #expect(try requests("# @no-redirect\nGET http://a/\n###\nGET http://a/")[1].options.followsRedirects)
    }

    @Test func readsWhatEditorsWrite() throws {
        let windows = "\u{FEFF}@a = b\r\n### t\r\nPOST http://ä/\r\nX: {{é}}\r\n\r\nü\r\n{{a}}\r\n\r\n"
        let file = try HTTPFileParser.parse(Array(windows.utf8))
        let request = try #require(file.requests.first)
        #expect(file.variables.first?.value.source == "b" && request.title == "t")
        #expect(lines(request) == ["ü", "{{a}}"])
        #expect(request.fields.first?.value.position == FilePosition(line: 4, column: 4))
        #expect(try requests("GET http://a/\n###\u{301}\n#\u{301}x\nGET http://b/").count == 2)
        for empty in ["", "\n", "\r\n\r\n", "###", "### a\n### b\n", "# only\n@a = 1"] {
            #expect(try HTTPFileParser.parse(empty).requests.isEmpty)
        }
    }

    struct Bad: CustomTestStringConvertible, Sendable {
        let text: String
        let place: String
        let message: String

        init(_ text: String, _ place: String, _ message: String) {
            self.text = text
            self.place = place
            self.message = message
        }

        var testDescription: String { text.debugDescription }
    }

    static let bad: [Bad] = [
        Bad("\n  nonsense", "2:3", "neither a method nor a URL"),
        Bad("fetch http://a/", "1:1", "'fetch' is neither a method nor a URL"),
        Bad("GET", "1:1", "requires a URL"),
        Bad("GRAPHQL http://a/", "1:1", "not supported"),
        Bad("\nWEBSOCKET ws://a/", "2:1", "not supported"),
        Bad("GRPC a/b", "1:1", "not supported"),
        Bad("HTTP/1.1 200 OK", "1:1", "the line begins a response"),
        Bad("GET http://a/ HTTP/3", "1:15", "'HTTP/3' is not supported"),
        Bad("GET http://a/b c", "1:5", "the URL contains a space"),
        Bad("GET http://a/ HTTP/1.1\n  ?a=b", "2:3", "after the HTTP version"),
        Bad("GET http://a/\nno colon", "2:1", "not a header field"),
        Bad("GET http://a/\n  X: y", "2:3", "not a header field"),
        Bad("GET http://a/\nX Y: z", "2:1", "not a header field"),
        Bad("GET http://a/\nGET http://b/", "2:1", "not a header field"),
        Bad("POST http://a/\n< ./body", "2:1", "requires a blank line"),
        Bad("POST http://a/\nX-Request-Type: GraphQL", "2:1", "GraphQL"),
        Bad("@a", "1:1", "has no '='"),
        Bad("  @a b = c", "1:3", "'a b' is not the name"),
        Bad(
            "# @name a\nGET http://a/\n###\n# @name a\nGET http://a/", "5:1",
            "the name 'a' is already used by the request on line 2"),
        Bad("# @name a\n# @name b\nGET http://a/", "2:3", "twice"),
        Bad("# @name\nGET http://a/", "1:3", "no name"),
        Bad("# @name a", "1:3", "a request line is missing"),
        Bad("# @timeout 5\n###", "1:3", "a request line is missing"),
        Bad("GET http://a/\n# @name b", "2:3", "is '###' missing?"),
        Bad("GET http://a/\n\n# @timeout 5", "3:3", "is '###' missing?"),
        Bad("# @timeout soon\nGET http://a/", "1:3", "'@timeout' requires"),
        Bad("//  @prompt otp\nGET http://a/", "1:5", "'@prompt' is not supported"),
        Bad("# @note\nGET http://a/", "1:3", "'@note' is not supported"),
        Bad("GET http://a/\n\n>> out.json", "3:1", "saving a response"),
        Bad("GET http://a/\n\n>>! out.json", "3:1", "saving a response"),
        Bad("POST http://a/\n\n<@utf7 b", "3:1", "'utf7' is not supported"),
        Bad("GET http://a/{{b", "1:14", "'{{' is not closed"),
        Bad("POST http://a/\n\nüé{{a\n}}", "3:3", "'{{' is not closed"),
        Bad("GET http://{{}}/", "1:12", "'' is not the name"),
        Bad("GET http://{{a b}}/", "1:12", "'a b' is not the name"),
        Bad("GET http://{{%a}}/", "1:12", "percent-encoding"),
        Bad("GET http://{{$nope}}/", "1:12", "'$nope' is not supported, expected one of $uuid"),
        Bad("GET http://{{$dotenv %A}}/", "1:12", "'$dotenv' requires one name"),
        Bad("GET http://{{$datetime now}}/", "1:12", "expected rfc1123, iso8601"),
        Bad("GET http://{{$datetime iso8601 1 x}}/", "1:12", "the date offset must be"),
        Bad("GET http://{{$datetime iso8601 4294967295 Q}}/", "1:12", "the date offset leads to a year"),
        Bad("GET http://{{$uuid 4}}/", "1:12", "takes no arguments"),
        Bad("GET http://{{$randomInt 5 5}}/", "1:12", "two integers"),
        Bad("GET http://{{$randomInt 5}}/", "1:12", "two integers"),
        Bad("GET http://{{$timestamp 1 y}}/", "1:12", "'$timestamp' requires"),
        Bad("GET http://{{$timestamp 99999999999 w}}/", "1:12", "'$timestamp' requires"),
        Bad("GET http://{{$processEnv}}/", "1:12", "requires one name"),
        Bad("GET http://{{$processEnv %A}}/", "1:12", "requires one name"),
        Bad("GET http://{{a.response}}/", "1:12", "does not end in"),
        Bad("GET http://{{a.response.status}}/", "1:12", "does not end in"),
        Bad("GET http://{{a.response.body}}/", "1:12", "does not end in"),
        Bad("GET http://{{a.response.headers.*}}/", "1:12", "does not end in"),
        Bad("GET http://{{a.response.body.//b}}/", "1:12", "XPath"),
        Bad("GET http://{{a.response.body.$..b}}/", "1:12", "JSON path"),
        Bad("GET http://{{a.response.body.$.*}}/", "1:12", "JSON path"),
        Bad("GET http://{{a.response.body.$b}}/", "1:12", "JSON path"),
        Bad("GET http://{{a.response.body.$[-1]}}/", "1:12", "JSON path"),
        Bad("GET http://{{a.response.body.$[?(@.b)]}}/", "1:12", "JSON path"),
        Bad("GET http://{{a.response.body.$['b}}/", "1:12", "JSON path"),
    ]

    @Test(arguments: bad) func saysWhere(_ example: Bad) throws {
        let error = try #require(throws: HTTPFileError.self) { try HTTPFileParser.parse(example.text) }
        #expect(error.inFile("f").text.hasPrefix("f:\(example.place): "), "\(error.text)")
        #expect(error.message.contains(example.message), "\(error.text)")
    }

    @Test func refusesOtherEncodings() throws {
        let invalid = try #require(throws: HTTPFileError.self) {
            try HTTPFileParser.parse(Array("GET http://a/\r\n# ü".utf8) + [0xFF, 0x0A])
        }
        #expect(invalid.position == FilePosition(line: 2, column: 4))
        let wide = try #require(throws: HTTPFileError.self) { try HTTPFileParser.parse([0xFF, 0xFE, 0x47, 0x00]) }
        #expect(wide.text == "1:1: the file is UTF-16, expected UTF-8")
    }

    /// Forty times the text may take 400 times as long, so that a slow moment is no failure; quadratic would be 1,600.
    @Test func takesLinearTime() throws {
        func seconds(_ text: String) throws -> Double {
            let start = ContinuousClock.now
            _ = try HTTPFileParser.parse(text)
            return (ContinuousClock.now - start) / .seconds(1)
        }
        let shapes = [
            (0..<200).map { "### \($0)\n# @name a\($0)\nPOST http://a/{{b}}\nX: {{c}}\n\n{{d}} é\n\n" }.joined(),
            "POST http://a/\n\n" + String(repeating: "é{{a}}", count: 2000),
            "POST http://a/\n\n" + String(repeating: "\n", count: 8000),
        ]
        for (number, shape) in shapes.enumerated() {
            _ = try seconds(shape)
            let small = try seconds(shape)
            let body = number == 0 ? shape.replacing("# @name", with: "# @n") : shape
            let tail = number == 0 ? body : String(body.dropFirst("POST http://a/\n\n".count))
            let large = try seconds(body + String(repeating: tail, count: 39))
            #expect(large < 40 * 10 * max(small, 0.000_5), "\(number): \(small) s, 40 times as much: \(large) s")
        }
    }
}

extension HTTPFileParserTests {
    @Test func readsTheFileOfTheToolsPage() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/tool.md")
        let blocks = try String(contentsOf: page, encoding: .utf8).split(separator: "```\n")
        let block = try #require(blocks.first { $0.hasPrefix("@token") })
        let file = try HTTPFileParser.parse(String(block))
        #expect(file.requests.map(\.method) == ["POST", "GET"])
        #expect(file.requests.map(\.name) == ["login", nil])
        let variables = HTTPVariables(
            path: "docs/tool.md", given: ["host": "http://a.test"], file: file.variables, process: ["PASSWORD": "x"])
        var references = HTTPReferences(variables)
        #expect(try file.requests[1].fields.flatMap { try references.of($0.value) }.map(\.reference.name) == ["login"])
    }

    /// JetBrains' scripts are left out with a warning each; what stands around them is as if they were not there.
    @Test(arguments: [
        ("< {%\n client.x = 1;\n### no title\n%}\nPOST http://a/\n\nbody", 1, "< {%"),
        ("< {% x %}\nPOST http://a/\n\nbody", 1, "< {%"), ("POST http://a/\n\nbody\n\n> {% x %}", 5, "> {%"),
        ("POST http://a/\n\nbody\n\n> {%\n  client.test(\"a\", function() { });\n%}\n\n", 5, "> {%"),
        ("POST http://a/\n\nbody\n\n> ./check.js", 5, "check.js"),
    ]) func scriptsAreSkipped(_ text: String, _ line: Int, _ what: String) throws {
        let file = try HTTPFileParser.parse(text)
        #expect(file.requests.count == 1)
        #expect(file.warnings.map(\.position.line) == [line])
        #expect(file.warnings[0].text.contains(what) && file.warnings[0].text.contains("skipped"))
        let body = try #require(file.requests.first).body
        guard body.count == 1, case .text(let template) = body[0] else {
            Issue.record("the body is \(body)")
            return
        }
        #expect(template.source == "body")
    }
}
