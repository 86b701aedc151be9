import ErrandTesting
import Foundation
import Testing

/// `# @expect` and `??` of `.http` files.
@Suite struct HTTPExpectationTests {
    private let run: HTTPFileRun

    init() throws {
        run = try HTTPFileRun()
        let body = #"{"name": "Ada", "age": 36, "tags": ["a", "b c"], "token": "s3cret", "none": null}"#
        let headers = "Content-Type: application/json; charset=utf-8\r\nX-Count: 7\r\nX-Auth-Token: s3cret\r\n"
        try run.server.on("/user", [HTTPFileRun.answer("200 OK", body, headers: headers)])
        try run.server.on("/missing", [HTTPFileRun.answer("404 Not Found", "gone")])
        try run.server.on("/moved", [HTTPFileRun.answer("302 Found", headers: "Location: /user\r\n")])
        try run.server.on("/empty", [HTTPFileRun.answer("204 No Content")])
    }

    @Test(arguments: ["batch", "chain"]) func aStatusThatWasExpectedIsASuccess(_ subcommand: String) throws {
        let text = """
            # @expect 404
            GET HOST/missing
            ###
            // @expect 2xx, 404
            GET HOST/missing
            ###
            # @expect = 400-499
            GET HOST/missing
            ###
            GET HOST/missing
            ?? status == 404
            ###
            GET HOST/missing
            Accept: text/plain

            ?? status >= {{least}}
            ?? status != 2xx
            ?? body contains "go"
            ###
            # @no-redirect
            # @expect 302
            GET HOST/moved
            """
        let tool = try run.run(subcommand, text, ["--variable", "least=400"])
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(tool.rows.map { $0[2] + $0[5] } == ["404ok", "404ok", "404ok", "404ok", "404ok", "302ok"])
    }

    @Test(arguments: ["batch", "chain"]) func anotherStatusIsAFailureOfItsOwn(_ subcommand: String) throws {
        let text = "# @name a\n# @expect 404\nGET HOST/user\n"
        let tool = try run.run(subcommand, text)
        #expect(tool.status == 23)
        #expect(tool.errors == "errand: a: expected status == 404 (line 2), got 200\n")
        #expect(tool.rows[0][2] == "200" && tool.rows[0][5] == "expectationFailed")
        let json = try run.run(subcommand, text, ["--json"]).jsonArray()
        let error = try #require(json[0]["error"] as? [String: Any])
        #expect(error["kind"] as? String == "expectationFailed" && error["exit_code"] as? Int == 23)
        #expect(json[0]["status"] as? Int == 200)
    }

    @Test func endsAChain() throws {
        let tool = try run.run("chain", "GET HOST/user\n?? status == 404\n###\nGET HOST/user")
        #expect(tool.status == 23 && tool.rows.map { $0[5] } == ["expectationFailed", "notRun"])
        #expect(run.server.counts.requests == 1)
    }

    @Test(arguments: [
        "header content-type contains json", "header Content-Type startsWith \"application/\"", "header x-count == 7",
        "header X-Count >= 6.5", "header X-Nothing != 1", "header X-Count exists", "body contains Ada",
        "body includes '36'", "body exists", "body.name == Ada", "body.name == \"Ada\"", "body.age == 36.0",
        "body.age < 37", "body.$.tags[1] == b c", "body['tags'][1] endsWith c", "body.none == null",
        "body.token exists",
        "body.name != Bob", "body.missing != 1", "duration < 60000", "status <= 200", "status == 2xx,404",
        "header X-Count === {{seven}}", "body.name !== Bob",
    ]) func holds(_ assertion: String) throws {
        let tool = try run.run("chain", "@seven = 7\nGET HOST/user\n\n?? \(assertion)\n")
        #expect(tool.status == 0, "\(tool.errors)")
    }

    struct Unmet: Sendable, CustomTestStringConvertible {
        let assertion: String
        let message: String
        var path = "user"
        var testDescription: String { assertion }
    }

    @Test(arguments: [
        Unmet(assertion: "status == 201", message: "expected status == 201 (line 2), got 200"),
        Unmet(assertion: "status > 299", message: "expected status > 299 (line 2), got 200"),
        Unmet(assertion: "header X-Count == 8", message: "expected header X-Count == 8 (line 2), got '7'"),
        Unmet(assertion: "header X-No exists", message: "expected header X-No exists (line 2), got none"),
        Unmet(
            assertion: "header X-Auth-Token == guess",
            message: "expected header X-Auth-Token == REDACTED (line 2), got REDACTED"),
        Unmet(
            assertion: "body contains Bob",
            message: "expected body contains Bob (line 2), got a body of 81 bytes without it"
        ),
        Unmet(assertion: "body exists", message: "expected body exists (line 2), got none", path: "empty"),
        Unmet(assertion: "body.age == \"37\"", message: "expected body.age == \"37\" (line 2), got '36'"),
        Unmet(assertion: "body.name < 3", message: "expected body.name < 3 (line 2), got 'Ada'"),
        Unmet(assertion: "body.no.way == 1", message: "expected body.no.way == 1 (line 2), got none"),
        Unmet(assertion: "body.token == guess", message: "expected body.token == REDACTED (line 2), got REDACTED"),
        Unmet(
            assertion: "body.a == 1", message: "expected body.a == 1 (line 2), got a body that is not JSON",
            path: "missing\n?? status == 404"),
    ]) func doesNotHold(_ example: Unmet) throws {
        let text = "GET HOST/\(example.path)"
        // The assertion is on the second line unless another one is.
        let lines = text.split(separator: "\n")
        let all = [lines[0], "?? \(example.assertion)"] + lines.dropFirst()
        let tool = try run.run("chain", all.joined(separator: "\n"))
        #expect(tool.status == 23)
        #expect(tool.errors == "errand: #1: \(example.message)\n")
    }

    @Test func tellsAllThatDoesNotHold() throws {
        let tool = try run.run("chain", "GET HOST/user\n?? status == 500\n?? header X-Count == 7\n?? body.age == 1\n")
        #expect(tool.status == 23)
        #expect(
            tool.errors == "errand: #1: expected status == 500 (line 2), got 200; expected body.age == 1 (line 4), "
                + "got '36'\n")
    }

    @Test func leavesTheStatusAloneWithoutAWordOfIt() throws {
        // Only an expectation of the status takes the place of the rule that 200 to 299 is a success.
        let tool = try run.run("chain", "GET HOST/missing\n?? body == gone\n")
        #expect(tool.status == 22)
    }

    @Test func isNoPartOfTheBody() throws {
        try run.server.on(nil, [.readBody, .echo])
        let tool = try run.run(
            "chain", "POST HOST/?a\n  ?b\n?? status == 200\n\nfirst\n?? status == 2xx\nlast\n\n?? status < 300")
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(run.server.requests.map(\.target) == ["/?a?b"])
        #expect(run.server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["first\nlast"])
    }

    @Test(arguments: [
        ("# @expect\nGET HOST/", "1:3: '@expect' requires statuses such as 404, 2xx or 200-299"),
        ("# @expect 600\nGET HOST/", "1:11: '@expect' requires statuses"),
        ("# @expect ok\nGET HOST/", "1:11: '@expect' requires statuses"),
        ("# @expect 299-200\nGET HOST/", "1:11: '@expect' requires statuses"),
        ("# @expect 200\n# @expect 404\nGET HOST/", "2:3: '@expect' is given twice"),
        ("GET HOST/\n# @expect 404", "2:3: '@expect' must be above the request line"),
        ("# @expect 404\n", "1:3: a request line is missing"),
        ("# @expect {{code}}\nGET HOST/", "1:11: the variable 'code' is not defined"),
        ("?? status == 200\nGET HOST/", "1:1: '??' must be below the request line"),
        ("GET HOST/\n??", "2:1: '??' requires an expectation"),
        ("GET HOST/\n?? js response.ok", "2:4: 'js' cannot be checked, expected 'status', 'header NAME'"),
        ("GET HOST/\n?? response.status == 200", "2:4: 'response.status' cannot be checked"),
        ("GET HOST/\n?? status", "2:4: 'status' requires a comparison"),
        ("GET HOST/\n?? status is 200", "2:4: 'is' is not supported, expected ==, !=, <"),
        ("GET HOST/\n?? body isString", "2:4: 'isString' is not supported"),
        ("GET HOST/\n?? status ==", "2:4: '==' requires a value after it"),
        ("GET HOST/\n?? status == ok", "2:4: 'status' requires statuses such as 404"),
        ("GET HOST/\n?? status > ok", "2:4: 'status' cannot be checked by '> ok'"),
        ("GET HOST/\n?? status exists", "2:4: 'status' cannot be checked by 'exists'"),
        ("GET HOST/\n?? body < 3", "2:4: 'body' cannot be checked by '< 3'"),
        ("GET HOST/\n?? header", "2:4: 'header' requires a name after it"),
        ("GET HOST/\n?? header X exists 3", "2:4: 'exists' takes no value"),
        ("GET HOST/\n?? body.a[*] == 3", "2:4: the JSON path '$.a[*]' is not supported"),
        ("GET HOST/\n?? body == {{no}}", "2:12: the variable 'no' is not defined"),
    ]) func isRefused(_ text: String, _ message: String) throws {
        let tool = try run.run("batch", text)
        #expect(tool.status == 65)
        #expect(tool.errors.contains("a.http:\(message)"), "\(tool.errors)")
        #expect(run.server.counts.requests == 0)
    }

    @Test func refusesAValueThatCannotBeExpected() throws {
        let tool = try run.run("batch", "# @expect {{code}}\nGET HOST/", ["--variable", "code=ok"])
        #expect(tool.status == 65 && tool.errors.contains("a.http:1:11: the value of the variables"), "\(tool.errors)")
    }
}
