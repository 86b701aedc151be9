import ErrandTesting
import Foundation
import Testing

@testable import errand

/// Whatever stands in a file, the answer is a document or an error with a place in it.
@Suite struct HTTPFileFuzzTests {
    private static let pieces = [
        "###", "### title", "# @name ", "// @name a", "@", "@a = ", "@b={{a}}", "GET ", "POST http://a/", "http://",
        " HTTP/1.1", " HTTP/2 (Prior Knowledge)", "\n", "\r\n", "\r", "\n\n", "\n  ?", "\n  &", "\n\t/", "X: y", ":",
        "{{", "}}", "{", "}", "{{a}}", "{{$uuid}}", "{{$randomInt -9223372036854775808 9223372036854775807}}",
        "{{$timestamp -1 d}}", "{{$random.integer(", ")}}", "{{login.response.body.$", "['", "']", "[0]", ".", "$", "<",
        "< ", "<@", "<@latin1 ", "> {%", "%}", ">>", "<> ", "é", "\u{FEFF}", "\u{0}", "😀", "e\u{301}", " ", "\t", "=",
        "a", "%", "\"", "# @expect 2xx,404", "# @expect ", "\n?? status == 200", "\n?? header X contains a",
        "\n?? body.a[0] < 5",
        "\n?? ", "body", "[", " exists", " == ", "# @timeout 5", "# @timeout ", "#", "//", "/",
    ]

    @Test(arguments: 0..<8) func neverTraps(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var read = 0
        for _ in 0..<3000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...24, using: &random) {
                text += HTTPFileFuzzTests.pieces.randomElement(using: &random) ?? ""
            }
            var bytes = Array(text.utf8)
            // Now and then bytes that are no text.
            if Int.random(in: 0..<8, using: &random) == 0, !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let lineCount = bytes.count { $0 == 0x0A } + 1
            switch Result(catching: { () throws(HTTPFileError) in try HTTPFileParser.parse(bytes) }) {
            case .success(let file):
                read += file.requests.count
                check(file, lineCount: lineCount)
            case .failure(let error):
                let position = try #require(error.position, "\(error.text)")
                #expect((1...lineCount).contains(position.line) && position.column >= 1, "\(error.text)")
                #expect(!error.message.isEmpty)
            }
        }
        #expect(read > 0)
    }

    private func check(_ file: HTTPFile, lineCount: Int) {
        let variables = HTTPVariables(path: "f", file: file.variables)
        var references = HTTPReferences(variables)
        for request in file.requests {
            #expect((1...lineCount).contains(request.position.line))
            let templates = [request.url] + request.fields.map(\.value)
            for template in templates {
                // Either both find something wrong, or neither does but for what no run has said.
                let found = try? references.of(template)
                let text = try? variables.expand(template)
                #expect(found != nil || text == nil, "\(template.source)")
                if let found, found.isEmpty { #expect(text != nil, "\(template.source)") }
            }
        }
    }

    @Test(arguments: 0..<4) func findsPathsInAnything(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"\\u00e9\"", "\"", "\\", "1", "-2.5e3", "true", "null", " ", "\n",
        ]
        let paths = try ["$", "$.a", "$['é'][1]", "$[0][0].a", "$.a.a"].map {
            try JSONPath($0[...], at: FilePosition(line: 1))
        }
        for _ in 0..<4000 {
            let text = (0..<Int.random(in: 0...14, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            guard let json = try? JSONText(Array(text.utf8)) else { continue }
            for path in paths { _ = json.text(at: path) }
        }
    }
}
