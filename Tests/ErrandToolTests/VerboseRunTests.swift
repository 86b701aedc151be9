import ErrandTesting
import Foundation
import Testing

/// `errand batch -v` and `errand chain -v`.
@Suite struct VerboseRunTests {
    private static let text = """
        # @name login
        POST http://ada:hunter2@127.0.0.1:PORT/login?token=hunter2
        Content-Type: application/json
        X-Api-Key: hunter2

        {"user": "ada", "password": "hunter2"}
        ###
        # @name image
        GET HOST/image
        Authorization: Basic ada hunter2
        ###
        # @name file
        POST HOST/form
        Content-Type: application/x-www-form-urlencoded

        name=ada&client_secret=hunter2
        ###
        # @name upload
        PUT HOST/missing

        < ./data
        """

    @Test(arguments: ["chain", "batch"]) func showsHeadsAndBodies(_ subcommand: String) throws {
        let run = try HTTPFileRun()
        let json = #"{"token": "hunter2", "name": "Ada é"}"#
        try run.server.on(
            "/login",
            [
                .readBody,
                HTTPFileRun.answer(
                    "200 Fine", json, headers: "Content-Type: application/json\r\nSet-Cookie: s=hunter2\r\nX-A: 1\r\n"),
            ])
        try run.server.on(
            "/image",
            [
                .sendBytes(
                    Array("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 4\r\n\r\n".utf8) + [
                        0x89, 0, 1, 2,
                    ])
            ])
        try run.server.on("/form", [.readBody, HTTPFileRun.answer("200 OK", "a\u{1B}[2Jb\r\n\tc")])
        try run.server.on("/missing", [.readBody, HTTPFileRun.answer("404 Not Found", "gone")])
        try run.write("data", "DATA")
        let text = VerboseRunTests.text.replacing("PORT", with: String(run.server.port))
        let options = subcommand == "chain" ? ["--keep-going"] : ["--max-concurrent", "1"]
        let tool = try run.run(subcommand, text, ["-v", "--json"] + options)
        #expect(tool.status == 22)
        // Standard output stays what it was.
        #expect(try tool.jsonArray().count == 4 && !tool.text.contains("Ada"))
        let host = "127.0.0.1:\(run.server.port)"
        let expected = """
            * login
            > POST http://REDACTED@\(host)/login?token=REDACTED
            > Content-Type: application/json
            > X-Api-Key: REDACTED
            > User-Agent: errand
            > Accept: */*
            >
            {"user": "ada", "password": "REDACTED"}
            < HTTP/1.1 200 Fine
            < Content-Type: application/json
            < Set-Cookie: REDACTED
            < X-A: 1
            < Content-Length: \(json.utf8.count)
            <
            {"token": "REDACTED", "name": "Ada é"}

            * image
            > GET http://\(host)/image
            > User-Agent: errand
            > Accept: */*
            > Authorization: REDACTED
            >
            < HTTP/1.1 200 OK
            < Content-Type: image/png
            < Content-Length: 4
            <
            * 4 bytes that are not text, image/png

            * file
            > POST http://\(host)/form
            > Content-Type: application/x-www-form-urlencoded
            > User-Agent: errand
            > Accept: */*
            >
            name=ada&client_secret=REDACTED
            < HTTP/1.1 200 OK
            < Content-Length: 10
            <
            a\u{FFFD}[2Jb
            \tc

            * upload
            > PUT http://\(host)/missing
            > User-Agent: errand
            > Accept: */*
            >
            * the body is sent from a file
            < HTTP/1.1 404 Not Found
            < Content-Length: 4
            <
            gone
            * statusNotAccepted: the status is 404, expected 200-299

            errand: upload: statusNotAccepted: the status is 404, expected 200-299

            """
        #expect(tool.errors == expected)
    }

    @Test func showsRequestsWithoutAResponse() throws {
        let run = try HTTPFileRun()
        try run.server.on(nil, [.reset])
        let tool = try run.run("chain", "GET HOST/a\n###\nGET HOST/{{$processEnv PATH}}", ["-v", "--keep-going"])
        #expect(tool.errors.hasPrefix("* #1\n> GET http://127.0.0.1:\(run.server.port)/a\n> User-Agent"))
        #expect(
            tool.errors.contains("\n>\n* receiveFailed") || tool.errors.contains("\n>\n* connectionLost"),
            "\(tool.errors)")
        #expect(!tool.errors.contains("\n< "))
    }

    @Test func showsNothingWithoutIt() throws {
        let run = try HTTPFileRun()
        try run.server.on(nil, [HTTPFileRun.answer("200 OK", "body")])
        #expect(try run.run("chain", "GET HOST/a").errors.isEmpty)
    }
}
