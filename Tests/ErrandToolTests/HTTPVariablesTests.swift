import Errand
import ErrandLoad
import Foundation
import HTTPTypes
import Testing

@testable import errand

/// What stands for `{{...}}`.
@Suite struct HTTPVariablesTests {
    private func template(_ text: String) throws -> HTTPTemplate {
        try HTTPTemplate(text[...], at: FilePosition(line: 9))
    }

    private func variables(
        _ file: String = "", given: [String: String] = [:], environment: String? = nil, process: [String: String] = [:]
    ) throws -> HTTPVariables {
        var values = HTTPEnvironment()
        if let environment { try values.add(Array(environment.utf8), name: "dev") }
        return HTTPVariables(
            path: "f.http", given: given, file: try HTTPFileParser.parse(file).variables, environment: values,
            process: process)
    }

    private func expand(_ text: String, _ variables: HTTPVariables) throws -> String {
        try variables.expand(try template(text))
    }

    @Test func putsValuesIn() throws {
        let known = try variables("@a = 1\n@b = {{ a }}{{a}}\n@é-x.y = z\n@empty =")
        #expect(try expand("", known) == "")
        #expect(try expand("{{a}}", known) == "1")
        #expect(try expand("x{{b}}y{{é-x.y}}{{empty}}", known) == "x11yz")
        #expect(try expand(#"{"a":{"b":{{a}}}}"#, known) == #"{"a":{"b":1}}"#)
    }

    @Test func theCommandLineWins() throws {
        let environment =
            #"{"$shared": {"a": "s", "b": "s", "c": "s", "d": "s"}, "dev": {"a": "e", "b": "e", "c": "e"}}"#
        let known = try variables("@a = f\n@b = f", given: ["a": "g"], environment: environment)
        #expect(try expand("{{a}}{{b}}{{c}}{{d}}", known) == "gfes")
    }

    @Test func valuesAreNotLookedAtAgain() throws {
        let known = try variables("@a = {{b}}", given: ["b": "{{c}}"])
        #expect(try expand("{{a}}{{b}}", known) == "{{c}}{{c}}")
        known.record(
            HTTPExchange(headers: [:], body: [], response: Response(statusCode: 200, body: Array("{{a}}".utf8))),
            of: "login")
        #expect(try expand("{{login.response.body.*}}", known) == "{{a}}")
    }

    @Test func aVariableIsOneValue() throws {
        let known = try variables("@id = {{$uuid}}")
        let id = try expand("{{id}}", known)
        #expect(try expand("{{id}}", known) == id)
        #expect(UUID(uuidString: id) != nil)
        #expect(try expand("{{$uuid}}", known) != expand("{{$uuid}}", known))
    }

    /// In a load test with a seed.
    @Test func randomValuesOfASeedRepeat() throws {
        let base = try variables("@id = {{$uuid}}")
        func texts(_ seed: UInt64?) throws -> [String] {
            let known = HTTPVariables(anew: base, random: seed.map { LoadRandom(seed: $0) })
            return try ["{{id}}", "{{id}}", "{{$guid}}", "{{$randomInt}}", "{{$random.integer(-9, 9)}}"].map {
                try expand($0, known)
            }
        }
        let first = try texts(1)
        #expect(try texts(1) == first && texts(2) != first && texts(nil) != texts(nil))
        #expect(first[0] == first[1] && first[0] != first[2])
        for text in [first[0], first[2]] {
            #expect(text.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        }
        let known = HTTPVariables(anew: base, random: LoadRandom(seed: 7))
        let drawn = try (0..<2000).map { _ in try Int(expand("{{$randomInt -2 2}}", known)) }
        #expect(Set(drawn) == [-2, -1, 0, 1])
        #expect(try Int64(expand("{{$randomInt -9223372036854775808 9223372036854775807}}", known)) != nil)
    }

    @Test func knowsTheSystem() throws {
        let known = try variables(process: ["HOME": "/home/ada", "E": ""])
        #expect(try expand("{{$processEnv HOME}}{{$env.HOME}}{{$processEnv E}}", known) == "/home/ada/home/ada")
        for name in ["$guid", "$random.uuid"] { #expect(UUID(uuidString: try expand("{{\(name)}}", known)) != nil) }
        let before = Date().timeIntervalSince1970
        let now = try #require(Double(try expand("{{$timestamp}}", known)))
        let yesterday = try #require(Double(try expand("{{$timestamp -1 d}}", known)))
        // Whole seconds.
        let possible = before - 1...Date().timeIntervalSince1970
        #expect(possible.contains(now) && possible.contains(yesterday + 86_400))
        #expect(try expand("{{$isoTimestamp}}", known).wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
        for _ in 0..<50 {
            #expect((3..<5).contains(try #require(Int(try expand("{{$randomInt 3 5}}", known)))))
            #expect((-2..<0).contains(try #require(Int(try expand("{{$random.integer(-2, 0)}}", known)))))
            #expect((0...1000).contains(try #require(Int(try expand("{{$randomInt}}", known)))))
        }
    }

    @Test func refersToExchanges() throws {
        let known = try variables("@token = {{login.response.body.$.data.tokens[1]['value']}}")
        let json =
            #"{"data": {"tokens": [{}, {"value": "a\u00e9\"b"}], "id": 12345678901234567890.50, "o": {"z": 1, "a": [ ]}, "n": null}}"#
        var fields = HTTPFields()
        fields.append(HTTPField(name: try #require(HTTPField.Name("X-Token")), value: "first"))
        fields.append(HTTPField(name: try #require(HTTPField.Name("X-Token")), value: "second"))
        known.record(
            HTTPExchange(
                headers: [.accept: "a/b"], body: Array(#"{"user": "ada"}"#.utf8),
                response: Response(statusCode: 200, headers: fields, body: Array(json.utf8))), of: "login")
        #expect(try expand("{{token}}", known) == "aé\"b")
        #expect(try expand("{{login.response.body.*}}", known) == json)
        #expect(try expand("{{login.response.body.$}}", known) == json)
        // Numbers keep their digits, objects their order.
        #expect(try expand("{{login.response.body.$.data.id}}", known) == "12345678901234567890.50")
        #expect(try expand("{{login.response.body.$.data.o}}", known) == #"{"z": 1, "a": [ ]}"#)
        #expect(try expand("{{login.response.body.$.data.n}}", known) == "null")
        #expect(try expand("{{login.response.headers.x-TOKEN}}", known) == "first")
        #expect(try expand("{{login.request.body.$.user}}{{login.request.headers.Accept}}", known) == "adaa/b")

        for (reference, message) in [
            ("login.response.body.$.nope", "has no '$.nope'"), ("login.response.body.$[0]", "has no '$[0]'"),
            ("login.response.body.$.data.tokens[2]", "has no"), ("login.response.headers.Nope", "no header 'Nope'"),
            ("other.response.body.*", "'other' has not been run"),
        ] {
            let error = try #require(throws: HTTPFileError.self) { try expand("ab{{\(reference)}}", known) }
            #expect(
                error.position == FilePosition(line: 9, column: 3) && error.message.contains(message), "\(error.text)")
        }
    }

    @Test func saysWhatAnExchangeLacks() throws {
        let known = try variables()
        known.record(HTTPExchange(headers: [:], body: nil, response: nil), of: "failed")
        known.record(
            HTTPExchange(headers: [:], body: [0xFF], response: Response(statusCode: 200, body: [0xFF])), of: "binary")
        for (reference, message) in [
            ("failed.response.body.*", "'failed' has no response"), ("failed.request.body.*", "is not kept"),
            ("binary.response.body.*", "is not text"), ("binary.request.body.*", "is not text"),
            ("binary.response.body.$.a", "is not JSON"),
        ] {
            let error = try #require(throws: HTTPFileError.self) { try expand("{{\(reference)}}", known) }
            #expect(error.message.contains(message), "\(error.text)")
        }
    }

    struct Bad: CustomTestStringConvertible, Sendable {
        let file: String
        let text: String
        let place: String
        let message: String
        var testDescription: String { "\(file) | \(text)".debugDescription }
    }

    private static let chain = (0..<100_000).map { "@a\($0) = {{a\($0 + 1)}}\n" }.joined()
    private static let doubling =
        (0..<50).map { "@a\($0) = {{a\($0 + 1)}}{{a\($0 + 1)}}\n" }.joined() + "@a50 = 0123456789"

    /// Found before anything is sent, and by expanding alike.
    @Test(arguments: [
        Bad(file: "", text: "x{{a}}", place: "9:2", message: "'a' is not defined"),
        Bad(file: "@a = {{b}}", text: "{{a}}", place: "f.http:1:6", message: "'b' is not defined"),
        Bad(file: "@a = {{a}}", text: "{{a}}", place: "f.http:1:6", message: "'a' refers to itself"),
        Bad(file: "@a = {{b}}\n@b = {{c}}\n@c = {{a}}", text: "{{a}}", place: "f.http:", message: "refers to itself"),
        Bad(file: chain, text: "{{a0}}", place: "f.http:", message: "more than 64 levels deep"),
        Bad(file: "@a = {{$processEnv NOPE}}", text: "{{a}}", place: "f.http:1:6", message: "variable 'NOPE'"),
    ]) func saysWhatIsMissing(_ example: Bad) throws {
        let known = try variables(example.file)
        let template = try template(example.text)
        let expanding = try #require(throws: HTTPFileError.self) { try known.expand(template) }
        var references = HTTPReferences(known)
        let looking = try #require(throws: HTTPFileError.self) { try references.of(template) }
        for error in [expanding, looking] {
            #expect(error.text.hasPrefix(example.place) && error.message.contains(example.message), "\(error.text)")
        }
    }

    @Test func boundsWhatVariablesBecome() throws {
        let known = try variables(HTTPVariablesTests.doubling)
        let error = try #require(throws: HTTPFileError.self) { try expand("{{a0}}", known) }
        #expect(error.message.contains("longer than 16 MiB"), "\(error.text)")
        var references = HTTPReferences(known)
        #expect(try references.of(try template("{{a0}}")).isEmpty)
    }

    @Test func findsReferencesThroughVariables() throws {
        let known = try variables("@a = {{b}}{{b}}\n@b = {{x.response.body.*}}{{y.request.headers.Z}}")
        var references = HTTPReferences(known)
        let found = try references.of(try template("..{{a}}{{z.response.body.*}}"))
        #expect(found.map(\.reference.name) == ["x", "y", "z"])
        #expect(found.map(\.position.column) == [3, 3, 8])
    }

    @Test func readsEnvironments() throws {
        let text = #"{"dev": {"t": "x", "i": 8080, "d": 1.5, "y": true, "v": "{{t}}{{i}}", "o": {"a": 1}}, "prod": {}}"#
        let known = try variables(environment: text)
        #expect(try expand("{{t}}{{i}}{{d}}{{y}}{{v}}", known) == "x80801.5truex8080")
        let error = try #require(throws: HTTPFileError.self) { try expand("{{o}}", known) }
        #expect(error.message == "'o' of the environment is not text")

        var layers = HTTPEnvironment()
        try layers.add(Array(#"{"dev": {"a": "1", "b": "1"}, "$shared": {"c": "1"}}"#.utf8), name: "dev")
        try layers.add(Array(#"{"dev": {"b": "2"}, "$shared": {"a": "2", "c": "2"}}"#.utf8), name: "dev")
        let layered = HTTPVariables(path: "f", environment: layers)
        #expect(try expand("{{a}}{{b}}{{c}}", layered) == "122")
        #expect(layers.names == ["dev"])

        for (text, message) in [
            ("{", "not valid JSON"), ("", "not an object of environments"), ("[]", "not an object of environments"),
            ("{\"dev\": 1}", "'dev' is not"),
            ("{\"dev\": {\"a\": \"{{\"}}", "'dev', 'a': '{{' is not closed"),
        ] {
            var environment = HTTPEnvironment()
            let error = try #require(throws: HTTPFileError.self) { try environment.add(Array(text.utf8), name: "dev") }
            #expect(error.message.contains(message), "\(error.text)")
        }
    }

    @Test func readsPaths() throws {
        func steps(_ text: String) throws -> [JSONPath.Step] {
            try JSONPath(text[...], at: FilePosition(line: 1)).steps
        }
        #expect(try steps("$") == [])
        #expect(try steps("$.a.b[0].c") == [.name("a"), .name("b"), .index(0), .name("c")])
        #expect(try steps("$['a b'][\"c.d\"][12].é-f") == [.name("a b"), .name("c.d"), .index(12), .name("é-f")])
        #expect(try steps("$['']") == [.name("")])
    }

    /// Each holds from its line on, also within the variables that stand below it.
    @Test func aVariableMayBeSaidAgain() throws {
        let known = try variables("@a = 1\n@b = {{a}}\n\n@a = 2\n@c = {{a}}")
        func expanded(_ text: String, line: Int) throws -> String {
            try known.expand(try HTTPTemplate(text[...], at: FilePosition(line: line)))
        }
        #expect(try expanded("{{a}}{{b}}{{c}}", line: 3) == "112")
        #expect(try expanded("{{a}}{{b}}{{c}}", line: 9) == "212")
        let given = try variables("@a = 1\n@a = 2", given: ["a": "3"])
        #expect(try expand("{{a}}", given) == "3")
    }

    @Test(arguments: [
        (#"iso8601"#, "2026-01-31T23:59:58.250Z"), ("rfc1123", "Sat, 31 Jan 2026 23:59:58 GMT"),
        (#""YYYY-MM-DD HH:mm""#, "2026-01-31 23:59"),
        (#"'ddd D MMM YY, h:m:s A [at] Z' 1 M"#, "Sat 28 Feb 26, 11:59:58 PM at +00:00"),
        ("iso8601 -1 y", "2025-01-31T23:59:58.250Z"), ("iso8601 750 ms", "2026-01-31T23:59:59.000Z"),
        (#""YYYY" 2 s"#, "2026"), (#""[it's] Q""#, "it's Q"),
    ]) func dates(_ text: String, _ expected: String) throws {
        let variable = try DateTimeVariable(text[...], isLocal: false, at: FilePosition(line: 1))
        let now = Date(timeIntervalSince1970: 1_769_903_998.25)
        #expect(variable.text(now: now, zone: .gmt) == expected)
        let local = try DateTimeVariable("'HH ZZ'", isLocal: true, at: FilePosition(line: 1))
        #expect(local.text(now: now, zone: try #require(TimeZone(secondsFromGMT: 5400))) == "01 +0130")
    }

    @Test func dotenvFiles() throws {
        let text = "# c\nA=1\nexport B = two words # c\nC=\"x # y\"\nD='z'\n=no\nE=\nnothing\nF=a#b\r\nG=1"
        let expected = ["A": "1", "B": "two words", "C": "x # y", "D": "z", "E": "", "F": "a#b", "G": "1"]
        #expect(DotenvFile.parse(text) == expected)
    }
}
